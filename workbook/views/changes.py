"""Shows one step of a table: its row before, the changes it emitted, and its row after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from workbook.views.tables import table

Row = Mapping[str, Any]


class TableStep:
    """A row per key: before, told, after; ``✗ delete`` where ``deleted`` was told.

    ``before`` and ``after`` are rows of the table, ``told`` those of its changes. Shown as HTML,
    and as text in a terminal.
    """

    def __init__(
        self, before: Sequence[Row], told: Sequence[Row], after: Sequence[Row], key: str
    ) -> None:
        self._key, self._told = key, len(told)
        parts = {"before": before, "told": told, "after": after}
        self._cells = {
            name: {str(row[key]): self._text(row) for row in rows} for name, rows in parts.items()
        }

    def rows(self) -> list[dict[str, str]]:
        """Return the three texts of each key that stands anywhere, in the order of the keys."""
        keys = sorted({key for column in self._cells.values() for key in column})
        return [
            {self._key: key, **{name: column.get(key, "") for name, column in self._cells.items()}}
            for key in keys
        ]

    def _text(self, row: Row) -> str:
        if row.get("deleted"):
            return "✗ delete"
        left_out = (self._key, "deleted")
        return ", ".join(str(value) for name, value in row.items() if name not in left_out)

    def _caption(self) -> str:
        number = self._told or "nothing"
        return f"The state before, what is told downstream ({number}), the state after"

    def _repr_html_(self) -> str:
        return table(self.rows(), self._caption(), empty="no rows at all")

    def __repr__(self) -> str:
        return f"{self._caption()}\n{pd.DataFrame(self.rows()).to_string(index=False)}"

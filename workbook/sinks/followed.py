"""Reads a store again and again, at the price of what has changed."""

from __future__ import annotations

from typing import Any

from workbook.sinks.row_json import rows_of_json
from workbook.sinks.store import Store


class Followed:
    """Returns a store's rows, as ``Store.all`` does, but parses only those that have changed.

    One that hasn't is the same object as before: nobody may write to it.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._version = store, (0, 0)
        self._texts: dict[str, str] = {}
        self._rows: dict[str, dict[str, Any]] = {}

    def __call__(self) -> list[dict[str, Any]]:
        """Return every row, in the order of the keys."""
        version = self._store.version()
        if version != self._version:
            self._read(dict(self._store.texts()))
            self._version = version
        return [*self._rows.values()]

    def _read(self, texts: dict[str, str]) -> None:
        changed = [key for key, text in texts.items() if self._texts.get(key) != text]
        read = dict(zip(changed, rows_of_json([texts[key] for key in changed]), strict=True))
        self._rows = {key: read[key] if key in read else self._rows[key] for key in texts}
        self._texts = texts

"""The findings of a ledger, as text and as HTML: each anomaly with its events."""

from html import escape
from typing import ClassVar

import pandas as pd

SHOWN = 5
"""The number of events of each anomaly shown in the text of a verdict."""


class Findings:
    """Each anomaly of ``meanings`` is an attribute: the very events, as a DataFrame.

    Those of ``faults`` make it unclean, the others only describe what arrived.
    """

    meanings: ClassVar[dict[str, str]]
    faults: ClassVar[tuple[str, ...]]
    notes: list[str]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of each anomaly."""
        return {name: len(self._rows(name)) for name in self.meanings}

    @property
    def clean(self) -> bool:
        """Return True if no fault was found."""
        return not any(self.counts[name] for name in self.faults)

    def __str__(self) -> str:
        lines = [self._headline()]
        for name, count in self.counts.items():
            lines.append(f"  {_words(name):<13}{count:>10,}  {self.meanings[name]}")
            if count:
                events = self._rows(name).head(SHOWN).to_string(index=False)
                lines += [f"      {line}" for line in events.splitlines()]
        return "\n".join(lines + self.notes)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th scope='row' style='text-align:left'>{_words(name)}</th><td>{count:,}</td>"
            f"<td style='text-align:left'>{escape(self.meanings[name])}</td></tr>"
            for name, count in self.counts.items()
        )
        head = "<tr><th>anomaly</th><th>events</th><th>what it means</th></tr>"
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        table = f"<table><caption>{escape(self._headline())}</caption>{head}{rows}</table>"
        return table + self._events_html() + notes

    def _rows(self, name: str) -> pd.DataFrame:
        """Return the events of an anomaly."""
        found: pd.DataFrame = getattr(self, name)
        return found

    def _headline(self) -> str:
        return "✓ clean" if self.clean else "✗ not clean"

    def _events_html(self) -> str:
        return "".join(
            f"<details><summary>{_words(name)}: the first {min(count, SHOWN)}</summary>"
            f"{self._rows(name).head(SHOWN).to_html(index=False)}</details>"
            for name, count in self.counts.items()
            if count
        )


def _words(name: str) -> str:
    return name.replace("_", " ")

"""What ledgers have in common: comparing rows, and findings as text and as HTML."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import ClassVar, NamedTuple

import pandas as pd

SHOWN = 5
"""The number of events of each anomaly shown in the text of a verdict."""


class Compared(NamedTuple):
    """Rows that were expected and weren't found, or the reverse; with other contents; twice."""

    lost: pd.DataFrame
    extra: pd.DataFrame
    changed: pd.DataFrame
    twice: pd.DataFrame


def compare(
    expected: pd.DataFrame, found: pd.DataFrame, key: list[str], contents: Sequence[str] = ()
) -> Compared:
    """Compare rows by their key, and ``contents`` of those that are in both; null equals null.

    A column that both have is called ``_found`` where it's from ``found``. ``twice`` are rows of
    ``found`` whose key it has before. Contents that ``expected`` lacks aren't compared.
    """
    left, right = (_whole(frame, key) for frame in (expected, found))
    rows = left.merge(right, how="outer", on=key, suffixes=("", "_found"), indicator="where")
    where = rows.pop("where")
    both = rows[where == "both"]
    changed = pd.Series(False, index=both.index)
    for name in (each for each in contents if each in expected):
        its, other = both[name], both[f"{name}_found"]
        same = (its == other).fillna(False).astype(bool) | (its.isna() & other.isna())
        changed |= ~same
    lost, extra = (rows[where == f"{side}_only"] for side in ("left", "right"))
    return Compared(lost, extra, both[changed], found[found.duplicated(key)])


def _whole(frame: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Return the frame with numbers that stay whole where some are missing."""
    numbers = frame.select_dtypes("int64").columns.difference(key)
    return frame.astype(dict.fromkeys(numbers, "Int64"))


@dataclass(frozen=True, kw_only=True)
class Findings:
    """Each anomaly of ``meanings`` with the very events, as a DataFrame; empty where all is well.

    ``verdict.lost`` is ``verdict.found["lost"]``. The anomalies of ``faults`` make it unclean, the
    others only describe what arrived.
    """

    meanings: ClassVar[Mapping[str, str]]
    faults: ClassVar[tuple[str, ...]]

    found: Mapping[str, pd.DataFrame] = field(repr=False)
    notes: list[str] = field(default_factory=list)

    def __getattr__(self, name: str) -> pd.DataFrame:
        try:
            return self.__dict__["found"][name]
        except KeyError:
            raise AttributeError(name) from None

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of each anomaly."""
        return {name: len(rows) for name, rows in self.found.items()}

    @property
    def clean(self) -> bool:
        """Return True if no fault was found."""
        counts = self.counts
        return not any(counts.get(name) for name in self.faults)

    @property
    def headline(self) -> str:
        """Return the number of each anomaly, in a line."""
        return ", ".join(f"{count:,} {name}" for name, count in self.counts.items())

    def __str__(self) -> str:
        lines = [self._title()]
        for name, count in self.counts.items():
            lines.append(f"  {_words(name):<13}{count:>10,}  {self.meanings[name]}")
            if count:
                events = self.found[name].head(SHOWN).to_string(index=False)
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
        table = f"<table><caption>{escape(self._title())}</caption>{head}{rows}</table>"
        return table + self._events_html() + notes

    def _title(self) -> str:
        return f"{'✓' if self.clean else '✗ not'} clean: {self.headline}"

    def _events_html(self) -> str:
        return "".join(
            f"<details><summary>{_words(name)}: the first {min(count, SHOWN)}</summary>"
            f"{self.found[name].head(SHOWN).to_html(index=False)}</details>"
            for name, count in self.counts.items()
            if count
        )


def _words(name: str) -> str:
    return name.replace("_", " ")

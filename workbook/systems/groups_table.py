"""The dashboard's rows as a table for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbook.systems.base import Shown

COLUMNS = ("group", "state", "members", "topics", "lag", "seconds behind", "last commit")
MOST = 200
"""Rows that are written out: no terminal has more lines, and it's drawn four times a second."""

UNITS = (("d", 86_400), ("h", 3600), ("min", 60))


def groups_table(rows: Sequence[Mapping[str, Any]]) -> Shown:
    """Return the first rows of ``Dashboard.rows``, in their order."""
    written = [_cells(row) for row in rows[:MOST]]
    return Shown(COLUMNS, written, len(rows) - len(written), remarks(rows[:MOST]))


def remarks(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what should be looked at, a line for each group that has remarks."""
    return [f"{row['group']}: {' '.join(row['remarks'])}" for row in rows if row["remarks"]]


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    bound = "≥ " if row["at_least"] else ""
    return (
        row["group"],
        row["state"],
        f"{row['members']:,}",
        ", ".join(row["topics"]),
        "?" if row["lag"] is None else f"{row['lag']:,}",
        "?" if row["seconds"] is None else f"{bound}{row['seconds']:,.1f}",
        "never" if row["commit_age"] is None else f"{ago(row['commit_age'])} ago",
    )


def ago(seconds: float) -> str:
    """Return a length of time in its largest unit: "5 s", "3 min", "2 h", "4 d"."""
    for name, size in UNITS:
        if seconds >= size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:,.0f} s"

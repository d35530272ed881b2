"""Who reads what: the groups as a table, their lag over time as lines, and what has left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.streams.events.group_health import named
from workbook.views.drawing import INK
from workbook.views.lag import lag_over_time
from workbook.views.picture import Picture, number
from workbook.views.tables import table

CAPTION = (
    "Each group with its lag, the one furthest behind on top. Idle: members, and no commit for ten "
    "minutes. Look for seconds that grow, and for remarks."
)
GONE_CAPTION = "Left in the last ten minutes"
MARKS = {"active": "●", "idle": "◐", "empty": "○", "unknown": "?"}
SHOWN = 20

WHOLE = (
    "<style>.wb-groups {overflow-x:auto} .wb-groups td, .wb-groups th "
    "{overflow-wrap:break-word !important}</style>"
)
"""Of nine columns none may break its numbers and words; a longer name scrolls."""

STUCK = "\N{NO-BREAK SPACE}"

Row = Mapping[str, Any]
History = Mapping[str, Sequence[tuple[int, int]]]
"""Group to (ms, messages of lag)."""


@dataclass(frozen=True, repr=False)
class Board(Picture):
    """A picture of the lag over time, with the groups' table above it, and what has left below."""

    groups: Sequence[Mapping[str, Any]] = ()
    above: str = ""
    below: str = ""

    @property
    def figure(self) -> str:
        """Return the tables and the drawing as HTML."""
        return self.above + super().figure + self.below

    def __repr__(self) -> str:
        lines = [json.dumps(dict(row), default=str, ensure_ascii=False) for row in self.groups]
        return "\n".join([*lines, super().__repr__()])


def board(
    rows: Sequence[Row], history: History, now: int, gone: Sequence[Row] = (), silent: bool = False
) -> Board:
    """Draw all that is known of the groups; ``now`` in ms.

    ``rows`` have group, state, members, client_ids, topics, lag (messages), seconds, at_least,
    commit_age (s), remarks; None where something is unknown. ``gone`` have group, how, ago (s),
    client_ids and lag. ``silent``: the broker doesn't answer, so that lags are old ones.
    """
    drawn = lag_over_time({row["group"]: history.get(row["group"], ()) for row in rows}, now)
    above = groups_table(rows)
    if silent:
        above += (
            f"<p style='color:{INK}'><b>⚠ The broker doesn't answer: lags are old ones.</b></p>"
        )
    below = table([_gone(row) for row in gone], GONE_CAPTION, "none")
    parts = (drawn.drawing, drawn.caption, drawn.words, drawn.rows)
    return Board(*parts, groups=rows[:SHOWN], above=above, below=below)


def groups_table(rows: Sequence[Row], caption: str = CAPTION) -> str:
    """Return the first 20 rows as an HTML table, and how many more there are."""
    shown = table([_cells(row) for row in rows[:SHOWN]], caption, "no group yet")
    left = len(rows) - SHOWN
    more = f"<p style='color:{INK}'>and {number(left, 'more group')}</p>" if left > 0 else ""
    return f"{WHOLE}<div class='wb-groups'>{shown}{more}</div>"


def _cells(row: Row) -> dict[str, Any]:
    state = row["state"]
    return {
        "group": row["group"],
        "state": f"{MARKS.get(state, '–')}{STUCK}{state}",
        "members": row["members"],
        "client ids": named(row["client_ids"]) if row["client_ids"] else "–",
        "topics": named(row["topics"]) if row["topics"] else "–",
        "lag": "unknown" if row["lag"] is None else row["lag"],
        "seconds behind": _seconds(row),
        "last commit": "never"
        if row["commit_age"] is None
        else _ago(row["commit_age"]).replace(" ", STUCK),
        "remarks": " ".join(row["remarks"]) or "–",
    }


def _seconds(row: Row) -> str:
    if row["seconds"] is None:
        return "unknown"
    return f"{'at least ' if row['at_least'] else ''}{row['seconds']:,.1f}".replace(" ", STUCK)


def _gone(row: Row) -> dict[str, Any]:
    return {
        "group": row["group"],
        "what": f"✕ {row['how']}",
        "when": _ago(row["ago"]),
        "client ids": named(row["client_ids"]) if row["client_ids"] else "–",
        "lag then": "unknown" if row["lag"] is None else row["lag"],
    }


def _ago(seconds: float) -> str:
    for name, size in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name} ago"
    return f"{number(round(seconds), 'second')} ago"

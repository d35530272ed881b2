"""One update of a table: the old row goes (-1), the new one comes (+1), and a group's result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.boxes import Arrow, Box, Line, Rows
from workbook.views.picture import ARROW, MINUS, Picture, number, signed
from workbook.views.rewind import Stepper

CAPTION = "One update: what goes out of a group, what comes in, and the group before and after"
NOTHING = "nothing"
LAST = 24
"""Of a long list of updates so many get a step; the words say which."""


@dataclass(frozen=True)
class Change:
    """A row that leaves a group (``sign`` -1) or comes into it (+1), and the group's result.

    ``before`` and ``after`` are the result in words, '' where the group isn't there.
    """

    group: str
    sign: int
    before: str
    after: str


@dataclass(frozen=True)
class Update:
    """A record of a table: its key, the row before and after (None: no row), and its changes."""

    key: str
    old: str | None
    new: str | None
    changes: Sequence[Change] = ()


def table_change(update: Update, caption: str = CAPTION) -> Picture:
    """Draw one update: a row for the old and the new row, each with its change of a group."""
    left = list(update.changes)
    lines = [_line("old row", update.old, [c for c in left if c.sign < 0])]
    lines.append(_line("new row", update.new, [c for c in left if c.sign > 0]))
    return Picture(Rows(lines), caption, words(update), list(rows([update])))


def table_changes(updates: Sequence[Update], caption: str = CAPTION) -> Stepper:
    """Return a picture for each of the last 24 updates, to step through."""
    first = max(0, len(updates) - LAST)
    shown = updates[first:]
    names = [f"{place}: {update.key}" for place, update in enumerate(shown, first + 1)]
    emitted = sum(len(update.changes) for update in updates)
    said = f"{number(len(updates), 'update')}, {number(emitted, 'change')}."
    if first:
        said += f" The last {LAST} updates are drawn."
    pictures = [table_change(update, caption) for update in shown]
    return Stepper(pictures, names, said, list(rows(shown, first + 1)))


def _line(name: str, row: str | None, changes: Sequence[Change]) -> Line:
    parts: list[Box | Arrow] = [Box(row or "no row", look="" if row else "none")]
    for change in changes:
        parts += [
            Arrow(signed(change.sign), f"in {change.group}", change.sign < 0),
            Box(_result(change.before), f"{change.group} before", look=_look(change.before)),
            Arrow(),
            Box(_result(change.after), f"{change.group} after", look=_look(change.after)),
        ]
    if not changes:
        parts.append(Arrow("no change"))
    return name, parts


def _look(result: str) -> str:
    return "" if result else "none"


def words(update: Update) -> str:
    """Return what an update does, in a sentence or two."""
    said = [f"{update.key} {_became(update)}"]
    if not update.changes:
        return f"{said[0]}: no change, so each group stays as it is."
    said += [
        f"{signed(change.sign)} in {change.group}: {_result(change.before)} {ARROW} "
        f"{_result(change.after)}"
        for change in update.changes
    ]
    text = "; ".join(said) + "."
    if [change.sign for change in update.changes] == [-1, 1]:
        text += f" After {MINUS}1 and before +1, {update.key} is in no group."
    return text


def rows(updates: Sequence[Update], first: int = 1) -> Iterator[dict[str, Any]]:
    """Yield a row for each change, and one for an update without any."""
    for place, update in enumerate(updates, first):
        head = {"update": place, "key": update.key, "old row": update.old or "no row"}
        head["new row"] = update.new or "no row"
        changes: Sequence[Change | None] = update.changes or [None]
        for change in changes:
            yield head | {
                "change": signed(change.sign) if change else "none",
                "group": change.group if change else "",
                "before": _result(change.before) if change else "",
                "after": _result(change.after) if change else "",
            }


def _became(update: Update) -> str:
    if update.old is None and update.new is None:
        return "had no row and has none"
    if update.old is None:
        return f"is new: {update.new}"
    if update.new is None:
        return f"was {update.old} and is closed"
    if update.old == update.new:
        return f"is {update.new}, as before"
    return f"was {update.old} and is {update.new}"


def _result(result: str) -> str:
    return result or NOTHING

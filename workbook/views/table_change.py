"""One update of a table: the old row goes (-1), the new one comes (+1), and a group's result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbook.views.drawing import FAINT, GREEN, ORANGE, Drawing
from workbook.views.picture import Picture, number
from workbook.views.rewind import Stepper
from workbook.views.words import ARROW, MINUS, cut, signed

CAPTION = "One update: what goes out of a group, what comes in, and the group before and after"
NOTHING = "nothing"
LAST = 24
"""So many of a long list of updates get a step; the words say which."""

WIDTH, HEAD, LANE, BOX = 840, 34, 58, 34
ROW_X, ROW_WIDTH = 8, 218
BADGE_X, NAME_X = 312, 338
BEFORE_X, AFTER_X, RESULT_WIDTH = 432, 648, 176


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
    """Draw one update: its two rows on the left, and a line for each change of a group."""
    lanes = max(2, len(update.changes))
    drawing = Drawing(WIDTH, HEAD + LANE * lanes)
    drawing.text(ROW_X, 18, f"the row of {cut(update.key, ROW_WIDTH - 80)}", bold=True)
    for x, head in ((NAME_X, "group"), (BEFORE_X, "its result before"), (AFTER_X, "and after")):
        drawing.text(x, 18, head, bold=True)
    _row(drawing, 0, "old", update.old)
    _row(drawing, 1, "new", update.new)
    alone = len(update.changes) == 1 and update.changes[0].sign > 0
    for lane, change in enumerate(update.changes, int(alone)):  # a +1 stands beside the new row
        _change(drawing, lane, change)
    for lane, (one, then) in enumerate(pairwise(update.changes)):
        if one.group == then.group:
            _goes_on(drawing, lane)
    if not update.changes:
        drawing.text(NAME_X, HEAD + LANE + 4, "no change: each group stays as it is")
    return Picture(drawing, caption, words(update), list(rows([update])))


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


def _row(drawing: Drawing, lane: int, name: str, row: str | None) -> None:
    y = HEAD + LANE * lane
    drawing.text(ROW_X, y + BOX / 2 + 4, name, size=11)
    edge = FAINT if row is None else (ORANGE, GREEN)[lane]
    drawing.box(
        ROW_X + 30, y, ROW_WIDTH - 30, BOX, cut(row or "no row", ROW_WIDTH - 34), edge=edge,
        dashed=lane == 0, title=f"{name} row: {row or 'none'}", size=11,
    )  # fmt: skip


def _change(drawing: Drawing, lane: int, change: Change) -> None:
    goes = change.sign < 0
    colour = ORANGE if goes else GREEN
    start, middle = HEAD + (0 if goes else LANE) + BOX / 2, HEAD + LANE * lane + BOX / 2
    drawing.line(
        [(ROW_X + ROW_WIDTH, start), (BADGE_X - 16, middle)], colour=colour, dashed=goes, thick=2,
        arrow=True,
    )  # fmt: skip
    drawing.dot(BADGE_X, middle, radius=14, colour=colour, hollow=True)
    drawing.text(BADGE_X, middle + 5, signed(change.sign), anchor="middle", size=13, bold=True)
    drawing.text(NAME_X, middle + 4, cut(change.group, BEFORE_X - NAME_X - 8), bold=True)
    for x, result in ((BEFORE_X, change.before), (AFTER_X, change.after)):
        drawing.box(
            x, middle - BOX / 2, RESULT_WIDTH, BOX, cut(_result(result), RESULT_WIDTH - 8),
            dashed=not result, size=11, title=f"{change.group}: {_result(result)}",
        )  # fmt: skip
    after_before = BEFORE_X + RESULT_WIDTH
    drawing.line([(after_before + 4, middle), (AFTER_X - 4, middle)], arrow=True)


def _goes_on(drawing: Drawing, lane: int) -> None:
    """Lead from a group's result after a change to the same one before the next change."""
    y = HEAD + LANE * lane + BOX
    there = [(AFTER_X + 20, y + 2), (BEFORE_X + RESULT_WIDTH - 20, y + LANE - BOX - 2)]
    drawing.line(there, colour=FAINT, dashed=True, arrow=True)


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

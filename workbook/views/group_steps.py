"""What a query with ``per_update`` emits: on a line for each group its result, change by change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.drawing import FAINT, GREEN, INK, ORANGE, RED, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import ARROW, cut, signed

CAPTION = "The groups, change by change: where does a result shrink, and where is a group deleted?"
GROUPS, LAST = 8, 5
"""So many groups are drawn, those that changed last, and of each so many changes."""

NAME_WIDTH, BOX_WIDTH, GAP = 84, 86, 58
HEAD, LANE, BOX = 14, 60, 32
WIDTH = NAME_WIDTH + (LAST + 1) * BOX_WIDTH + LAST * GAP + 8


@dataclass(frozen=True)
class Step:
    """A change of a group: a row of ``key`` came (+1) or went (-1); ``after`` is its result.

    ``after`` is None where the group is deleted.
    """

    group: str
    sign: int
    key: str
    after: str | None


def group_steps(steps: Sequence[Step], caption: str = CAPTION) -> Picture:
    """Draw the latest changes of the groups that changed last, each group on its own line.

    ``steps`` are in the order in which they were emitted; only the order within a group counts.
    """
    of_group = _by_group(steps)
    shown = sorted(list(of_group)[-GROUPS:])
    drawing = Drawing(WIDTH, HEAD + LANE * max(1, len(shown)))
    for lane, group in enumerate(shown):
        _lane(drawing, HEAD + LANE * lane, group, of_group[group])
    if not shown:
        drawing.text(8, HEAD + BOX / 2, "no change yet")
    rows = [row for group in shown for row in _rows(group, of_group[group])]
    return Picture(drawing, caption, _words(steps, of_group, shown), rows)


def _by_group(steps: Sequence[Step]) -> dict[str, list[Step]]:
    """Return the steps by group; the group that changed last comes last."""
    last = {step.group: place for place, step in enumerate(steps)}
    found: dict[str, list[Step]] = {group: [] for group in sorted(last, key=last.__getitem__)}
    for step in steps:
        found[step.group].append(step)
    return found


def _lane(drawing: Drawing, y: float, group: str, steps: Sequence[Step]) -> None:
    first = max(0, len(steps) - LAST)
    drawing.text(8, y + BOX / 2 + 4, cut(group, NAME_WIDTH - 12), bold=True)
    _result(drawing, NAME_WIDTH, y, group, first, steps)
    for place in range(first, len(steps)):
        x = NAME_WIDTH + (place - first) * (BOX_WIDTH + GAP) + BOX_WIDTH
        _arrow(drawing, x, y, steps[place])
        _result(drawing, x + GAP, y, group, place + 1, steps)


def _arrow(drawing: Drawing, x: float, y: float, step: Step) -> None:
    goes = step.sign < 0
    colour = ORANGE if goes else GREEN
    middle = y + BOX / 2
    drawing.line([(x + 3, middle), (x + GAP - 3, middle)], colour=colour, dashed=goes, arrow=True)
    drawing.text(x + GAP / 2, middle - 5, signed(step.sign), anchor="middle", bold=True)
    drawing.text(x + GAP / 2, middle + 15, cut(step.key, GAP, 10), anchor="middle", size=10)


def _result(
    drawing: Drawing, x: float, y: float, group: str, place: int, steps: Sequence[Step]
) -> None:
    """Draw a group's result after its first ``place`` changes."""
    result, is_last = _after(steps, place), place == len(steps)
    missing, edge = ("✗ deleted", RED) if place else ("not there", FAINT)
    drawing.box(
        x, y, BOX_WIDTH, BOX, cut(result or missing, BOX_WIDTH - 6), size=11,
        edge=INK if result else edge, dashed=not result, corner=9 if is_last else 2,
        title=f"{group} after {number(place, 'change')}: {result or missing}",
    )  # fmt: skip
    if is_last:
        drawing.text(x + BOX_WIDTH / 2, y + BOX + 13, "now", anchor="middle", size=10)


def _after(steps: Sequence[Step], place: int) -> str | None:
    return steps[place - 1].after if place else None


def _words(
    steps: Sequence[Step], of_group: Mapping[str, Sequence[Step]], shown: Sequence[str]
) -> str:
    if not steps:
        return "No change has been emitted yet."
    said = [f"{number(len(steps), 'change')} in {number(len(of_group), 'group')}"]
    for group in shown:
        now = of_group[group][-1].after
        result = "deleted" if now is None else f"now {now}"
        said.append(f"{group}: {number(len(of_group[group]), 'change')}, {result}")
    text = "; ".join(said) + "."
    if len(of_group) > len(shown):
        text += f" Only the {len(shown)} groups that changed last are drawn."
    if any(len(of_group[group]) > LAST for group in shown):
        text += f" Of each group the last {LAST} changes are drawn."
    return text


def _rows(group: str, steps: Sequence[Step]) -> Iterator[dict[str, Any]]:
    for place in range(max(0, len(steps) - LAST), len(steps)):
        before, after = _after(steps, place), steps[place].after
        yield {
            "group": group,
            "change": place + 1,
            "row": f"{signed(steps[place].sign)} {steps[place].key}",
            "result": f"{before or 'not there'} {ARROW} {after or 'deleted'}",
        }

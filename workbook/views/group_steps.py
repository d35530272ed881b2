"""What a query with ``per_update`` emits: on a line for each group its result, change by change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.boxes import Arrow, Box, Rows
from workbook.views.picture import ARROW, Picture, number, signed

CAPTION = "The groups, change by change: where does a result shrink, and where is a group deleted?"
GROUPS, LAST = 8, 5
"""Groups that are drawn, those that changed last, and changes of each."""


@dataclass(frozen=True)
class Step:
    """A change of a group: a row of ``key`` came (+1) or went (-1); ``after`` is its result.

    ``after`` is None where the group is deleted.
    """

    group: str
    sign: int
    key: str
    after: str | None


def group_steps(steps: Sequence[Step]) -> Picture:
    """Draw the latest changes of the groups that changed last, each group on its own line.

    ``steps`` are in the order in which they were emitted; only the order within a group counts.
    """
    of_group = _by_group(steps)
    shown = sorted(list(of_group)[-GROUPS:])
    lines = [(group, _line(of_group[group])) for group in shown]
    rows = [row for group in shown for row in _rows(group, of_group[group])]
    return Picture(Rows(lines), CAPTION, _words(steps, of_group, shown), rows)


def _by_group(steps: Sequence[Step]) -> dict[str, list[Step]]:
    """Return the steps by group; the group that changed last comes last."""
    last = {step.group: place for place, step in enumerate(steps)}
    found: dict[str, list[Step]] = {group: [] for group in sorted(last, key=last.__getitem__)}
    for step in steps:
        found[step.group].append(step)
    return found


def _line(steps: Sequence[Step]) -> list[Box | Arrow]:
    first = max(0, len(steps) - LAST)
    parts: list[Box | Arrow] = [_result(steps, first)]
    for place in range(first, len(steps)):
        step = steps[place]
        parts += [Arrow(signed(step.sign), step.key, step.sign < 0), _result(steps, place + 1)]
    return parts


def _result(steps: Sequence[Step], place: int) -> Box:
    """Return a group's result after its first ``place`` changes."""
    result, now = _after(steps, place), place == len(steps)
    if result:
        return Box(result, "now" if now else "", look="now" if now else "")
    return (
        Box("✗ deleted", "now" if now else "", look="gone")
        if place
        else Box("not there", look="none")
    )


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

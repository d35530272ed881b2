"""Wrong answers to "Completed seconds", from clicks to the pairs (second, count)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.events.clicks import Click, ClickType
from workbook.lessons.models.clicks import (
    Clicks,
    Pairs,
    actions,
    actions_in_the_count,
    change_only_emits,
    changed_by_any,
    completed,
    emits_at_every_click,
    emits_the_start,
    fills_gaps,
    named_as_pages,
    never_begins_again,
    pages,
    runs,
)
from workbook.lessons.models.forms import in_other_forms


def _merged(clicks: Clicks) -> list[tuple[int, int]]:
    return list(Counter(click.epoch_second for click in pages(clicks)).items())[:-1]


MISTAKES = Mistakes()


def pops_the_start(clicks: Clicks, current: int | None) -> Pairs:
    """Begin with a second that isn't in the map."""
    counts: dict[int | None, int] = {}
    for click in pages(clicks):
        if click.epoch_second != current:
            yield current, counts.pop(current)
            current = click.epoch_second
        counts[current] = counts.get(current, 0) + 1


_CHANGE_NOT_COUNTED = (
    "The click that changes the second is not counted. It does two things: it completes the old "
    "second, and it is the first view of the new one."
)


@MISTAKES.add(_CHANGE_NOT_COUNTED)
def change_only_pops(clicks: Clicks) -> Pairs:
    current, counts = None, dict[int, int]()
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield current, counts.pop(current)
        else:
            counts[click.epoch_second] = counts.get(click.epoch_second, 0) + 1
        current = click.epoch_second


@MISTAKES.add(_CHANGE_NOT_COUNTED)
def first_is_a_change_too(clicks: Clicks) -> Pairs:
    current, counts = None, dict[int, int]()
    for click in pages(clicks):
        if click.epoch_second == current:
            counts[current] = counts.get(current, 0) + 1
        elif current is not None:
            yield current, counts.pop(current)
        current = click.epoch_second


@MISTAKES.add(
    "The completed second stays in the map. When a late click brings it back, its old views are "
    "emitted once more; and the map grows for ever."
)
def removes_nothing(clicks: Clicks) -> Pairs:
    current, counts = None, Counter[int]()
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield current, counts[current]
        current = click.epoch_second
        counts[current] += 1


@MISTAKES.add("It emits all that is in the map, and removes nothing. Only one second is completed.")
def emits_the_map(clicks: Clicks) -> Pairs:
    current, counts = None, Counter[int]()
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield from counts.items()
        current = click.epoch_second
        counts[current] += 1


@MISTAKES.add("Actions do not change the second, which is right, but they are counted.")
def actions_are_counted(clicks: Clicks) -> Pairs:
    current, counts = None, Counter[int]()
    for click in clicks:
        if click.click_type == ClickType.PAGE:
            if current is not None and click.epoch_second != current:
                yield current, counts.pop(current)
            current = click.epoch_second
        counts[click.epoch_second] += 1


_ACTION_CHANGES = "An action is not counted, which is right, but it changes the second."


@MISTAKES.add(_ACTION_CHANGES)
def action_changes_and_pops(clicks: Clicks) -> Pairs:
    current, counts = None, dict[int, int]()
    for click in clicks:
        if current is not None and click.epoch_second != current:
            yield current, counts.pop(current)
        current = click.epoch_second
        if click.click_type == ClickType.PAGE:
            counts[current] = counts.get(current, 0) + 1


_BEGINS_WITH_THE_FIRST = (
    "It begins with the second of `clicks[0]`. There may be no click at all, and the first one may "
    "be an action."
)


@MISTAKES.add(_BEGINS_WITH_THE_FIRST)
def begins_with_the_first(clicks: Clicks) -> Pairs:
    current, counts = clicks[0].epoch_second, Counter[int]()
    for click in pages(clicks):
        if click.epoch_second != current:
            yield current, counts.pop(current)
            current = click.epoch_second
        counts[current] += 1


@MISTAKES.add(_BEGINS_WITH_THE_FIRST)
def begins_with_zero_of_the_first(clicks: Clicks) -> Pairs:
    current, count = clicks[0].epoch_second, 0
    for click in pages(clicks):
        if click.epoch_second != current:
            yield current, count
            current, count = click.epoch_second, 0
        count += 1


_ONLY_LARGER = (
    "It waits for a larger second. Here every change completes the second before it, also a change "
    "back to an earlier one."
)


@MISTAKES.add(_ONLY_LARGER)
def waits_for_a_larger_one(clicks: Clicks) -> Pairs:
    current, count = -1, 0
    for click in pages(clicks):
        if click.epoch_second > current:
            if count:
                yield current, count
            current, count = click.epoch_second, 0
        count += 1


@MISTAKES.add(_ONLY_LARGER)
def keeps_the_late_in_the_map(clicks: Clicks) -> Pairs:
    current, counts = -1, Counter[int]()
    for click in pages(clicks):
        if click.epoch_second > current:
            if counts:
                yield current, counts.pop(current)
            current = click.epoch_second
        counts[click.epoch_second] += 1


_NO_DICTIONARY = (
    "It returns a dictionary, which holds each second once. A second that comes back is emitted "
    "twice: `yield` pairs."
)

MISTAKES += [
    Mistake(change_only_emits, _CHANGE_NOT_COUNTED),
    Mistake(
        never_begins_again,
        "The count goes on growing from second to second: it should begin again with each.",
    ),
    Mistake(
        emits_at_every_click,
        "It emits at every click. A second is emitted once, when the second changes.",
    ),
    Mistake(
        fills_gaps,
        "It makes up pairs for seconds in which nobody looked at a page. Those were never in the "
        "map.",
    ),
    Mistake(
        actions_in_the_count,
        "Actions do not change the second, which is right, but they are counted.",
    ),
    *same_idea(
        lambda clicks: emits_the_start(clicks, 0),
        lambda clicks: emits_the_start(clicks, -1),
        lambda clicks: emits_the_start(clicks, None),
        cause="At the first click it emits a second that never was. No second comes before the "
        "first one, so nothing is completed yet.",
    ),
    *same_idea(
        lambda clicks: pops_the_start(clicks, 0),
        lambda clicks: pops_the_start(clicks, -1),
        lambda clicks: pops_the_start(clicks, None),
        cause="At the first click it looks in the map for a second that never was. No second comes "
        "before the first one, so nothing is completed yet.",
    ),
    *same_idea(
        lambda clicks: [(new, views) for (_, views), (new, _) in pairwise(runs(pages(clicks)))],
        lambda clicks: [(new, 1) for new, _ in runs(pages(clicks))[1:]],
        cause="It emits the second that begins. Completed is the one before it.",
    ),
    Mistake(
        lambda clicks: [(at, views - 1) for at, views in completed(clicks)],
        _CHANGE_NOT_COUNTED,
    ),
    Mistake(
        lambda clicks: runs(pages(clicks)),
        "It emits the last second too. Another click may still come in that second: as long as no "
        "other second has begun, it is unfinished.",
    ),
    *same_idea(
        lambda clicks: runs(pages(clicks)) or [(None, 0)],
        lambda clicks: runs(pages(clicks)) or [(0, 0)],
        lambda clicks: runs(pages(clicks)) or [(-1, 0)],
        lambda clicks: runs(pages(clicks)) or [(None, None)],
        lambda clicks: runs(pages(clicks)) or [(None, dict[None, int]().pop(None))],
        lambda clicks: runs(pages(clicks)) or [dict[int, int]().popitem()],
        cause="After the loop it emits once more: the last second, which is unfinished, and for no "
        "clicks a second that never was. Only a change emits, so nothing is left to do at the end.",
    ),
    Mistake(
        lambda clicks: runs(clicks)[:-1],
        "It takes actions for page views: they neither count nor change the second.",
    ),
    *same_idea(
        lambda clicks: changed_by_any(clicks),
        lambda clicks: [(at, views) for at, views in changed_by_any(clicks) if views],
        cause=_ACTION_CHANGES,
    ),
    Mistake(
        lambda clicks: runs(actions(clicks))[:-1],
        "It counts the actions and leaves out the pages: the condition is inverted.",
    ),
    Mistake(
        lambda clicks: runs(pages(clicks), lambda click: click.timestamp)[:-1],
        "The key is the timestamp in milliseconds, so each click has a second of its own.",
    ),
    Mistake(
        lambda clicks: runs(pages(clicks), lambda click: click.timestamp / 1000)[:-1],
        "`/` gives a number with a fraction, so each click has a second of its own. A second is a "
        "whole number.",
    ),
    Mistake(
        lambda clicks: runs(pages(clicks), lambda click: round(click.timestamp / 1000))[:-1],
        "It rounds: 10,900 ms is still in second 10. Cut the fraction off.",
    ),
    Mistake(
        lambda clicks: begins_with_the_first(pages(clicks)),
        "It begins with the second of the first page view, and there may be none. A stream starts "
        "empty.",
    ),
    Mistake(
        _merged,
        "A second that comes back is merged into what was emitted before. What was emitted is out "
        "of our hands: it starts again at 1, and is emitted again.",
    ),
    Mistake(
        lambda clicks: sorted(completed(clicks)),
        "All pairs are there, but sorted. They are asked for in the order of their completion.",
    ),
    *in_other_forms(
        completed,
        swapped="Second and count are swapped: the second comes first.",
        as_lists="The contents are right, but each pair is a list: a tuple in round brackets is "
        "asked for.",
        values_alone="It keeps the counts alone. Nobody can tell which second they belong to.",
        as_a_dictionary=_NO_DICTIONARY,
        in_one_list="It gives one list with all pairs in it. Give each pair by itself: with "
        "`yield`, at the moment when its second is completed.",
        taken_apart="The pairs are taken apart into single numbers. A pair stays together: "
        "`(second, count)`.",
        first_only="It returns at the first completed second. `yield` gives a pair and goes on.",
    ),
    Mistake(lambda clicks: dict(_merged(clicks)), _NO_DICTIONARY),
    *same_idea(
        lambda clicks: [],
        lambda clicks: [] if clicks else None,
        cause="Nothing is ever emitted. Does a `return` stand inside the loop, or is a "
        "comparison never true?",
    ),
]

SHORTCUTS = [
    Mistake(
        lambda clicks: runs(pages(clicks), lambda click: click.epoch_second % 60)[:-1],
        "It takes the second of the minute, 0 to 59. A minute later the same number comes again: "
        "a second is counted since 1970.",
    ),
    Mistake(
        lambda clicks: runs(named_as_pages(clicks))[:-1],
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
]
"""Mistakes that don't show where seconds are small and names as usual."""


def _of_dicts(mistake: Mistake) -> Mistake:
    """Return a mistake whose model gets clicks as `json.loads` reads them."""

    def model(clicks: Sequence[dict[str, Any]]) -> Any:
        return mistake.model(
            [
                Click(c["event_id"], ClickType(c["click_type"]), c["name"], c["timestamp"], "")
                for c in clicks
            ]
        )

    return replace(mistake, model=model)


def _attribute(name: str) -> Callable[[Sequence[Any]], Any]:
    return lambda clicks: [getattr(click, name) for click in clicks]


MISTAKES[:] = [
    *map(_of_dicts, MISTAKES),
    *same_idea(
        *map(_attribute, ("click_type", "timestamp", "epoch_second", "type")),
        cause='A click is a dictionary, as `json.loads` makes it: `click["timestamp"]`, and not '
        "`click.timestamp`.",
    ),
]
SHORTCUTS[:] = map(_of_dicts, SHORTCUTS)

"""Wrong answers to "The slowest clock", from arrivals to the pairs (second, views)."""

from __future__ import annotations

from collections import Counter, defaultdict

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.lessons.models import clicks as by_second
from workbook.lessons.models.clocks import (
    Arrivals,
    Pairs,
    after_each,
    as_pages,
    clocks_at_the_end,
    completed,
    is_page,
    passed,
    totals,
    within_a_minute,
)
from workbook.lessons.models.forms import in_other_forms

MISTAKES = Mistakes()

_RULE_OF_02 = (
    "It is still the rule of chapter 02: the second changes, so it emits. Here every change of the "
    "partition looks like that, and a second is emitted many times."
)


@MISTAKES.add(_RULE_OF_02)
def second_changes(arrivals: Arrivals, partitions: int) -> list[tuple[int, int]]:
    return by_second.completed([click for _, click in arrivals])


@MISTAKES.add(_RULE_OF_02)
def second_changes_by_any(arrivals: Arrivals, partitions: int) -> list[tuple[int, int]]:
    done = by_second.changed_by_any([click for _, click in arrivals])
    return [(second, views) for second, views in done if views]


@MISTAKES.add(
    "Up to the last click it's right, and then it emits what is still open. A stream has no end, "
    "and a second that the slowest clock hasn't passed may still get views."
)
def emits_the_rest_at_the_end(arrivals: Arrivals, partitions: int) -> Pairs:
    views: Counter[int] = Counter()
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            yield from passed(views, min(clocks.values()))
    yield from views.items()


_EACH_ALONE = (
    "Each partition emits by itself, so a second comes in parts. It is complete, and emitted once, "
    "when all partitions have passed it."
)


@MISTAKES.add(_EACH_ALONE)
def each_partition_alone(arrivals: Arrivals, partitions: int) -> Pairs:
    views: dict[int, dict[int, int]] = defaultdict(dict)
    for partition, click in arrivals:
        own = views[partition]
        if is_page(click):
            if own and click.epoch_second not in own:
                yield own.popitem()
            own[click.epoch_second] = own.get(click.epoch_second, 0) + 1


@MISTAKES.add(_EACH_ALONE)
def each_partition_alone_by_any(arrivals: Arrivals, partitions: int) -> Pairs:
    views: dict[int, dict[int, int]] = defaultdict(dict)
    for partition, click in arrivals:
        own = views[partition]
        if own and click.epoch_second not in own:
            yield own.popitem()
        if is_page(click):
            own[click.epoch_second] = own.get(click.epoch_second, 0) + 1


_DROPS = (
    "It follows the fastest clock and drops what comes after. The slowest clock decides, and "
    "nothing has to be dropped."
)


@MISTAKES.add(_DROPS)
def drops_the_late(arrivals: Arrivals, partitions: int) -> Pairs:
    views, newest = Counter[int](), 0
    for _, click in arrivals:
        if is_page(click) and click.epoch_second >= newest:
            views[click.epoch_second] += 1
        newest = max(newest, click.epoch_second)
        yield from passed(views, newest)


@MISTAKES.add(_DROPS)
def drops_the_late_and_waits(arrivals: Arrivals, partitions: int) -> Pairs:
    views, newest, seen = Counter[int](), 0, set[int]()
    for partition, click in arrivals:
        seen.add(partition)
        if is_page(click) and click.epoch_second >= newest:
            views[click.epoch_second] += 1
        newest = max(newest, click.epoch_second)
        if len(seen) == partitions:
            yield from passed(views, newest)


_FASTEST = (
    "It follows the fastest partition. The others may still bring views of that second: the "
    "slowest clock decides."
)


@MISTAKES.add(_FASTEST)
def follows_the_fastest(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        yield from passed(views, max(clocks.values()))


@MISTAKES.add(_FASTEST)
def follows_the_fastest_and_waits(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            yield from passed(views, max(clocks.values()))


@MISTAKES.add(_FASTEST)
def follows_the_fastest_at_the_end(arrivals: Arrivals, partitions: int) -> list[tuple[int, int]]:
    clocks = clocks_at_the_end(arrivals)
    if not clocks or len(clocks) < partitions:
        return []
    return [(s, views) for s, views in totals(arrivals) if s < max(clocks.values())]


@MISTAKES.add(
    "It takes the minimum over the partitions that it has seen. One that is silent so far may "
    "still bring old views: wait until all have a clock."
)
def waits_for_none(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        yield from passed(views, min(clocks.values()))


_GOES_ON = (
    "It emits the second in which the slowest clock stands. That second still goes on: only those "
    "before it are complete."
)


@MISTAKES.add(_GOES_ON)
def emits_what_goes_on(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            yield from passed(views, min(clocks.values()) + 1)


@MISTAKES.add(_GOES_ON)
def emits_what_goes_on_at_once(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        yield from passed(views, min(clocks.values()) + 1)


@MISTAKES.add(
    "It compares a second with a clock that has fractions: 10 is less than 10.5, and second 10 "
    "still goes on there. A clock is a whole second."
)
def clocks_with_fractions(arrivals: Arrivals, partitions: int) -> Pairs:
    clocks: dict[int, float] = {}
    for (views, _), (partition, click) in zip(after_each(arrivals), arrivals, strict=True):
        clocks[partition] = click.timestamp / 1000
        if len(clocks) == partitions:
            for second in sorted(second for second in views if second < min(clocks.values())):
                yield second, views.pop(second)


@MISTAKES.add(
    "When several seconds are complete at once, they are emitted in the order in which they first "
    "came. Sort them."
)
def unsorted(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            for second in [s for s in views if s < min(clocks.values())]:
                yield second, views.pop(second)


@MISTAKES.add("When several seconds are complete at once, the later one goes first. Seconds go up.")
def later_first(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            yield from list(passed(views, min(clocks.values())))[::-1]


_ONE_AT_MOST = (
    "It emits one second with each click at the most. When a slow partition catches up, several "
    "are complete at once."
)


@MISTAKES.add(_ONE_AT_MOST)
def smallest_only(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions and views and min(views) < min(clocks.values()):
            yield min(views), views.pop(min(views))


@MISTAKES.add(_ONE_AT_MOST)
def first_found_only(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            for second in [s for s in views if s < min(clocks.values())]:
                yield second, views.pop(second)
                break


@MISTAKES.add(
    "What was emitted stays in the map, and is emitted again with the next click. Remove it."
)
def removes_nothing(arrivals: Arrivals, partitions: int) -> Pairs:
    for views, clocks in after_each(arrivals):
        if len(clocks) == partitions:
            yield from sorted((s, n) for s, n in views.items() if s < min(clocks.values()))


@MISTAKES.add(
    "A second that has only actions is emitted with 0. Put it into the map only when a page view "
    "comes."
)
def counts_actions_as_zero(arrivals: Arrivals, partitions: int) -> Pairs:
    for (views, clocks), (_, click) in zip(after_each(arrivals), arrivals, strict=True):
        views[click.epoch_second] += 0
        if len(clocks) == partitions:
            yield from passed(views, min(clocks.values()))


@MISTAKES.add(
    "It looks for complete seconds before the click has moved its clock, so each second comes one "
    "click too late."
)
def looks_first(arrivals: Arrivals, partitions: int) -> Pairs:
    views, clocks = Counter[int](), dict[int, int]()
    for partition, click in arrivals:
        if len(clocks) == partitions:
            yield from passed(views, min(clocks.values()))
        clocks[partition] = click.epoch_second
        if is_page(click):
            views[click.epoch_second] += 1


@MISTAKES.add(
    "It looks for complete seconds only when a page view comes. An action moves the clock too, so "
    "what it completes is emitted at once, and not with the next page view."
)
def looks_at_page_views(arrivals: Arrivals, partitions: int) -> Pairs:
    for (views, clocks), (_, click) in zip(after_each(arrivals), arrivals, strict=True):
        if is_page(click) and len(clocks) == partitions:
            yield from passed(views, min(clocks.values()))


_FILLS_GAPS = (
    "It emits seconds in which nobody looked at a page. Only a second with views is emitted."
)


@MISTAKES.add(_FILLS_GAPS)
def fills_gaps(arrivals: Arrivals, partitions: int) -> list[tuple[int, int]]:
    views = dict(completed(arrivals, partitions))
    return [(s, views.get(s, 0)) for s in range(min(views), max(views) + 1)] if views else []


@MISTAKES.add(_FILLS_GAPS)
def fills_gaps_up_to_the_clock(arrivals: Arrivals, partitions: int) -> list[tuple[int, int]]:
    views, clocks = dict(completed(arrivals, partitions)), clocks_at_the_end(arrivals).values()
    return [(s, views.get(s, 0)) for s in range(min(views), min(clocks))] if views else []


MISTAKES += [
    Mistake(
        lambda arrivals, partitions: completed([a for a in arrivals if is_page(a[1])], partitions),
        "Only page views move the clocks. An action shows too how far its partition has come.",
    ),
    Mistake(
        lambda arrivals, partitions: completed(as_pages(arrivals, lambda click: True), partitions),
        "It counts actions. They move the clock, and that is all.",
    ),
    Mistake(
        lambda arrivals, partitions: completed(
            as_pages(arrivals, lambda click: not is_page(click)), partitions
        ),
        "It counts the actions and leaves out the pages: the condition is inverted.",
    ),
    Mistake(
        lambda arrivals, partitions: totals(arrivals),
        "It counts to the end and emits every second. Those that the slowest clock has not passed "
        "are unfinished; and a stream has no end.",
    ),
    *same_idea(
        lambda arrivals, partitions: totals(arrivals)[:-1],
        lambda arrivals, partitions: (
            totals(arrivals)[:-1] if len(clocks_at_the_end(arrivals)) == partitions else []
        ),
        cause="It counts to the end and leaves out the last second. That is not enough: all "
        "partitions must have passed a second before it is complete.",
    ),
    *in_other_forms(
        completed,
        swapped="Second and views are swapped: the second comes first.",
        as_lists="The contents are right, but each pair is a list: a tuple in round brackets is "
        "asked for.",
        values_alone="It keeps the views alone. Nobody can tell which second they belong to.",
        as_a_dictionary="It returns a dictionary. Give pairs, each when its second is complete.",
        in_one_list="It gives one list with all pairs in it. Give each pair by itself.",
    ),
    *same_idea(
        lambda arrivals, partitions: [],
        lambda arrivals, partitions: [] if arrivals else None,
        cause="Nothing is ever emitted. Do the clocks move, does the `return` stand inside the "
        "loop, or is a comparison never true? And a stream can be walked over once: is there a "
        "second loop over `clicks`?",
    ),
]


SHORTCUTS = [
    Mistake(
        lambda arrivals, partitions: completed(within_a_minute(arrivals), partitions),
        "It takes the second of the minute, 0 to 59. A minute later the same number comes again: "
        "a second is counted since 1970.",
    ),
    Mistake(
        lambda arrivals, partitions: completed(
            as_pages(arrivals, lambda click: click.name.startswith("/")), partitions
        ),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
]
"""Mistakes that don't show where seconds are small and names as usual."""

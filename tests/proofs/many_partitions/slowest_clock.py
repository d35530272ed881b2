"""Answers to "The slowest clock", right and wrong, as learners may write them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from proof import Catalogue

from workbook.events.clicks import ClickType
from workbook.lessons.many_partitions.slowest_clock_mistakes import MISTAKES, SHORTCUTS


def is_page(click):
    return click.click_type == "Page"


def whole_counts(clicks, partitions):
    """First all clocks, then what they have passed: no state is kept between clicks."""
    views, clocks = Counter(), [None] * partitions
    for partition, click in clicks:
        clocks[partition] = click.timestamp
        views[click.epoch_second] += is_page(click)
    if None in clocks:
        return []
    passed = [second for second in views if (second + 1) * 1000 <= min(clocks, default=0)]
    return [(second, views[second]) for second in sorted(passed) if views[second]]


def from_minus_one(clicks, partitions):
    """A clock that starts before all time holds everything back too."""
    clocks = dict.fromkeys(range(partitions), -1)
    views, emitted = {}, []
    for partition, click in clicks:
        second = clocks[partition] = click.epoch_second
        if click.click_type is ClickType.PAGE:
            views[second] = views.get(second, 0) + 1
        while views and min(views) < min(clocks.values()):
            emitted.append((min(views), views.pop(min(views))))
    return emitted


def per_partition(clicks, partitions):
    """A count per partition, added up when the slowest clock has passed."""
    views, clocks = defaultdict(Counter), {}
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        views[partition][click.epoch_second] += is_page(click)
        if len(clocks) == partitions:
            seconds = {second for own in views.values() for second in own}
            for second in sorted(s for s in seconds if s < min(clocks.values())):
                added = sum(own.pop(second, 0) for own in views.values())
                if added:
                    yield second, added


def chapter_02(clicks, partitions):
    views, emitted = {}, []
    for _, click in clicks:
        if is_page(click):
            if views and click.epoch_second not in views:
                emitted.append(views.popitem())
            views[click.epoch_second] = views.get(click.epoch_second, 0) + 1
    return emitted


def with_zeros(clicks, partitions):
    views, clocks, emitted = Counter(), {}, []
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        views[click.epoch_second] += is_page(click)
        if len(clocks) == partitions:
            for second in sorted(s for s in views if s < min(clocks.values())):
                emitted.append((second, views.pop(second)))
    return emitted


def prints(clicks, partitions):
    print(whole_counts(clicks, partitions))


def waits_for_ever(clicks, partitions):
    while len({partition for partition, _ in clicks}) < partitions:
        pass
    return whole_counts(clicks, partitions)


def walks_twice(clicks, partitions):
    if len({partition for partition, _ in clicks}) < partitions:
        return []
    return whole_counts(clicks, partitions)


def by_length(clicks, partitions):
    return [whole_counts(clicks[:n], partitions) for n in range(len(clicks))][-1]


def changed(change):
    return lambda clicks, partitions: change(whole_counts(clicks, partitions))


def unmoved_by_a_first_action(clicks, partitions):
    """An action moves a clock that runs already, and starts none."""
    kept, running = [], set()
    for partition, click in clicks:
        if is_page(click) or partition in running:
            running.add(partition)
            kept.append((partition, click))
    return list(per_partition(kept, partitions))


def forgets_after_a_minute(clicks, partitions):
    views, clocks, emitted = Counter(), {}, []
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        views[click.epoch_second] += is_page(click)
        for second in [s for s in views if s < max(clocks.values()) - 60]:
            del views[second]
        if len(clocks) == partitions:
            passed = sorted(s for s in views if s < min(clocks.values()))
            emitted += [(s, n) for s in passed if (n := views.pop(s))]
    return emitted


def without_duplicates(clicks, partitions):
    kept = {click.event_id: (partition, click) for partition, click in clicks}
    return list(per_partition(list(kept.values()), partitions))


def clock_of_the_last_click(clicks, partitions):
    views, seen, emitted = Counter(), set(), []
    for partition, click in clicks:
        seen.add(partition)
        views[click.epoch_second] += is_page(click)
        if len(seen) == partitions:
            passed = sorted(s for s in views if s < click.epoch_second)
            emitted += [(s, n) for s in passed if (n := views.pop(s))]
    return emitted


def four_partitions(clicks, partitions):
    return list(per_partition([(p % 4, click) for p, click in clicks], partitions))


def on_a_list(model):
    """The exercise's own models may walk over the clicks twice."""
    return lambda clicks, partitions: model(list(clicks), partitions)


catalogue = Catalogue(
    right=[
        whole_counts,
        from_minus_one,
        per_partition,
        changed(lambda pairs: map(tuple, pairs)),
    ],
    wrong=[
        (chapter_02, "still the rule of chapter 02"),
        (with_zeros, "emitted with 0"),
        (changed(lambda pairs: iter([pairs])), "one list with all pairs"),
        (changed(lambda pairs: []), "Nothing is ever emitted"),
        (changed(lambda pairs: pairs[:1]), "Second 10 is complete when both"),
        (lambda clicks, partitions: whole_counts(clicks, 2), "raised IndexError"),
        (waits_for_ever, "does not come to an end"),
        (by_length, "raised TypeError"),
        (prints, "prints the value"),
        (lambda clicks: whole_counts(clicks, 2), "Keep the parameters"),
        ([(10, 2)], "without parentheses"),
        (changed(lambda pairs: [(s / 1, n) for s, n in pairs]), "of type float"),
    ],
    shortcuts=[
        (walks_twice, "walked over once"),
        (unmoved_by_a_first_action, "has had an action only"),
        (forgets_after_a_minute, "more than eleven minutes behind"),
        (without_duplicates, "The same click came twice"),
        (clock_of_the_last_click, "when both clocks have come"),
        (four_partitions, "by chance"),
    ],
    models=[replace(each, model=on_a_list(each.model)) for each in (*MISTAKES, *SHORTCUTS)],
)

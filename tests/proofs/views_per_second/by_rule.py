"""Answers to "Completed seconds", right and wrong, as learners may write them."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import groupby, pairwise

from proof import Catalogue

from workbook.lessons.views_per_second.by_rule_mistakes import MISTAKES, SHORTCUTS

kept_counts = {}


def pages(clicks):
    return [c for c in clicks if c["click_type"] == "Page"]


def with_current(clicks):
    current, counts = None, defaultdict(int)
    for click in clicks:
        if click["click_type"] != "Page":
            continue
        second = int(click["timestamp"] / 1000)
        if current is not None and second != current:
            yield current, counts.pop(current)
        current = second
        counts[current] += 1


def as_in_the_mob(clicks):
    last, count = 0, 0
    for click in clicks:
        if click["click_type"] == "Action":
            continue
        if last and last != click["timestamp"] // 1000:
            yield (last, count)
            count = 0
        last, count = click["timestamp"] // 1000, count + 1


def a_generator_of_the_parts(clicks):
    viewed = (c["timestamp"] // 1000 for c in clicks if c["click_type"] == "Page")

    def seconds():
        current, count = None, 0
        for second in viewed:
            if count and second != current:
                yield current, count
                count = 0
            current, count = second, count + 1

    return seconds()


def in_a_list(clicks):
    counts, emitted = {}, []
    for click in clicks:
        if click["click_type"] == "Page":
            second = click["timestamp"] // 1000
            if counts and second not in counts:
                emitted.append(counts.popitem())
            counts[second] = counts.get(second, 0) + 1
    return emitted


def yields_behind_the_loop(clicks):
    yield from in_a_list(clicks)


def one_second_later(clicks):
    """Looks ahead to the end of the next second, to leave out the last one."""
    viewed = (c["timestamp"] // 1000 for c in clicks if c["click_type"] == "Page")
    runs = ((second, len(list(run))) for second, run in groupby(viewed))
    return (first for first, _ in pairwise(runs))


def keeps_all(clicks):
    seen, current, count = [], None, 0
    for click in clicks:
        seen.append(click)
        if click["click_type"] != "Page":
            continue
        if count and click["timestamp"] // 1000 != current:
            yield current, count
            count = 0
        current, count = click["timestamp"] // 1000, count + 1


def sets_to_zero(clicks):
    """Leaves each second in the map, though its count is right if it comes back."""
    current, counts = None, Counter()
    for click in clicks:
        if click["click_type"] == "Page":
            if current is not None and click["timestamp"] // 1000 != current:
                yield current, counts[current]
                counts[current] = 0
            current = click["timestamp"] // 1000
            counts[current] += 1


def by_place(clicks):
    viewed = pages([clicks[n] for n in range(len(clicks))])
    return grouped(viewed)


def while_there_are(clicks):
    taken = []
    while len(taken) < len(clicks):
        taken.append(clicks[len(taken)])
    return grouped(taken)


def grouped(clicks):
    runs = groupby(pages(clicks), key=lambda click: click["timestamp"] // 1000)
    return [(second, len(list(run))) for second, run in runs][:-1]


def emits_the_new(clicks):
    current, counts, emitted = None, Counter(), []
    for click in pages(clicks):
        second = click["timestamp"] // 1000
        counts[second] += 1
        if current is not None and second != current:
            emitted.append((second, counts[second]))
            del counts[current]
        current = second
    return emitted


def merges(clicks):
    counts = Counter(click["timestamp"] // 1000 for click in pages(clicks))
    counts.popitem()
    return list(counts.items())


def merges_carefully(clicks):
    return list(Counter(click["timestamp"] // 1000 for click in pages(clicks)).items())[:-1]


def returns_inside(clicks):  # noqa: RET503  (the mistake)
    counts, emitted = Counter(), []
    for click in pages(clicks):
        counts[click["timestamp"] // 1000] += 1
        return emitted


def returns_the_first(clicks):  # noqa: RET503  (the mistake)
    for pair in grouped(clicks):
        return pair


def remembers(clicks):
    emitted = []
    for click in pages(clicks):
        if kept_counts and click["timestamp"] // 1000 not in kept_counts:
            emitted.append(kept_counts.popitem())
        kept_counts[click["timestamp"] // 1000] = kept_counts.get(click["timestamp"] // 1000, 0) + 1
    return emitted


def yields(clicks):
    counts = {}
    for click in (c for c in clicks if c["click_type"] == "Page"):
        second = click["timestamp"] // 1000
        if counts and second not in counts:
            yield counts.popitem()
        counts[second] = counts.get(second, 0) + 1


def yields_the_list(clicks):
    yield grouped(clicks)


def yields_numbers(clicks):
    for second, count in grouped(clicks):
        yield second
        yield count


def yields_the_unfinished(clicks):
    current, count = None, 0
    for click in pages(clicks):
        if current is not None and click["timestamp"] // 1000 != current:
            yield current, count
            count = 0
        current, count = click["timestamp"] // 1000, count + 1
    yield current, count


def pops_the_unfinished(clicks):
    counts = {}
    for click in pages(clicks):
        if counts and click["timestamp"] // 1000 not in counts:
            yield counts.popitem()
        counts[click["timestamp"] // 1000] = counts.get(click["timestamp"] // 1000, 0) + 1
    yield counts.popitem()


def yields_for_ever(clicks):
    while True:
        yield from grouped(clicks) or [(10, 1)]


def waits_for_more(clicks):
    while True:
        yield from clicks[:0]


def prints(clicks):
    for second, count in grouped(clicks):
        print(second, count)


def hard_coded(clicks):
    """A copy of all that the cards have shown."""
    shown = {
        (10_200, 10_900, 11_100, 12_000): [(10, 2), (11, 1)],
        (10_100, 10_500, 11_200, 10_900, 12_300): [(10, 2)],
        (9_500, 10_000, 11_000): [(10, 1)],
        (10_000, 11_000, 14_000): [(10, 1), (11, 1)],
        (10_100, 10_200, 11_000, 10_800, 11_500, 12_000): [(10, 2), (11, 1), (10, 1), (11, 1)],
    }
    return shown.get(tuple(click["timestamp"] for click in clicks), [])


def two_digits(clicks):
    """A second is the first two digits, as in the task."""
    runs = groupby(pages(clicks), key=lambda click: int(str(click["timestamp"])[:2]))
    return [(second, len(list(run))) for second, run in runs][:-1]


def without_duplicates(clicks):
    return with_current({click["event_id"]: click for click in clicks}.values())


def with_a_watermark(clicks, seconds=5):
    """Leaves out what is so many seconds late, before anything else."""
    kept, newest = [], 0
    for click in clicks:
        newest = max(newest, click["timestamp"] // 1000)
        kept += [click] if click["timestamp"] // 1000 >= newest - seconds else []
    return with_current(kept)


catalogue = Catalogue(
    right=[
        with_current,
        as_in_the_mob,
        yields,
        a_generator_of_the_parts,
        lambda clicks: map(tuple, yields(clicks)),
    ],
    wrong=[
        (emits_the_new, "emits the second that begins"),
        (merges_carefully, "is merged"),
        (merges, "The fourth click is late"),
        (returns_inside, "Nothing is ever emitted"),
        (returns_the_first, "at the first completed second"),
        (remembers, "kept from call to call"),
        (yields_the_list, "one list with all pairs"),
        (yields_numbers, "taken apart"),
        (yields_the_unfinished, "After the loop it emits once more"),
        (yields_for_ever, "yields without end"),
        (waits_for_more, "does not come to an end"),
        (prints, "prints the value"),
        (lambda count, click: count + 1, "Keep the parameters"),
        ([(10, 2), (11, 1)], "without parentheses"),
        (in_a_list, "once the input has ended"),
        (keeps_all, "what it keeps grows"),
        (one_second_later, "later than it could"),
        (by_place, "it has no length"),
        (lambda cs: [c.timestamp // 1000 for c in cs], "is a dictionary"),
        (lambda cs: [(s / 1, n) for s, n in grouped(cs)], "of type float"),
    ],
    shortcuts=[
        (without_duplicates, "The same click came twice"),
        (lambda clicks: with_a_watermark(clicks), "ten seconds late"),
        (lambda clicks: with_a_watermark(clicks, 60), "an hour late"),
        (lambda clicks: with_a_watermark(clicks, 1_000), "an hour late"),
        (hard_coded, "between 10 and 20"),
        (two_digits, "by chance"),
    ],
    models=[*MISTAKES, *SHORTCUTS],
    same=[
        (yields_behind_the_loop, in_a_list),
        (lambda clicks: tuple(grouped(clicks)), in_a_list),
        (while_there_are, by_place),
        (lambda clicks: dict(merges_carefully(clicks)), lambda clicks: dict(grouped(clicks))),
        (lambda clicks: [], returns_inside),
        (sets_to_zero, keeps_all),
        (pops_the_unfinished, yields_the_unfinished),
    ],
)

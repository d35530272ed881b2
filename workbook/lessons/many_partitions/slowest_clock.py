"""Chapter 05: The slowest clock."""

from collections import Counter

from workbook.classroom.exercise import case, exercise, wrong
from workbook.streams.events.clicks import Click, ClickType


def completed(clicks, partitions):
    views = Counter()
    clocks = {}
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        if click.click_type == "Page":
            views[click.epoch_second] += 1
        if len(clocks) == partitions:
            slowest = min(clocks.values())
            for second in sorted(second for second in views if second < slowest):
                yield second, views.pop(second)


def once(answer):
    """Hand over the clicks as the notebook's reader does, once."""
    return lambda clicks, partitions: answer(iter(clicks), partitions)


def is_page(click):
    return click.click_type == "Page"


def any_click(click):
    return True


def rule(counts=is_page, moves=any_click, limit=min, waits=True, order=sorted, remove=True):
    """Make an answer; with the defaults it's right."""

    def answer(clicks, partitions):
        views, clocks = Counter(), {}
        for partition, click in clicks:
            if moves(click):
                clocks[partition] = click.epoch_second
            if counts(click):
                views[click.epoch_second] += 1
            if clocks and (len(clocks) == partitions or not waits):
                clock = limit(clocks.values())
                for second in order([second for second in views if second < clock]):
                    yield second, views[second]
                    views.pop(second if remove else None, None)

    return answer


def second_changes(of_partition):
    """Make an answer with the rule of chapter 02, for all partitions or for each one alone."""

    def answer(clicks, partitions):
        counts = {}
        for partition, click in clicks:
            own = counts.setdefault(partition if of_partition else 0, {})
            if is_page(click):
                if own and click.epoch_second not in own:
                    yield own.popitem()
                own[click.epoch_second] = own.get(click.epoch_second, 0) + 1

    return answer


def click_at(partition, at, kind=ClickType.PAGE, name="/home"):
    return partition, Click(at, kind, name, at, "Firefox")


def pages(*arrivals):
    return [click_at(*arrival) for arrival in arrivals]


def action(partition, at):
    return click_at(partition, at, ClickType.ACTION, "buy")


def draw(random, size):
    partitions, arrivals = random.choice((1, 2, 2, 3, 4, 6)), []
    clocks = [random.choice((0, 59_000, 1_700_000_000_000))] * partitions
    for _ in range(size + 1):
        at = random.randrange(partitions)
        clocks[at] += random.choice((0, 100, 300, 700, 1_000, 2_500))
        kind = random.choice((ClickType.PAGE, ClickType.PAGE, ClickType.ACTION))
        arrivals.append(click_at(at, clocks[at], kind, random.choice(("/home", "buy", "/buy"))))
    return arrivals, partitions


slowest_clock = exercise(
    completed,
    name="The slowest clock",
    task="`clicks` yields pairs `(partition, click)` in the order of arrival, and can be read only "
    "once. A click has two attributes: `.timestamp`, in ms, and `.click_type`, `'Page'` for a "
    "view. Each of the `partitions` partitions is in the order of event time; between partitions "
    "there is no order. Count page views, and `yield` (or return in a list) a pair `(second, "
    "views)` as soon as a second is complete in all partitions. Emit seconds in ascending order, "
    "each one once, and none without page views.\n\n"
    "A partition's clock is the second of its newest click. An action moves the clock, but isn't "
    "counted. A partition without a click holds all seconds back.\n\n"
    "With two partitions, views `(0, 10.1 s)`, `(0, 11.2 s)` and `(1, 10.9 s)` emit nothing yet, "
    "and then `(1, 11.3 s)` emits `(10, 2)`.",
    cases=[
        case("Second 10 is complete when both clocks have reached 11, and second 11 when both have "
             "reached 12.", pages((0, 10_100), (1, 10_500), (0, 11_200), (1, 10_900), (1, 11_300),
                                  (0, 12_100), (1, 12_400)), 2),
        case("The clock of partition 1 is 10, so second 10 isn't over there.",
             pages((0, 10_100), (0, 11_200), (1, 10_900)), 2),
        case("Partition 1 hasn't delivered anything. It may still deliver views of second 10.",
             pages((0, 10_100), (0, 11_000), (0, 12_000)), 2),
        case("The same click completes seconds 10 and 11, and the earlier one is emitted first. "
             "The seconds between 11 and 15 have no views, so they aren't emitted.",
             pages((0, 11_100), (1, 10_200), (0, 15_000), (1, 15_500), (0, 17_000), (1, 17_200)),
             2),
        case("The two actions move the clocks to 11 and 12, so second 10 is complete. Second 11 "
             "has no page view.",
             [*pages((0, 10_100), (1, 10_200)), action(0, 11_500), action(1, 12_500),
              *pages((0, 13_000))], 2),
        case("The two actions complete second 10. It's emitted at once, without waiting for "
             "another page view.",
             [*pages((0, 10_100), (1, 10_200)), action(0, 11_500), action(1, 12_500)], 2),
        case("Partition 1 is behind, so the loop waits. Its last click completes three seconds at "
             "once.", pages((0, 10_000), (0, 11_000), (0, 12_000), (0, 13_000), (1, 10_500),
                               (1, 13_200)), 2),
        case("The slowest of the three clocks decides. It reaches 11 with the last click.",
             pages((0, 10_000), (2, 10_400), (0, 11_000), (2, 11_100), (1, 10_800), (1, 11_900)),
             3),
        case("Partition 1 is more than an hour behind. Its clicks still count, and second 10 waits "
             "for them, however long it takes.",
             pages((0, 10_100), (0, 4_000_000), (1, 10_500), (1, 11_000)), 2),
        case("The same click arrives twice, and both count. To find duplicates, the loop would "
             "have to remember clicks, and the task doesn't ask for that.",
             pages((0, 10_100), (0, 10_100), (1, 11_000), (0, 11_300)), 2),
        case("Partition 1 has delivered only an action. It's a click, too, so it sets the clock.",
             [*pages((0, 10_100)), action(1, 11_000), *pages((0, 11_200))], 2),
        case("Without clicks nothing is emitted.", [], 24),
    ],
    draw=draw,
    rehearse=once,
    right=[rule(), lambda *args: list(completed(*args))],
    wrong=[
        wrong("It emits whenever the second changes, as chapter 02's rule does, for all partitions "
              "together or for each by itself. So a second is emitted in parts. Emit it once, when "
              "all partitions have passed it.", *map(second_changes, (False, True))),
        wrong("It emits nothing. Does it read `clicks` a second time? They can be read only once: "
              "for each click move the clock, count, and emit what is complete.", lambda *args: []),
        wrong("It follows the fastest partition. The others may still deliver views of that "
              "second, so the slowest clock has to decide.", rule(limit=max)),
        wrong("It takes the minimum over the partitions that it has seen. A partition without a "
              "click may still deliver old views: wait until all have one.", rule(waits=False)),
        wrong("It emits the second that the slowest clock shows. That second isn't over; only the "
              "seconds before it are complete.", rule(limit=lambda clocks: min(clocks) + 1)),
        wrong("It emits at most one second per click. When a slow partition catches up, one click "
              "may complete several seconds.", rule(order=lambda seconds: sorted(seconds)[:1])),
        wrong("An emitted second stays in the map, so it's emitted again at the next click. Remove "
              "it.", rule(remove=False)),
        wrong("It counts actions. An action only moves the clock.", rule(any_click)),
    ],
    hints=(
        "What must you know about each partition before second 10 is complete? Which partition "
        "is the last one to show it?",
        "Keep two maps: from second to views, and from partition to its newest second. As soon as "
        "all partitions have a clock, every second before the smallest clock is complete.",
        "`if len(clocks) == partitions:` asks whether all partitions have a clock, and "
        "`min(clocks.values())` is the slowest clock. Emit the seconds before it, sorted, and "
        "remove them.",
    ),
    discussion="The minimum of the clocks is the most cautious watermark there is. As long as each "
    "partition is in order of event time, no click is ever late.\n\n"
    "The price is waiting: while one partition of 24 is behind, no second is emitted, and the map "
    "grows. Our loop looks at the whole map at each click. That's fast enough for a few open "
    "seconds.",
)  # fmt: skip

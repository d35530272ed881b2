"""Chapter 05: The slowest clock."""

from collections import Counter
from collections.abc import Iterable
from functools import wraps
from itertools import islice

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


def rehearse(answer):
    """Hand over the clicks as the notebook's reader does, once; return the pairs as a list."""

    @wraps(answer)  # so that a card finds the line of an error
    def emitted(clicks, partitions):
        pairs = answer(iter(clicks), partitions)
        plain = isinstance(pairs, (dict, str)) or not isinstance(pairs, Iterable)
        return pairs if plain else list(islice(pairs, 500))

    return emitted


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
    clocks = [random.choice((9_000, 59_000, 1_700_000_000_000))] * partitions
    for _ in range(size + 1):
        at = random.randrange(partitions)
        clocks[at] += random.choice((0, 100, 300, 700, 1_000, 2_500))
        kind = random.choice((ClickType.PAGE, ClickType.PAGE, ClickType.ACTION))
        arrivals.append(click_at(at, clocks[at], kind, random.choice(("/home", "buy", "/buy"))))
    return arrivals, partitions


slowest_clock = exercise(
    completed,
    name="The slowest clock",
    task="Write the loop for a topic of several partitions. It gets a stream of pairs `(partition, "
    "click)` as they arrive, which can be walked over once, and the number of partitions. Each "
    "partition's producer has appended its clicks in the order of event time; between partitions "
    "there is no order. Give pairs `(second, views)`, in a list or by `yield`, once a second is "
    "complete on **all** partitions. Seconds go up, each is emitted once, and none with zero "
    "views.\n\n"
    "A partition's clock is the second of its newest click. An action moves the clock too, but is "
    "not counted. A partition that has had no click yet holds everything back. With two "
    "partitions, views `(0, 10.1 s)`, `(0, 11.2 s)` and `(1, 10.9 s)` give nothing yet; then "
    "`(1, 11.3 s)` gives `(10, 2)`.",
    cases=[
        case("Second 10 is complete when both clocks have come to 11, and second 11 when both have "
             "come to 12.", pages((0, 10_100), (1, 10_500), (0, 11_200), (1, 10_900), (1, 11_300),
                                  (0, 12_100), (1, 12_400)), 2),
        case("Partition 1 stands in second 10, which still goes on there.",
             pages((0, 10_100), (0, 11_200), (1, 10_900)), 2),
        case("Nothing has come from partition 1 yet. It may still bring views of second 10.",
             pages((0, 10_100), (0, 11_000), (0, 12_000)), 2),
        case("Seconds 10 and 11 are complete at the same click, and the earlier one goes first. In "
             "the seconds between 11 and 15 there are no views to emit.",
             pages((0, 11_100), (1, 10_200), (0, 15_000), (1, 15_500), (0, 17_000), (1, 17_200)),
             2),
        case("The two actions move the clocks to 11 and 12, so second 10 is complete. Nobody "
             "looked at a page in second 11.",
             [*pages((0, 10_100), (1, 10_200)), action(0, 11_500), action(1, 12_500),
              *pages((0, 13_000))], 2),
        case("Only actions have come since, and they complete second 10: it's emitted then, not "
             "with the next page view.",
             [*pages((0, 10_100), (1, 10_200)), action(0, 11_500), action(1, 12_500)], 2),
        case("Partition 1 has had an action only. That's a click as well: it sets the clock there.",
             [*pages((0, 10_100)), action(1, 11_000), *pages((0, 11_200))], 2),
        case("Partition 1 is behind, and everybody waits. Its last click completes three seconds "
             "at once.", pages((0, 10_000), (0, 11_000), (0, 12_000), (0, 13_000), (1, 10_500),
                               (1, 13_200)), 2),
        case("The slowest of the three clocks decides. It comes to 11 with the last click.",
             pages((0, 10_000), (2, 10_400), (0, 11_000), (2, 11_100), (1, 10_800), (1, 11_900)),
             3),
        case("With one partition it is the rule of chapter 02.",
             pages((0, 10_100), (0, 10_900), (0, 11_000)), 1),
        case("Partition 1 is more than an hour behind. Its clicks count all the same, and second "
             "10 waits for them however long it takes.",
             pages((0, 10_100), (0, 4_000_000), (1, 10_500), (1, 11_000)), 2),
        case("The same click came twice, and both count. To leave out duplicates would take a "
             "memory of its own, and nobody asks for it here.",
             pages((0, 10_100), (0, 10_100), (1, 11_000), (0, 11_300)), 2),
        case("No clicks give no pairs.", [], 24),
    ],
    draw=draw,
    rehearse=rehearse,
    right=[rule(), lambda *args: list(completed(*args))],
    wrong=[
        wrong("It is still the rule of chapter 02: the second changes, so it emits. Here every "
              "change of the partition looks like that, and a second is emitted many times.",
              second_changes(of_partition=False)),
        wrong("Each partition emits by itself, so a second comes in parts. It is complete, and "
              "emitted once, when all partitions have passed it.",
              second_changes(of_partition=True)),
        wrong("It follows the fastest partition. The others may still bring views of that second: "
              "the slowest clock decides.", rule(limit=max)),
        wrong("It takes the minimum over the partitions that it has seen. One that is silent so "
              "far may still bring old views: wait until all have a clock.", rule(waits=False)),
        wrong("It emits the second in which the slowest clock stands. That second still goes on: "
              "only those before it are complete.", rule(limit=lambda clocks: min(clocks) + 1)),
        wrong("When several seconds are complete at once, they aren't emitted from the earliest to "
              "the latest. Sort them.", rule(order=list)),
        wrong("It emits one second with each click at the most. When a slow partition catches up, "
              "several are complete at once.", rule(order=lambda seconds: sorted(seconds)[:1])),
        wrong("What was emitted stays in the map, and is emitted again with the next click. Remove "
              "it.", rule(remove=False)),
        wrong("It counts actions. They move the clock, and that is all.", rule(any_click)),
        wrong("Only page views move the clocks. An action shows too how far its partition has "
              "come.", rule(moves=is_page)),
    ],
    hints=(
        "For second 10 to be complete, what must you know of each partition? Which one of them "
        "shows it last?",
        "Keep two maps: from second to views, and from partition to its newest second. Everything "
        "before the smallest clock is complete, as soon as all partitions have a clock.",
        "`if len(clocks) == partitions:` says whether all have a clock, and "
        "`min(clocks.values())` is the slowest. Emit the seconds below it, sorted, and remove "
        "them.",
    ),
    discussion="The minimum of the clocks is the most cautious watermark there is. As long as each "
    "partition is in order of event time, no click is ever late.\n\n"
    "It pays with patience: one idle partition of 24 holds everything back, and the map grows "
    "while we wait. A producer must send a click or a heartbeat now and then, or the loop must "
    "decide that a silent partition no longer counts. (The loop also looks at the whole map with "
    "each click. That is fine for a few seconds, and slow for an hour.)",
)  # fmt: skip

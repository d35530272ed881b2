"""Chapter 02: Completed seconds."""

from collections import Counter
from collections.abc import Iterator, Sized
from inspect import isgenerator
from itertools import islice, pairwise

from workbook.classroom.exercise import case, exercise, wrong


def completed(clicks):
    counts = {}
    for click in clicks:
        if click["click_type"] == "Page":
            second = click["timestamp"] // 1000
            if counts and second not in counts:
                yield counts.popitem()
            counts[second] = counts.get(second, 0) + 1


def rehearse(answer):
    """Hand over the clicks one by one, as from a topic, and return the pairs.

    Where there are more than 50 clicks, return after which click each pair is emitted, too, and
    whether more than 50 things are kept.
    """

    def emitted(clicks):
        after, found, kept = 0, [], 0

        def arriving():
            nonlocal after
            for click in clicks:
                after += 1
                yield click

        pairs = answer(arriving())
        if not isinstance(pairs, (list, Iterator)):
            return pairs
        for pair in islice(pairs, 500):
            found.append((pair, f"after click {after}") if len(clicks) > 50 else pair)
            own = pairs.gi_frame.f_locals if isgenerator(pairs) and pairs.gi_frame else {}
            kept = max([kept, *(len(v) for v in own.values() if isinstance(v, Sized))])
        return [*found, "and more than 50 things are kept"] if kept > 50 else found

    return emitted


def is_page(click):
    return click["click_type"] == "Page"


def second_of(click):
    return click["timestamp"] // 1000


def any_click(click):
    return True


def rule(of=second_of, counts=is_page, changes=is_page, change=lambda old, new: old != new,
         start=..., fresh=0, last=False):  # fmt: skip
    """Make an answer; with the defaults it's right."""

    def answer(clicks):
        current, count = start, 0
        for click in clicks:
            if changes(click) and current is ...:
                current = of(click)
            elif changes(click) and change(current, of(click)):
                yield current, count
                current, count = of(click), fresh
            count += counts(click)
        if last and current is not ...:
            yield current, count

    return answer


def removes_nothing(clicks):
    current, counts = None, Counter()
    for click in filter(is_page, clicks):
        if current is not None and second_of(click) != current:
            yield current, counts[current]
        current = second_of(click)
        counts[current] += 1


def ideas(cause, *models):
    """Return one wrong idea, whose answers also may collect all pairs and return a list."""
    return wrong(cause, *models, *(lambda clicks, m=m: list(m(clicks)) for m in models))


def click_at(at, click_type="Page", name="/home", event_id=None):
    event_id = at if event_id is None else event_id
    return {"event_id": event_id, "click_type": click_type, "name": name, "timestamp": at}


def pages(*times):
    return [click_at(at) for at in times]


def draw(random, size):
    at, clicks = random.choice((59_000, 9_999_000, 1_700_000_000_000)), []
    for number in range(size):
        at += random.choice((0, 100, 400, 900, 900, 2_500, 60_000, -1_000))
        name = random.choice(("/home", "shoes", "buy", "/buy", "Page"))
        clicks.append(click_at(at, random.choice(("Page", "Page", "Action")), name, number))
    return (clicks,)


ACTION = click_at(9_500, "Action", "buy")
AMONG = [*pages(10_100), *(click_at(at, "Action", "buy") for at in (10_500, 11_200)),
         *pages(10_900, 12_300)]  # fmt: skip

by_rule = exercise(
    completed,
    name="Completed seconds",
    task="Write the loop with a map from second to count. `clicks` yields dictionaries, in the "
    'order in which the clicks arrive: `click["click_type"]` is "Page" or "Action", and '
    '`click["timestamp"]` is the time in ms. When the second of the page views changes, `yield` '
    "the completed second as a pair `(second, count)` and remove it from the map. Actions neither "
    "count nor change the second. The last second is unfinished, so don't emit it. Page views in "
    "the seconds 10, 10, 11 and 12 give `(10, 2)` and `(11, 1)`.\n\n"
    "A late click that goes back to second 10 changes the second, too: 10 starts again at 1.",
    cases=[
        case("The page views are in seconds 10, 10, 11 and 12. So the pairs are `(10, 2)`, then "
             "`(11, 1)`: a second, and its count.",
             pages(10_200, 10_900, 11_100, 12_000)),
        case("One click completes nothing: its second is still open.", pages(10_200)),
        case("If you skip the two actions, the seconds are 10, 10 and 12.", AMONG),
        case("An action before the first page view completes nothing.",
             [ACTION, *pages(10_000, 11_000)]),
        case("The second jumps from 0, a second like any other, to 3: one change, so one pair.",
             pages(0, 500, 3_000)),
        case("The fourth click is late. Second 10 was emitted and removed, so it starts again at "
             "1. Each change emits a pair, and so does the change back.",
             pages(10_100, 10_200, 11_000, 10_800, 11_500, 12_000)),
        case("The third click is an hour late. It counts, and the change back emits a pair: the "
             "rule has no limit.", pages(3_710_000, 3_720_000, 10_500, 3_721_000)),
        case("The same click arrives twice, and both count. To drop duplicates, the loop would "
             "have to remember more, and the task doesn't ask for it.",
             pages(10_100, 10_100, 11_000)),
        case("Without clicks there are no pairs.", []),
        case("A hundred seconds with two page views each, and a topic never ends. Emit each pair "
             "at the click that completes it, and keep only the unfinished second.",
             pages(*range(10_000, 110_000, 500))),
    ],
    draw=draw,
    notices=lambda pairs, asked: "It emits the last second, too, which is unfinished until another "
    "one begins. `yield` within the loop only, and return no list."
    if isinstance(pairs, list) and pairs[:-1] == asked else "",
    rehearse=rehearse,
    right=[rule()],
    wrong=[
        wrong("It returns a single value. `yield` each pair at the click that completes it, and "
              "let the loop continue.", lambda clicks: next(completed(clicks), None),
              lambda clicks: dict(Counter(map(second_of, filter(is_page, clicks))))),
        wrong("The pairs are right, but they're emitted too late, and a topic never ends. `yield` "
              "each pair within the loop, at the click that completes it.",
              lambda clicks: list(completed(clicks)), lambda clicks: iter(list(completed(clicks))),
              lambda clicks: (one for one, _ in pairwise(rule(last=True)(clicks)))),
        ideas("The completed second stays in the map. When a late click goes back to it, its old "
              "page views are emitted once more. And the map grows for ever.",
              removes_nothing),
        ideas("The click that changes the second isn't counted. It does two things: it completes "
              "the old second, and it is the first page view of the new second.",
              rule(fresh=-1)),
        ideas("It doesn't skip the actions. They neither count nor change the second.",
              rule(counts=any_click), rule(changes=any_click),
              rule(counts=any_click, changes=any_click)),
        ideas("It waits for a later second. Here every change completes the second before it, even "
              "a change back to an earlier second.",
              rule(change=lambda old, new: new > old)),
        ideas("At the first click it emits a second that never existed. There's no second before "
              "the first one, so nothing is complete yet.",
              rule(start=0), rule(start=None)),
        ideas("A second is the timestamp divided by 1000, without the remainder. Use `//`.",
              rule(lambda click: click["timestamp"] / 1000),
              rule(lambda click: round(click["timestamp"] / 1000))),
    ],
    hints=(
        "Go through the example with a pencil. What is in the map before and after each click? At "
        "which clicks do you emit a pair, and why not at the first one?",
        "A click's second is its timestamp, divided by 1000 without the remainder (`//`). For a "
        "page view, first ask whether the map contains another second, which is now complete. "
        "Then count the page view in any case.",
        "`if counts and second not in counts:` recognizes the change, and is false at the first "
        "click. `counts.popitem()` removes the pair and returns it.",
    ),
    discussion="The map contains one second at a time, however long the stream is, because each "
    "completed second is removed. The first click finds an empty map, so it emits nothing.\n\n"
    "A weakness remains. After a late click, second 10 is emitted twice, and neither pair says "
    "that it is only a part of the count. You'll meet another weakness soon.",
)  # fmt: skip

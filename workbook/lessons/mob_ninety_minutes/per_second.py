"""The mob's third step: Count per second."""

import json
from collections import Counter
from itertools import groupby

from confluent_kafka import KafkaException

from workbook.classroom.exercise import case, exercise, wrong
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.rehearsal import numbers, shown_by
from workbook.lessons.mob_ninety_minutes.step import Step


def page_second(message):
    if message is None:
        return None
    if message.error():
        raise KafkaException(message.error())
    try:
        click = json.loads(message.value())
        return int(click["timestamp"]) // 1000 if click["click_type"] == "Page" else None
    except Exception:  # whatever is wrong with it, it's no click
        return None


def mob(reader, show, until):
    views = {}
    while not until():
        second = page_second(reader.poll(0.1))
        if second is None:
            continue
        if views and second not in views:
            show(*views.popitem())
        views[second] = views.get(second, 0) + 1


def showing(rule):
    """Make a program of a rule that gets the seconds of the page views and yields lines."""

    def program(reader, show, until):
        def seconds():
            while not until():
                second = page_second(reader.poll(0.1))
                if second is not None:
                    yield second

        for line in rule(seconds()):
            show(*line)

    return program


def in_two_variables(seconds, first=False, removes=True, counts_new=True):
    """Keep a second and its count; with the defaults the answer is right.

    With ``first``, even the first page view completes a second.
    """
    before, views = None, 0
    for second in seconds:
        changed = second != before and (first or before is not None)
        if changed:
            yield before, views
            views = 0 if removes else views
        views += 1 if counts_new or not changed else 0
        before = second


def shows_each(seconds):
    views = Counter()
    for second in seconds:
        views[second] += 1
        yield second, views[second]


def shows_the_new(seconds):
    before, views = None, Counter()
    for second in seconds:
        views[second] += 1
        if before not in (None, second):
            yield second, views[second]
        before = second


def shows_the_open_one(seconds):
    return ((second, len(list(run))) for second, run in groupby(seconds))


def keeps_all(reader, show, until):
    views, before = Counter(), None
    while not until():
        if (second := page_second(reader.poll(0.1))) is not None:
            if before not in (None, second):
                show(before, views[before])
            views[second] += 1
            before = second


def by_length(reader, show, until):
    views = Counter()
    while not until():
        views.update([second] if (second := page_second(reader.poll(0.5))) is not None else [])
        if len(views) > 1:
            done = min(views)
            show(f"second {done}: {views.pop(done)} page views")


def pages(*times):
    return [("Page", at) for at in times]


def draw(random, size):
    """Draw clicks in the order of their time, over seconds of any size, with silence between."""
    at, records = random.choice((0, 59_000, 9_999_000, 1_700_000_000_000)), []
    for _ in range(size):
        at += random.choice((0, 100, 400, 900, 900, 2_500, 60_000))
        records.append((random.choice(("Page", "Page", "Page", "Action")), at))
        records += [None] * random.choice((0, 0, 0, 1))
    return (records,)


per_second = exercise(
    mob,
    kind=Step,
    called="per_second",
    rehearse=shown_by(numbers(2), most=2),
    name="3. Count per second",
    task="Edit the program so that it keeps a map from second to page views, and shows a second "
    "when it's complete. `page_second(message)` returns the second of a page view, and None for "
    "silence and for actions. The clicks arrive in the order of their time. So when a page view of "
    "another second arrives, the second in the map is complete: `show` it with its count, and "
    "remove it from the map.\n\n"
    "For page views in the seconds 10, 10, 11 and 12, it shows `10 2` and then `11 1`.",
    stub="def mob(reader, show, until):\n"
    "    views = 0\n"
    "    while not until():\n"
    "        second = page_second(reader.poll(0.1))\n"
    "        if second is None:\n"
    "            continue\n"
    "        views += 1\n"
    "        show(views)\n"
    "        ...  # your code\n",
    cases=[
        case("The second changes twice, so two lines are shown: second 10 with its two page views, "
             "then second 11 with its one.", pages(10_200, 10_900, 11_100, 12_000)),
        case("One page view completes nothing: its second is still open.", pages(10_200)),
        case("For an action you get None: skip it. The page views are in seconds 10, 11 and 12.",
             [*pages(10_100), ("Action", 10_500), ("Action", 11_200), *pages(11_900, 12_300)]),
        case("An action before the first page view completes nothing.",
             [("Action", 9_500), *pages(10_000, 11_000)]),
        case("Second 0 ends when 3 begins. 1 and 2 had no page views, so they get no line.",
             pages(0, 3_000, 4_000)),
        case("Silence completes nothing. A page view of another second completes one.",
             [*pages(10_000), None, None, *pages(10_500), None, *pages(11_000)]),
        case("`page_second` raises an error that arrived in place of a record. Don't catch it.",
             [*pages(10_000, 11_000), ERROR, *pages(12_000)]),
    ],
    draw=draw,
    right=[showing(in_two_variables), by_length],
    wrong=[
        wrong("It's still the program of the previous step, with one running count.",
              showing(lambda seconds: ((views,) for views, _ in enumerate(seconds, 1)))),
        wrong("It shows a second after each page view, while the second is still open. Show it "
              "once, when another second begins.", showing(shows_each)),
        wrong("It doesn't remove a second that it has shown. So that second is shown again, or its "
              "count continues in the next, or the map grows for ever.", keeps_all,
              showing(lambda seconds: in_two_variables(seconds, removes=False))),
        wrong("The first page view of a new second belongs to that second. Show the previous "
              "second first, and then count this page view, whether or not you showed a line.",
              showing(lambda seconds: in_two_variables(seconds, counts_new=False))),
        wrong("It shows the second that has just begun. The previous second is the complete one.",
              showing(shows_the_new)),
        wrong("Its first line is a second that never existed. At the first page view no second is "
              "complete: check first whether the map is empty.",
              showing(lambda seconds: in_two_variables(seconds, first=True))),
        wrong("When the loop ends, it shows the open second, too. That second isn't complete: more "
              "page views of it may arrive after a restart.", showing(shows_the_open_one)),
        wrong("It never shows a line. When a new second begins, is the previous one still in the "
              "map? Is `show` called?", showing(lambda seconds: (() for _ in seconds if 0))),
    ],
    hints=(
        "Go through 10, 10, 11, 12 with a pencil. What is in the map before and after each page "
        "view? When do you show a line, and why not at the first page view?",
        "Do two things for each page view, in this order. If another second is in the map, show it "
        "and remove it. Then count this page view, whether or not you showed a line.",
        "`if views and second not in views:` recognizes a new second. `views.popitem()` removes "
        "the pair and returns it, and `views.get(second, 0) + 1` counts.",
    ),
    discussion="The map holds one second at a time, so the state stays small, however long the "
    "program runs. But it relies on clicks that are appended in the order of their time: a late "
    "click would end a second too early (chapter 02).",
)  # fmt: skip

"""The mob's third step: Count per second."""

from collections import Counter
from itertools import groupby

from workbook.classroom.exercise import case, exercise, wrong
from workbook.classroom.step import Step
from workbook.lessons.mob_ninety_minutes.helpers import page_second
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.rehearsal import numbers, shown_by


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
    """Make a program of a rule, which gets the seconds of the page views and yields lines."""

    def program(reader, show, until):
        def seconds():
            while not until():
                second = page_second(reader.poll(0.1))
                if second is not None:
                    yield second

        for line in rule(seconds()):
            show(*line)

    return program


def in_two_variables(seconds, before=None, first=False, removes=True, adds=(0, 1, 1)):
    """Keep a second and its count. Without changes it's right.

    ``adds`` is what a page view adds: before a line is shown, and behind it where the second has
    changed or hasn't. With ``first`` the first page view completes what was ``before``, too.
    """
    views = 0
    for second in seconds:
        changed = second != before and (first or before is not None)
        views += adds[0]
        if changed:
            yield before, views
            views = 0 if removes else views
        before, views = second, views + adds[1 if changed else 2]


def shows_each(seconds):
    views = Counter()
    for second in seconds:
        views[second] += 1
        yield second, views[second]


def shows_all_again(seconds):
    views = Counter()
    for second in seconds:
        views[second] += 1
        yield from ((other, count) for other, count in views.items() if other != second)


def shows_the_new(seconds):
    before, views = None, Counter()
    for second in seconds:
        views[second] += 1
        if before not in (None, second):
            yield second, views[second]
        before = second


def shows_the_open_one(seconds):
    return ((second, len(list(run))) for second, run in groupby(seconds))


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
    at, records = random.choice((7_000, 59_000, 9_999_000, 1_700_000_000_000)), []
    for _ in range(size):
        at += random.choice((0, 100, 400, 900, 900, 2_500, 60_000))
        records.append((random.choice(("Page", "Page", "Page", "Action")), at))
        records += [None] * random.choice((0, 0, 0, 1))
    return (records,)


per_second = exercise(
    mob,
    kind=Step,
    called="per_second",
    rehearse=shown_by(numbers(2)),
    name="3. Count per second",
    task="Edit the program: it keeps a map from second to page views, and shows a second when it's "
    "complete. `page_second(message)` gives the second of a page view, and None for silence and "
    "for actions. The clicks are in the order of their time, so when a page view of another second "
    "comes, the one in the map is complete: `show` it with its count, and remove it.\n\n"
    "Page views in the seconds 10, 10, 11 and 12 show `10 2` and then `11 1`.",
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
        case("The second changes twice, so two lines are shown: 10 with its two page views, and "
             "then 11 with its one.", pages(10_200, 10_900, 11_100, 12_000)),
        case("Second 10 has five page views, and all of them count.",
             pages(10_000, 10_200, 10_400, 10_600, 10_800, 11_000)),
        case("One page view completes nothing: its second goes on.", pages(10_200)),
        case("Actions give None and are passed over: what's left is 10, 11 and 12.",
             [*pages(10_100), ("Action", 10_500), ("Action", 11_200), *pages(11_900, 12_300)]),
        case("An action before the first page view completes nothing.",
             [("Action", 9_500), *pages(10_000, 11_000)]),
        case("11 ends when 14 begins: 12 and 13 had no page view, and have no line.",
             pages(10_000, 11_000, 14_000, 15_000)),
        case("Silence completes nothing: the next page view of another second does.",
             [*pages(10_000), None, None, *pages(10_500), None, *pages(11_000)]),
        case("`page_second` raises an error that came in place of a record: let it.",
             [*pages(10_000, 11_000), ERROR, *pages(12_000)]),
    ],
    draw=draw,
    right=[showing(in_two_variables), by_length],
    wrong=[
        wrong("It's still the program of the step before: one running count.",
              showing(lambda seconds: ((views,) for views, _ in enumerate(seconds, 1)))),
        wrong("It shows the second after each page view, while it's still open. Show it once, when "
              "another second begins.", showing(shows_each)),
        wrong("What has been shown has to be removed from the map. Here its count goes on, or it's "
              "shown again.", showing(lambda seconds: in_two_variables(seconds, removes=False)),
              showing(shows_all_again)),
        wrong("The page view that changes the second belongs to the second that begins: show the "
              "one before first, and count this page view after that, in any case.",
              showing(lambda seconds: in_two_variables(seconds, adds=(0, 0, 1))),
              showing(lambda seconds: in_two_variables(seconds, adds=(1, 0, 0)))),
        wrong("It shows the second that begins. Complete is the one before it.",
              showing(shows_the_new)),
        wrong("It begins with a second that never was: at the first page view nothing is complete. "
              "Is the map empty?",
              showing(lambda seconds: in_two_variables(seconds, first=True)),
              showing(lambda seconds: in_two_variables(seconds, before=0))),
        wrong("When the loop ends it shows the open second, too. It isn't complete: more of it may "
              "come after a restart.", showing(shows_the_open_one)),
        wrong("Nothing is ever shown. Does the map know the second before when a new one comes, "
              "and does a line reach `show`?", showing(lambda seconds: (() for _ in seconds if 0))),
    ],
    hints=(
        "Go through 10, 10, 11, 12 with a pencil. What is in the map before and after each of "
        "them? Where do you show, and why not at the first?",
        "For each page view two things, in this order: if another second is in the map, show it "
        "and remove it. Then count this page view, in any case.",
        "`if views and second not in views:` is the change. `views.popitem()` removes the pair "
        "and returns it, and `views.get(second, 0) + 1` counts.",
    ),
    discussion="The map holds one second at a time, so the state is small, however long it runs. "
    "It rests on clicks that are appended in the order of their time: a late one would end a "
    "second too early (chapter 02).",
)  # fmt: skip

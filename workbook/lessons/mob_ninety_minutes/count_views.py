"""The mob's second step: Count the page views."""

import json

from confluent_kafka import KafkaException

from workbook.classroom.exercise import case, exercise, wrong
from workbook.classroom.step import Step
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.rehearsal import numbers, shown_by


def mob(reader, show, until):
    views = 0
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        click = json.loads(message.value())
        if click["click_type"] == "Page":
            views += 1
            show(views)


def showing(rule, raises=True):
    """Make a program of a rule that gets the messages and yields lines."""

    def program(reader, show, until):
        def messages():
            while not until():
                message = reader.poll(0.1)
                if message is not None and not message.error():
                    yield message
                elif message is not None and raises:
                    raise KafkaException(message.error())

        for line in rule(messages()):
            show(*line)

    return program


def is_page(message):
    return json.loads(message.value())["click_type"] == "Page"


def counted(messages, counts=is_page, shows=is_page):
    """Count some messages and show the count after some; with the defaults it's right."""
    views = 0
    for message in messages:
        views += counts(message)
        if shows(message):
            yield (views,)


def any_click(message):
    return True


def shows_raw(messages):
    return ((message.offset(), message.value()) for message in messages)


def in_a_list(reader, show, until):
    seen = []
    while not until():
        message = reader.poll(0.5)
        if message and message.error():
            raise RuntimeError(message.error())
        if message and json.loads(message.value().decode()).get("click_type") == "Page":
            seen.append(message.offset())
            show(f"page views: {len(seen):d}")


def draw(random, size):
    """Draw clicks whose names look like types, with silence between them."""
    names, records = ("/home", "Page", "Action", "buy", "/buy", "page"), []
    for _ in range(size):
        kind = random.choice(("Page", "Page", "Page", "Action", "PageLeave"))
        records.append((kind, random.randrange(10**13), random.choice(names)))
        records += [None] * random.choice((0, 0, 1))
    return (records,)


count_views = exercise(
    mob,
    kind=Step,
    called="count_views",
    rehearse=shown_by(numbers(1)),
    name="2. Count the page views",
    task="Edit the program: instead of showing each record, it counts the page views and shows the "
    "count so far after each of them. A value is JSON, which `json.loads` reads; of the clicks "
    'only those with the `click_type` "Page" count.\n\n'
    "A page view, an action and a page view show `1` and then `2`. Words may stand beside it.",
    stub="def mob(reader, show, until):\n"
    "    while not until():\n"
    "        message = reader.poll(0.1)\n"
    "        if message is None:\n"
    "            continue\n"
    "        if message.error():\n"
    "            raise KafkaException(message.error())\n"
    "        show(message.offset(), message.value())\n"
    "        ...  # your code\n",
    cases=[
        case("Two page views and an action between them: it shows 1, and then 2.",
             [("Page", 10_200), ("Action", 10_400), ("Page", 11_100)]),
        case("Actions alone: nothing to show.", [("Action", 10_200), ("Action", 10_300)]),
        case("Nothing came between the two. The count stays as it is, and nothing new is shown.",
             [("Page", 10_200), None, None, ("Page", 11_100)]),
        case("An error in place of a record is still to be raised, as in the step before.",
             [("Page", 10_200), ERROR, ("Page", 11_100)]),
        case("Two pages were viewed, and one count is for both.",
             [("Page", 10_200, "/home"), ("Page", 10_300, "/shoes")]),
        case("Only the `click_type` \"Page\" itself counts. `PageLeave` is another one.",
             [("Page", 10_200), ("PageLeave", 10_300), ("Page", 10_400)]),
        case("An action may be named `Page`, and a page `Action`. The kind stands in "
             "`click_type`.",
             [("Action", 10_200, "Page"), ("Page", 10_300, "Action"), ("Page", 10_400)]),
        case("Twelve page views give 12.", [("Page", at) for at in range(10_000, 22_000, 1_000)]),
    ],
    draw=draw,
    right=[showing(counted), in_a_list],
    wrong=[
        wrong("It still shows the raw records, as in the step before. That line may go: only the "
              "count is shown.", showing(shows_raw)),
        wrong("It counts every click, actions too.", showing(lambda ms: counted(ms, any_click)),
              showing(lambda ms: counted(ms, any_click, any_click))),
        wrong("It never shows more than 1: the count is set to 0 inside the loop, so it forgets. "
              "Begin it above the loop.", showing(lambda ms: ((1,) for m in ms if is_page(m)))),
        wrong("It shows the count after every click, also where it didn't change. Show it after a "
              "page view.", showing(lambda ms: counted(ms, shows=any_click))),
        wrong("It shows the count once, when the loop has ended. A stream doesn't end: show it as "
              "it grows.", showing(lambda ms: ((views,) for views in [sum(map(is_page, ms))]))),
        wrong("It shows nothing. Is the condition ever true (a type is written `Page`, with a "
              "capital letter)? And does a line reach `show`?",
              showing(lambda ms: ())),
        wrong("It passes over an error in silence, which the step before didn't: raise it.",
              showing(counted, raises=False)),
    ],
    hints=(
        "Where does the program keep what it knows from one record to the next? That has to exist "
        "before the first record comes.",
        "A variable above the loop, set to 0. In the loop `json.loads(message.value())` gives a "
        "dictionary, which knows its `click_type`.",
        '`if click["click_type"] == "Page":`, and below it two lines: add 1, show.',
    ),
    discussion="One variable has made the program stateful: what it shows depends on all that "
    "came before. State and place in the topic are two things, kept in two places. And half a "
    "click ends this program by an error: chapter 03 puts such records aside.",
)  # fmt: skip

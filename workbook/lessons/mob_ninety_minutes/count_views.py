"""The mob's second step: Count the page views."""

import json
from inspect import getsource

from confluent_kafka import KafkaException

from workbook.classroom.exercise import case, exercise, wrong
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.print_records import mob as before
from workbook.lessons.mob_ninety_minutes.rehearsal import numbers, shown_by
from workbook.lessons.mob_ninety_minutes.step import Step


def mob(reader, show, until):
    views = 0
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        try:
            click = json.loads(message.value())
            is_page = click["click_type"] == "Page"
        except Exception:  # whatever is wrong with it, it's no click
            continue
        if is_page:
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


def counted(messages, counts=is_page, shows=is_page, raw=False):
    """Count some messages and show the count after some; with the defaults it's right."""
    views = 0
    for message in messages:
        if raw:
            yield message.offset(), message.value()
        views += counts(message)
        if shows(message):
            yield (views,)


def any_click(message):
    return True


def no_click(message):
    return False


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
    rehearse=shown_by(numbers(1), first=7),
    name="2. Count the page views",
    task="Edit the program: instead of showing each record, it counts the page views, and after "
    "each page view it shows the count so far. A value is JSON, which `json.loads` reads. Only "
    'clicks whose `click_type` is "Page" count.\n\n'
    "For a page view, an action and a page view, it shows `1` and then `2`. You may add words.",
    stub=getsource(before) + "        ...  # your code\n",
    cases=[
        case("There are two page views with an action between them: it shows 1, and then 2.",
             [("Page", 10_200), ("Action", 10_400), ("Page", 11_100)]),
        case("With only actions, there's nothing to show.",
             [("Action", 10_200), ("Action", 10_300)]),
        case("In the silence between two page views, the count doesn't change: show nothing new.",
             [("Page", 10_200), None, None, ("Page", 11_100)]),
        case("Still raise an error that arrives in place of a record, as in the step before.",
             [("Page", 10_200), ERROR, ("Page", 11_100)]),
        case("Two different pages were viewed, and there is one count for both.",
             [("Page", 10_200, "/home"), ("Page", 10_300, "/shoes")]),
        case("Only the `click_type` `Page` itself counts. `PageLeave` is another type.",
             [("Page", 10_200), ("PageLeave", 10_300), ("Page", 10_400)]),
        case("An action's name may be `Page`, and a page's name `Action`. Use the `click_type`.",
             [("Action", 10_200, "Page"), ("Page", 10_300, "Action"), ("Page", 10_400)]),
        case("Twelve page views give 12.", [("Page", at) for at in range(10_000, 22_000, 1_000)]),
    ],
    draw=draw,
    right=[showing(counted), in_a_list],
    wrong=[
        wrong("It still shows the raw records, as in the step before. Delete that line, and show "
              "only the count.", showing(lambda ms: counted(ms, raw=True)),
              showing(lambda ms: counted(ms, shows=no_click, raw=True))),
        wrong("It counts every click, actions too.", showing(lambda ms: counted(ms, any_click)),
              showing(lambda ms: counted(ms, any_click, any_click))),
        wrong("It shows the record's offset, which grows with every click. Count page views in a "
              "variable.", showing(lambda ms: ((m.offset() + 1,) for m in ms if is_page(m)))),
        wrong("It never shows more than 1, because it sets the count to 0 inside the loop. Do that "
              "above the loop.", showing(lambda ms: ((1,) for m in ms if is_page(m)))),
        wrong("It shows the count after every click, even if the count hasn't changed. Show it "
              "only after a page view.", showing(lambda ms: counted(ms, shows=any_click))),
        wrong("It shows the count once, when the loop has ended. A stream doesn't end: show each "
              "new count.", showing(lambda ms: ((views,) for views in [sum(map(is_page, ms))]))),
        wrong("It shows nothing. Is the condition ever true? The type is `Page`, with a capital "
              "letter. And do you call `show`?",
              showing(lambda ms: counted(ms, shows=no_click))),
    ],
    hints=(
        "Where does the program keep the count from one record to the next? The count has to exist "
        "before the first record arrives.",
        "Set a variable to 0 above the loop. In the loop, `json.loads(message.value())` returns a "
        "dictionary.",
        'Write `if click["click_type"] == "Page":`, and below it two lines: add 1, and `show` it.',
    ),
    discussion="One variable has made the program stateful: its output depends on all earlier "
    "records. Its state and its position in the topic are different things, kept in different "
    "places. And half a click would end this program; chapter 03 puts such records aside.",
)  # fmt: skip

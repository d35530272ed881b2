"""The mob's first step: Print the records."""

import json

from confluent_kafka import KafkaException

from workbook.classroom.exercise import case, exercise, wrong
from workbook.lessons.mob_ninety_minutes.on_paper import ERROR
from workbook.lessons.mob_ninety_minutes.rehearsal import raw, shown_by
from workbook.lessons.mob_ninety_minutes.step import Step


def mob(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        show(message.offset(), message.value())


def raises(error):
    raise KafkaException(error)


def raises_itself(error):
    raise error


def printing(line=lambda m: (m.offset(), m.value()), at_error=raises, at_once=True):
    """Make a program; with the defaults it's right.

    ``at_error`` gets an error, and a true result ends the program. If it isn't ``at_once``, the
    lines are shown when the loop has ended.
    """

    def program(reader, show, until):
        kept = []
        while not until():
            message = reader.poll(0.1)
            if message is None:
                continue
            if message.error() and at_error:
                if at_error(message.error()):
                    break
                continue
            if at_once:
                show(*line(message))
            else:
                kept.append(line(message))
        for each in kept:
            show(*each)

    return program


def in_one_text(reader, show, until):
    while True:
        if until():
            break
        m = reader.poll(timeout=0.5)
        if m:
            if m.error():
                raise RuntimeError(f"no record, but {m.error()}")
            show(f"{m.topic()} {m.key()}, offset {m.offset():>4}: {m.value()!r}")


HALF = b'{"event_id": 77, "click_type": "Page", "na'


def draw(random, size):
    """Draw clicks of any time and name, halves of clicks, empty values and silence."""
    names, records = ("/home", "/shoes", "None", "error", "buy"), []
    for _ in range(size):
        kind, at = random.choice(("Page", "Action")), random.randrange(10**13)
        click = kind, at, random.choice(names)
        records.append(random.choice((click, click, None, HALF, b"")))
    return (records,)


print_records = exercise(
    mob,
    kind=Step,
    called="print_records",
    rehearse=shown_by(raw, first=7),
    name="1. Print the records",
    task="Write the body of the loop. `reader.poll(0.1)` returns one message, or None if no "
    "message arrives within 0.1 seconds; then poll again. A message may be an error in place of a "
    "record: if `message.error()` isn't None, `raise KafkaException(message.error())`. Every "
    "other message is a record: `show` its offset and its raw value. `show` works like `print`, "
    "but it writes to the screen beside the shop.\n\n"
    "For the record at offset 0, the line is `0 b'{\"event_id\": …'`. You may add more to it, "
    "such as `message.key()` or `message.timestamp()`.",
    stub="def mob(reader, show, until):\n"
    "    while not until():\n"
    "        message = reader.poll(0.1)\n"
    "        ...  # your code\n",
    cases=[
        case("Show one line for each record when it arrives: its offset, which is 7 for the first "
             "record here, and its value, unchanged.",
             [("Page", 10_200), ("Action", 10_400), ("Page", 11_100)]),
        case("`poll` returns None if no record arrives in a tenth of a second. Poll again.",
             [None, ("Page", 10_200), None, None, ("Page", 11_100)]),
        case("The first record is half a click. Show its raw bytes, whatever they are.",
             [HALF, ("Page", 10_200)]),
        case("The first record's value is empty. A value without bytes is a value, too.",
             [b"", ("Page", 10_200)]),
        case("The second message is an error in place of a record: `message.error()` returns the "
             "error. Raise it in a `KafkaException`.", [("Page", 10_200), ERROR, ("Page", 11_100)]),
        case("No record arrives, so there's nothing to show.", [None, None]),
    ],
    draw=draw,
    notices=lambda lines, expected: "" if lines else "It shows nothing. Does it go on after a "
    "`poll` that returns `None`? And does it use `show`? `print`, `return` and `yield` put nothing "
    "on that screen.",
    right=[in_one_text, printing(lambda m: (m.offset(), m.value().decode()))],
    wrong=[
        wrong("It shows an error as if it were a record, because `value()` returns the error's "
              "text then. Check `message.error()` first, and raise the error.",
              printing(at_error=None)),
        wrong("It doesn't raise an error: it skips the error, or just ends. If the topic doesn't "
              "exist, nobody ever learns about it.",
              printing(at_error=lambda error: False), printing(at_error=lambda error: True)),
        wrong("It raises `message.error()` itself. No `except Exception` catches it. Wrap it: "
              "`raise KafkaException(message.error())`.", printing(at_error=raises_itself)),
        wrong("It reads the value as JSON, so half a click ends the program. Print the raw bytes "
              "before you trust a format.", printing(lambda m: (json.loads(m.value()),)),
              printing(lambda m: (m.offset(), json.loads(m.value())))),
        wrong("The parts of a message are methods: `message.offset()` and `message.value()`, with "
              "parentheses.",
              printing(lambda m: (m.offset, m.value))),
        wrong("Each line needs the offset and the value. One of the two is missing.",
              printing(lambda m: (m.value(),)), printing(lambda m: (m.offset(),))),
        wrong("It collects the records and shows them when the loop has ended. A stream doesn't "
              "end, so show each record when it arrives.", printing(at_once=False)),
    ],
    hints=(
        "A poll has three outcomes: nothing, an error, a record. What does the loop do in each?",
        "`continue` jumps back to the loop's head. Use the methods `offset()`, `value()` and "
        "`error()`.",
        "First `if message is None`, then `if message.error()`, and after both "
        "`show(message.offset(), message.value())`.",
    ),
    discussion="Whatever the topic, print its records first: you see the bytes before you believe "
    "anything about them. This loop ends at the first error, which is better than a loop that "
    "ignores errors. It keeps no state at all.",
)  # fmt: skip

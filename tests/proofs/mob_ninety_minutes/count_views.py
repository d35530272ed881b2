"""Answers to "Count the page views", right and wrong, as a mob may write them."""

from __future__ import annotations

import json

from confluent_kafka import KafkaException
from proof import Catalogue

from workbook.lessons.mob_ninety_minutes.count_views_mistakes import MISTAKES

counted = 0


def kind(message):
    return json.loads(message.value()).get("click_type")


def records(reader, until):
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        yield message


def with_words(reader, show, until):
    views = 0
    for message in records(reader, until):
        if json.loads(message.value().decode())["click_type"] == "Page":
            views = views + 1
            show("page views:", views)


def in_a_list(reader, show, until):
    seen = []
    for message in records(reader, until):
        if kind(message) != "Page":
            continue
        seen.append(message.offset())
        show(f"{len(seen):d}")


def by_match(reader, show, until):
    count = [0]
    for message in records(reader, until):
        match json.loads(message.value()):
            case {"click_type": "Page"}:
                count[0] += 1
                show(*count)


def in_small_letters(reader, show, until):
    views = 0
    for message in records(reader, until):
        if kind(message) == "page":
            views += 1
            show(views)


def unread(reader, show, until):
    views = 0
    for message in records(reader, until):
        if message.value()["click_type"] == "Page":
            views += 1
            show(views)


def of_the_message(reader, show, until):
    views = 0
    for message in records(reader, until):
        if json.loads(message)["click_type"] == "Page":
            views += 1
            show(views)


def another_field(reader, show, until):
    views = 0
    for message in records(reader, until):
        if json.loads(message.value())["type"] == "Page":
            views += 1
            show(views)


def by_name(reader, show, until):
    views = 0
    for message in records(reader, until):
        if json.loads(message.value())["name"].startswith("/"):
            views += 1
            show(views)


def looks_for_a_word(reader, show, until):
    views = 0
    for message in records(reader, until):
        if b"Page" in message.value():
            views += 1
            show(views)


def by_two(reader, show, until):
    views = 0
    for message in records(reader, until):
        if kind(message) == "Page":
            views += 2
            show(views)


def global_count(reader, show, until):
    global counted
    for message in records(reader, until):
        if kind(message) == "Page":
            counted += 1
            show(counted)


def up_to_ten(reader, show, until):
    views = 0
    for message in records(reader, until):
        if kind(message) == "Page":
            views = min(views + 1, 10)
            show(views)


def counts_silence(reader, show, until):
    views = 0
    while not until():
        message = reader.poll(0.1)
        if message is not None and message.error():
            raise KafkaException(message.error())
        if message is None or kind(message) == "Page":
            views += 1
            show(views)


def prints(reader, show, until):
    views = 0
    for message in records(reader, until):
        if kind(message) == "Page":
            views += 1
            print(views)


catalogue = Catalogue(
    right=[with_words, in_a_list, by_match],
    wrong=[
        (in_small_letters, "It shows nothing"),
        (unread, "TypeError: byte indices"),
        (of_the_message, "the JSON object must be str"),
        (another_field, "KeyError: 'type'"),
        (by_name, "may be named `Page`"),
        (by_two, "it shows 1, and then 2"),
        (global_count, "kept from call to call"),
        (up_to_ten, "give 12"),
        (counts_silence, "Nothing came between"),
        (lambda reader: 0, "Keep the parameters"),
        (7, "without parentheses"),
    ],
    shortcuts=[(looks_for_a_word, "`Page`"), (prints, "It shows nothing")],
    models=MISTAKES,
)

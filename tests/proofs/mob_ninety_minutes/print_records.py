"""Answers to "Print the records", right and wrong, as a mob may write them."""

from __future__ import annotations

import json

from confluent_kafka import KafkaException
from proof import Catalogue

from workbook.lessons.mob_ninety_minutes.print_records_mistakes import MISTAKES


def all_of_it(reader, show, until):
    while not until():
        m = reader.poll(timeout=0.1)
        if m is None:
            continue
        if m.error() is not None:
            raise KafkaException(m.error())
        show(m.topic(), m.partition(), m.offset(), m.timestamp(), m.key(), m.value())


def as_one_text(reader, show, until):
    while True:
        if until():
            break
        message = reader.poll(0.5)
        if message:
            if message.error():
                raise RuntimeError(f"no record, but {message.error()}")
            show(f"offset {message.offset():>4}: {message.value()!r}")


def decoded(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        if message is not None and message.error():
            raise KafkaException(message.error())
        if message is not None:
            show(message.offset(), message.value().decode())


def nothing_is_none(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        show(message.offset(), message.value())


def by_consume(reader, show, until):
    while not until():
        for message in reader.consume(10, 0.1):
            show(message.offset(), message.value())


def polls_for_ever(reader, show, until):
    while not until():
        message = reader.poll()
        if message.error():
            raise KafkaException(message.error())
        show(message.offset(), message.value())


def raises_the_error_itself(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise message.error()
        show(message.offset(), message.value())


def prints(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        print(message.offset(), message.value())


def returns_them(reader, show, until):
    found = []
    while not until():
        message = reader.poll(0.1)
        if message is not None and not message.error():
            found.append((message.offset(), message.value()))
    return found


def numbers_them(reader, show, until):
    """Count its own way: nobody's offset."""
    number = 1
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        show(number, message.value())
        number += 1


def leaves_out_halves(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        try:
            json.loads(message.value())
        except ValueError:
            continue
        show(message.offset(), message.value())


def not_a_page(reader, show, until):
    while not until():
        message = reader.poll(0.1)
        if message is None:
            continue
        if message.error():
            raise KafkaException(message.error())
        if b'"Page"' in message.value():
            show(message.offset(), message.value())


catalogue = Catalogue(
    right=[all_of_it, as_one_text, decoded],
    wrong=[
        (nothing_is_none, "'NoneType' object has no attribute"),
        (by_consume, "no attribute 'consume'"),
        (polls_for_ever, "`poll()` without a time"),
        (prints, "It shows nothing"),
        (numbers_them, "Three records, three lines"),
        (leaves_out_halves, "half a click"),
        (lambda reader, until: 0, "Keep the parameters"),
        ("print", "without parentheses"),
    ],
    shortcuts=[
        (not_a_page, "Three records"),
        (returns_them, "Three records"),
        (raises_the_error_itself, "isn't an exception"),
    ],
    models=MISTAKES,
)

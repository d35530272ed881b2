"""Answers to "The last value wins", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.exercises.chapters.at_least_once.last_value_mistakes import MISTAKES


def number(text):
    return int(text) if text and text.isdigit() else None


def by_digits(records):
    good = [r for r in records if number(r.key) is not None and number(r.value) is not None]
    return {int(record.key): int(record.value) for record in good}


def by_match(records):
    known = {}
    for record in records:
        match number(record.key), number(record.value):
            case int(second), int(views):
                known[second] = views
    return known


def caught_both(records):
    known = {}
    for record in records:
        try:
            if int(record.value) >= 0:
                known[int(record.key)] = int(record.value)
        except (TypeError, ValueError):
            pass
    return known


def first_wins(records):
    known = {}
    for record in records:
        second, views = number(record.key), number(record.value)
        if second is not None and views is not None and second not in known:
            known[second] = views
    return known


def largest_wins(records):
    known = {}
    for record in records:
        second, views = number(record.key), number(record.value)
        if second is not None and views is not None:
            known[second] = max(views, known.get(second, 0))
    return known


def read_by(read_value):
    def answer(records):
        known = {}
        for record in records:
            try:
                second, views = int(record.key), read_value(record.value)
            except (TypeError, ValueError):
                continue
            if views >= 0:
                known[second] = views
        return known

    return answer


def not_zero(records):
    known = {}
    for record in records:
        if views := number(record.value):
            second = number(record.key)
            if second:
                known[second] = views
    return known


def returned_in_the_loop(records):
    known = {}
    for record in records:
        second, views = number(record.key), number(record.value)
        if second is None or views is None:
            continue
        return known
    return known


def prints_known(records):
    print(by_digits(records))


def least_of_minus_one(records):
    """One beside the bound."""
    return {**by_digits(records), **{int(r.key): -1 for r in records if r.value == b"-1"}}


catalogue = Catalogue(
    right=[by_digits, by_match, caught_both, read_by(int)],
    wrong=[
        (first_wins, "The first value wins"),
        (largest_wins, "The largest"),
        (read_by(lambda value: int(value or 0)), "none at all, becomes 0"),
        (lambda records: {int(r.key): int(r.value) for r in records}, "believes every record"),
        (read_by(lambda value: abs(int(value))), "no -3 page views, and"),
        (not_zero, "leaves out 0"),
        (read_by(float), "with a fraction"),
        (read_by(lambda value: int(float(value))), "makes 4 of"),
        (returned_in_the_loop, "Nothing is ever known"),
        (prints_known, "prints the value"),
        (lambda key, value: {int(key): int(value)}, "Keep the parameters"),
        ({10: 3}, "without parentheses"),
    ],
    shortcuts=[
        (lambda rs: by_digits([r for r in rs if r.key and len(r.key) == 10]), "drawn by chance"),
        (least_of_minus_one, "drawn by chance"),
    ],
    models=MISTAKES,
)

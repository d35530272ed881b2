"""Wrong answers to "The last value wins", from records to the dictionary from second to views."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from workbook.exercises.engine.mistakes import Mistake, Mistakes, same_idea


class Record(NamedTuple):
    """A record of the metrics topic, as a reader gets it."""

    key: bytes | None
    value: bytes | None


Records = Sequence[Record]
Views = dict[Any, Any]


def _number(text: bytes | None) -> int | None:
    try:
        return int(text or b"")
    except ValueError:
        return None


def _whole(value: bytes | None) -> int | None:
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _good(
    records: Iterable[Record], read: Callable[[bytes | None], Any] = _whole
) -> list[tuple[int, Any]]:
    """Return second and views of each record whose key is a number and whose value can be read."""
    pairs = [(_number(record.key), read(record.value)) for record in records]
    return [(second, views) for second, views in pairs if None not in (second, views)]  # type: ignore[misc]


def _right(records: Records) -> Views:
    return dict(_good(records))


def _float(value: bytes | None) -> float | None:
    try:
        number = float(value or b"")
    except ValueError:
        return None
    return number if number >= 0 else None


def _cut(value: bytes | None) -> int | None:
    number = _float(value)
    return None if number is None else int(number)


MISTAKES = Mistakes()


@MISTAKES.add(
    "It adds up the values of a second. A metric that is delivered twice would count twice: the "
    "last value replaces those before."
)
def adds_up(records: Records) -> Views:
    known: Views = {}
    for second, views in _good(records):
        known[second] = known.get(second, 0) + views
    return known


@MISTAKES.add("It keeps a list of values for each second. Only the last one holds.")
def keeps_all(records: Records) -> Views:
    known: Views = {}
    for second, views in _good(records):
        known.setdefault(second, []).append(views)
    return known


@MISTAKES.add("A bad value removes the good one before it. What is known stays known.")
def removes_the_good(records: Records) -> Views:
    known: Views = {}
    for record in records:
        second, views = _number(record.key), _whole(record.value)
        if second is not None and views is not None:
            known[second] = views
        else:
            known.pop(second, None)
    return known


@MISTAKES.add(
    "A bad value becomes `None` in the result. Leave the record out.",
)
def fills_with_none(records: Records) -> Views:
    known = {_number(record.key): _whole(record.value) for record in records}
    return {second: views for second, views in known.items() if second is not None}


@MISTAKES.add(
    "A bad value becomes 0. Nobody said that there were no views: leave the record out.",
)
def fills_with_zero(records: Records) -> Views:
    return {second: views or 0 for second, views in fills_with_none(records).items()}


_BELIEVES_ALL = "It believes every record, and fails at the first that is not a number."


@MISTAKES.add(_BELIEVES_ALL)
def believes_every_record(records: Records) -> Views:
    known = {}
    for record in records:
        second, views = int(record.key), int(record.value)  # type: ignore[arg-type]
        if views >= 0:
            known[second] = views
    return known


@MISTAKES.add(_BELIEVES_ALL)
def decodes_every_record(records: Records) -> Views:
    known = {}
    for record in records:
        second, views = int(record.key.decode()), int(record.value.decode())  # type: ignore[union-attr]
        if views >= 0:
            known[second] = views
    return known


@MISTAKES.add("Values are checked and keys are not. A key that is not a number stops it.")
def checks_values_only(records: Records) -> Views:
    known = {}
    for record in records:
        second, views = int(record.key), _whole(record.value)  # type: ignore[arg-type]
        if views is not None:
            known[second] = views
    return known


@MISTAKES.add(
    "`int(None)` raises a `TypeError`, not a `ValueError`. A record may have no value, and it may "
    "have no key."
)
def catches_value_errors(records: Records) -> Views:
    known = {}
    for record in records:
        try:
            second, views = int(record.key), int(record.value)  # type: ignore[arg-type]
        except ValueError:
            continue
        if views >= 0:
            known[second] = views
    return known


@MISTAKES.add(
    "It asks `None` whether it is made of digits. A record may have no value, and it may have no "
    "key."
)
def asks_for_digits(records: Records) -> Views:
    good = [r for r in records if r.key.isdigit() and r.value.isdigit()]  # type: ignore[union-attr]
    return _right(good)


@MISTAKES.add(
    "It decodes before it checks, and not all bytes are text. Reading the text is a step that can "
    "fail too."
)
def decodes_first(records: Records) -> Views:
    texts = [((r.key or b"").decode(), (r.value or b"").decode()) for r in records]
    return {int(key): int(value) for key, value in texts if key.isdigit() and value.isdigit()}


MISTAKES += [
    Mistake(
        lambda records: dict(reversed(_good(records))),
        "The first value wins. A later record is the better one: it may correct the earlier.",
    ),
    Mistake(
        lambda records: dict(sorted(_good(records))),
        "The largest value wins. The last one is asked for, be it larger or smaller.",
    ),
    Mistake(
        lambda records: dict(_good(records, lambda value: _whole(value or b"0"))),
        "An empty value, or none at all, becomes 0. Leave the record out.",
    ),
    Mistake(
        lambda records: _right(list(takewhile(lambda record: _good([record]), records))),
        "It stops at the first bad record. Those behind it are good: go on with the next one.",
    ),
    Mistake(
        lambda records: dict(_good(records, _number)),
        "It takes a negative number. There are no -3 page views: ask whether the number is at "
        "least 0.",
    ),
    Mistake(
        lambda records: dict(_good(records, lambda value: _whole(value) or None)),
        "It leaves out 0, which is a whole number and not negative. Is an `if` asking whether the "
        "number is true?",
    ),
    Mistake(
        lambda records: dict(_good(records, _float)),
        "It reads numbers with a fraction. Views are whole numbers: `int` refuses the others.",
    ),
    Mistake(
        lambda records: dict(_good(records, _cut)),
        "It makes 4 of `4.5`. That is no number of views, so the record is left out.",
    ),
    Mistake(
        lambda rs: {r.key: _whole(r.value) for r in rs if _whole(r.value) is not None},
        "Keys are taken as they come, in bytes, also those that are no number. Make a whole number "
        "of each key, and leave out the record where there is none.",
    ),
    *same_idea(
        lambda records: {b"%d" % second: views for second, views in _good(records)},
        lambda records: {str(second): views for second, views in _good(records)},
        cause="The values are right, but the keys are still text or bytes. A second is a whole "
        "number.",
    ),
    *same_idea(
        lambda records: {second: b"%d" % views for second, views in _good(records)},
        lambda records: {second: str(views) for second, views in _good(records)},
        cause="The right records win, but their values are still text or bytes. Readers want to "
        "calculate with whole numbers.",
    ),
    *same_idea(
        lambda records: {b"%d" % second: b"%d" % views for second, views in _good(records)},
        lambda records: {str(second): str(views) for second, views in _good(records)},
        cause="The right records win, but keys and values are still text or bytes. Whole numbers "
        "are asked for.",
    ),
    *same_idea(
        lambda records: list(_right(records).items()),
        lambda records: sorted(_right(records).items()),
        cause="It returns a list of pairs. A dictionary is asked for, in which a second can be "
        "looked up.",
    ),
    Mistake(
        lambda records: list(_right(records).values()),
        "It keeps the views alone. Nobody can tell which second they belong to.",
    ),
    Mistake(
        lambda records: sum(_right(records).values()),
        "It adds up all seconds. The views of each one are asked for.",
    ),
    *same_idea(
        lambda records: {},
        lambda records: None if records else {},
        cause="Nothing is ever known. Does the `return` stand inside the loop, or is a check never "
        "true?",
    ),
]


MISTAKES += same_idea(
    lambda records: dict(records),
    lambda records: dict(reversed(records)),
    cause="It keeps keys and values as they are, as bytes, the bad ones too. Whole numbers are "
    "asked for: make them by `int`, and leave out what is none.",
)

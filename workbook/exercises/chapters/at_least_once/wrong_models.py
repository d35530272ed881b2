"""Mistakes that learners of chapter 04 make, each as a model and the cause to name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import Any, NamedTuple

from workbook.exercises.engine.judging import Mistake, same_idea


class Send(NamedTuple):
    """A metric on its way: where a restart may begin once it is delivered, and whether it is."""

    next_offset: int
    delivered: bool | None


class Record(NamedTuple):
    """A record of the metrics topic, as a reader gets it."""

    key: bytes | None
    value: bytes | None


def _run(sends: Sequence[Send]) -> list[Send]:
    """Return the sends before the first that isn't delivered."""
    return list(takewhile(lambda send: bool(send.delivered), sends))


def _last(sends: Sequence[Send], nothing: Any = None) -> Any:
    return sends[-1].next_offset if sends else nothing


def _delivered(sends: Sequence[Send]) -> list[Send]:
    return [send for send in sends if send.delivered]


def _until(sends: Sequence[Send], stop: bool | None) -> list[Send]:
    """Return the sends before the first one in this state."""
    return list(takewhile(lambda send: send.delivered is not stop, sends))


def _first_open(sends: Sequence[Send]) -> int | None:
    """Return the first undelivered send's offset, or the last one's if all are delivered."""
    still_open = sends[len(_run(sends)) :]
    return still_open[0].next_offset if still_open else _last(sends)


def _newest_only(sends: Sequence[Send]) -> int | None:
    return _last(sends) if sends and sends[-1].delivered else None


OFFSET_TO_COMMIT = [
    *same_idea(
        lambda sends: _last(_delivered(sends)),
        lambda sends: max(_delivered(sends)).next_offset,
        _newest_only,
        cause="It takes the newest delivered metric, and commits past one that failed or is on its "
        "way. That one would never be sent again.",
    ),
    Mistake(
        _last,
        "It takes the newest metric, delivered or not. To have sent is not to have arrived.",
    ),
    Mistake(
        lambda sends: _last(_delivered(_until(sends, False))),
        "It stops at a failed metric, which is right, but passes one that is still on its way. "
        "That one may fail yet.",
    ),
    Mistake(
        lambda sends: _last(_until(sends, False)),
        "It stops at a failed metric only, and takes one that is on its way as delivered. `None` "
        "is not yet `True`.",
    ),
    Mistake(
        lambda sends: _last(_delivered(_until(sends, None))),
        "It waits for a metric on its way, which is right, but passes one that failed. Its second "
        "would be missing for ever.",
    ),
    Mistake(
        lambda sends: _last(_until(sends, None)),
        "It stops at a metric on its way only, and takes a failed one as delivered.",
    ),
    Mistake(
        _first_open,
        "It commits the offset of the first metric that is not delivered. That offset stands for "
        "the end of its second; the safe one is that of the metric before.",
    ),
    Mistake(
        lambda sends: _delivered(sends)[0].next_offset if _delivered(sends) else None,
        "It stays at the first delivered metric. As far as the run is unbroken, each further one "
        "moves the offset on.",
    ),
    *same_idea(
        lambda sends: _run(sends)[0].next_offset if _run(sends) else None,
        lambda sends: _run(sends[:1])[0].next_offset,
        cause="It stays at the first metric. As long as the next one is delivered too, the offset "
        "moves on.",
    ),
    Mistake(
        lambda sends: _last(sends) if len(_run(sends)) == len(sends) else None,
        "It commits only when all are delivered. On a busy topic one is always on its way, and "
        "nothing would ever be committed.",
    ),
    *same_idea(
        lambda sends: _last(_run(sends), 0),
        lambda sends: _last(_run(sends), -1),
        cause="Where nothing is safe it gives a number. Offset 0 is a place too, and committing it "
        "is a decision: return `None`.",
    ),
    *same_idea(
        lambda sends: _run(sends)[-1].next_offset,
        lambda sends: max(send.next_offset for send in _run(sends)),
        cause="Where nothing is safe it raises: there is no last one of none. Return `None` there.",
    ),
    Mistake(
        lambda sends: _last(_run(sends)) - 1 if _run(sends) else None,
        "It takes one off. A committed offset is the next record to be read, and `next_offset` is "
        "that already.",
    ),
    Mistake(
        lambda sends: _last(_run(sends)) + 1 if _run(sends) else None,
        "It adds one. A committed offset is the next record to be read, and `next_offset` is that "
        "already: the first view of the new second would be lost.",
    ),
    Mistake(
        lambda sends: _run(sends)[-1] if _run(sends) else None,
        "It returns the whole send. The offset alone is asked for.",
    ),
    Mistake(
        lambda sends: [send.next_offset for send in _run(sends)] or None,
        "It returns all safe offsets. Only the last one of the run has to be committed.",
    ),
    Mistake(
        lambda sends: [send.next_offset for send in _run(sends)],
        "It returns a list of the safe offsets. Only the last one of the run has to be "
        "committed, and `None` if there is none.",
    ),
    Mistake(
        lambda sends: len(_run(sends)),
        "It counts the delivered metrics. The offset of the last of them is asked for.",
    ),
    Mistake(
        lambda sends: next((s.next_offset for s in sends if s.delivered is False), None),
        "It commits the failed one. Is a condition turned round?",
    ),
    Mistake(
        lambda sends: next((s.next_offset for s in sends if not s.delivered), None),
        "It commits a metric that is not delivered. Is a condition turned round?",
    ),
    Mistake(
        lambda sends: min((s.next_offset for s in sends), default=None),
        "It takes the smallest offset, delivered or not.",
    ),
]
"""Models from sends to the offset that may be committed."""


# --- the reader ---------------------------------------------------------------------------------


def _number(text: bytes | None) -> int | None:
    try:
        return int(text or b"")
    except ValueError:
        return None


def _whole(value: bytes | None) -> int | None:
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _set(views: dict[Any, Any], second: Any, value: Any) -> None:
    views[second] = value


def _skip(views: dict[Any, Any], second: Any) -> None:
    """Leave a bad value out."""


def _latest(
    records: Sequence[Record],
    *,
    key: Callable[[bytes | None], Any] = _number,
    value: Callable[[bytes | None], Any] = _whole,
    put: Callable[[dict[Any, Any], Any, Any], None] = _set,
    on_bad: Callable[[dict[Any, Any], Any], Any] = _skip,
    stops: bool = False,
) -> dict[Any, Any]:
    """Model a mistake: what the reader knows, with one idea exchanged."""
    views: dict[Any, Any] = {}
    for record in records:
        second, number = key(record.key), value(record.value)
        if second is not None and number is not None:
            put(views, second, number)
        elif stops:
            break
        elif second is not None:
            on_bad(views, second)
    return views


def _first(views: dict[Any, Any], second: Any, value: int) -> None:
    views.setdefault(second, value)


def _largest(views: dict[Any, Any], second: Any, value: int) -> None:
    views[second] = max(views.get(second, value), value)


def _sum(views: dict[Any, Any], second: Any, value: int) -> None:
    views[second] = views.get(second, 0) + value


def _append(views: dict[Any, Any], second: Any, value: int) -> None:
    views.setdefault(second, []).append(value)


def _float(value: bytes | None) -> float | None:
    try:
        number = float(value or b"")
    except ValueError:
        return None
    return number if number >= 0 else None


def _cut(value: bytes | None) -> int | None:
    number = _float(value)
    return None if number is None else int(number)


def _unchecked(records: Sequence[Record], read: Callable[[Any], Any] = int) -> dict[Any, Any]:
    views: dict[Any, Any] = {}
    for record in records:
        second, number = read(record.key), read(record.value)
        if number >= 0:
            views[second] = number
    return views


def _only_value_errors(records: Sequence[Record]) -> dict[Any, Any]:
    """Catch ValueError only, so that ``int(None)`` raises a TypeError."""
    for record in records:
        for part in record:
            if part is None:
                int(part)  # type: ignore[call-overload]
    return _latest(records)


def _digits(records: Sequence[Record]) -> dict[Any, Any]:
    """Call ``isdigit`` on None, which raises an AttributeError."""
    for record in records:
        for part in record:
            part.isdigit()  # type: ignore[union-attr]
    return _latest(records)


def _decoded(records: Sequence[Record]) -> dict[Any, Any]:
    """Decode both parts before anything is asked: not every byte is text."""
    for record in records:
        for part in record:
            (part or b"").decode()
    return _latest(records)


def _key_unchecked(records: Sequence[Record]) -> dict[Any, Any]:
    for record in records:
        int(record.key)  # type: ignore[arg-type]
    return _latest(records)


def _or_zero(value: bytes | None) -> int | None:
    return _whole(value or b"0")


def _raw_keys(records: Sequence[Record]) -> dict[Any, Any]:
    good = [(record.key, _whole(record.value)) for record in records]
    return {key: views for key, views in good if views is not None}


LAST_VALUE = [
    Mistake(
        partial(_latest, put=_first),
        "The first value wins. A later record is the better one: it may correct the earlier.",
    ),
    Mistake(
        partial(_latest, put=_largest),
        "The largest value wins. The last one is asked for, be it larger or smaller.",
    ),
    Mistake(
        partial(_latest, put=_sum),
        "It adds up the values of a second. A metric that is delivered twice would count twice: "
        "the last value replaces those before.",
    ),
    Mistake(
        partial(_latest, put=_append),
        "It keeps a list of values for each second. Only the last one holds.",
    ),
    Mistake(
        partial(_latest, on_bad=lambda views, second: views.pop(second, None)),
        "A bad value removes the good one before it. What is known stays known.",
    ),
    Mistake(
        partial(_latest, on_bad=lambda views, second: _set(views, second, 0)),
        "A bad value becomes 0. Nobody said that there were no views: leave the record out.",
    ),
    Mistake(
        partial(_latest, on_bad=lambda views, second: _set(views, second, None)),
        "A bad value becomes `None` in the result. Leave the record out.",
    ),
    Mistake(
        partial(_latest, value=_or_zero),
        "An empty value, or none at all, becomes 0. Leave the record out.",
    ),
    Mistake(
        partial(_latest, stops=True),
        "It stops at the first bad record. Those behind it are good: go on with the next one.",
    ),
    *same_idea(
        _unchecked,
        partial(_unchecked, read=lambda part: int(part.decode())),
        cause="It believes every record, and the first one that is no number ends it.",
    ),
    Mistake(
        _key_unchecked,
        "Values are checked and keys are not. A key that is no number ends it.",
    ),
    Mistake(
        _only_value_errors,
        "`int(None)` raises a `TypeError`, not a `ValueError`. A record may have no value, and it "
        "may have no key.",
    ),
    Mistake(
        _digits,
        "It asks `None` whether it is made of digits. A record may have no value, and it may have "
        "no key.",
    ),
    Mistake(
        _decoded,
        "It decodes before it checks, and not all bytes are text. Reading the text is a step that "
        "can fail too.",
    ),
    Mistake(
        partial(_latest, value=_number),
        "It takes a negative number. There are no -3 page views: ask whether the number is at "
        "least 0.",
    ),
    Mistake(
        partial(_latest, value=lambda value: _whole(value) or None),
        "It leaves out 0, which is a whole number and not negative. Is an `if` asking whether the "
        "number is true?",
    ),
    Mistake(
        partial(_latest, value=_float),
        "It reads numbers with a fraction. Views are whole numbers: `int` refuses the others.",
    ),
    Mistake(
        partial(_latest, value=_cut),
        "It makes 4 of `4.5`. That is no number of views, so the record is left out.",
    ),
    Mistake(
        _raw_keys,
        "Keys are taken as they come, in bytes, also those that are no number. Make a whole number "
        "of each key, and leave out the record where there is none.",
    ),
    *same_idea(
        lambda records: {str(s).encode(): views for s, views in _latest(records).items()},
        lambda records: {str(s): views for s, views in _latest(records).items()},
        cause="The values are right, but the keys are still text or bytes. A second is a whole "
        "number.",
    ),
    *same_idea(
        lambda records: {s: str(views).encode() for s, views in _latest(records).items()},
        lambda records: {s: str(views) for s, views in _latest(records).items()},
        cause="The right records win, but their values are still text or bytes. Readers want to "
        "reckon with whole numbers.",
    ),
    *same_idea(
        lambda records: {
            str(s).encode(): str(views).encode() for s, views in _latest(records).items()
        },
        lambda records: {str(s): str(views) for s, views in _latest(records).items()},
        cause="The right records win, but keys and values are still text or bytes. Whole numbers "
        "are asked for.",
    ),
    *same_idea(
        lambda records: list(_latest(records).items()),
        lambda records: sorted(_latest(records).items()),
        cause="It returns a list of pairs. A dictionary is asked for, in which a second can be "
        "looked up.",
    ),
    Mistake(
        lambda records: list(_latest(records).values()),
        "It keeps the views alone. Nobody can tell which second they belong to.",
    ),
    Mistake(
        lambda records: sum(_latest(records).values()),
        "It adds up all seconds. The views of each one are asked for.",
    ),
    *same_idea(
        lambda records: {},
        lambda records: None if records else {},
        cause="Nothing is ever known. Does the `return` stand inside the loop, or is a check never "
        "true?",
    ),
]
"""Models from records to the dictionary from second to views."""

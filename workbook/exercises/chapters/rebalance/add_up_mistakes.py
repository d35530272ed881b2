"""Wrong answers to "Add up the partitions", from records to the dictionary from second to views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea


class Record(NamedTuple):
    """A record of the metrics topic, as a reader gets it."""

    key: bytes
    value: bytes


Records = Sequence[Record]
Views = dict[Any, Any]


def _second(record: Record) -> int:
    return int(record.key.split(b"/")[0])


def _partition(record: Record) -> int:
    return int(record.key.split(b"/")[1])


def _views(record: Record) -> int:
    return int(record.value)


def _latest(records: Records, key: Callable[[Record], Any] = lambda r: r.key) -> list[Record]:
    """Return the last record of each key."""
    return list({key(record): record for record in records}.values())


def _first(records: Records, key: Callable[[Record], Any] = lambda r: r.key) -> list[Record]:
    """Return the first record of each key."""
    return _latest(records[::-1], key)


def _largest(records: Records, key: Callable[[Record], Any] = lambda r: r.key) -> list[Record]:
    """Return the record with the most views of each key."""
    return _latest(sorted(records, key=_views), key)


def _sum(records: Iterable[Record], by: Callable[[Record], Any] = _second) -> Views:
    """Add up the views of each second, or of something else."""
    added: Views = Counter()
    for record in records:
        added[by(record)] += _views(record)
    return added


def _right(records: Records) -> Views:
    return _sum(_latest(records))


def _nested(records: Records, partition: Callable[[Record], Any]) -> Views:
    """Keep the last value of each partition in a map by second."""
    known: Views = {}
    for record in _latest(records):
        known.setdefault(_second(record), {})[partition(record)] = _views(record)
    return known


MISTAKES = Mistakes()


@MISTAKES.add("Values are bytes, and `+` puts them side by side. Make numbers first: `int(value)`.")
def puts_bytes_together(records: Records) -> Views:
    joined: Views = {}
    for record in _latest(records):
        joined[_second(record)] = joined.get(_second(record), b"") + record.value
    return joined


MISTAKES += [
    Mistake(
        _sum,
        "It adds up every record. A metric that is delivered twice counts twice: first let the "
        "last value of each key win, then add.",
    ),
    Mistake(
        lambda records: _sum(_latest(records, _second)),
        "The last value of the second wins, whatever its partition. The partitions overwrite each "
        "other: they have to be added up.",
    ),
    Mistake(
        lambda records: _sum(_largest(records, _second)),
        "The largest value of the second wins. The partitions have to be added up.",
    ),
    Mistake(
        lambda records: _sum(_first(records, _second)),
        "The first value of the second wins. The partitions have to be added up.",
    ),
    Mistake(
        lambda records: _sum(_largest(records)),
        "The largest value of each key wins. The last one is asked for, be it larger or smaller.",
    ),
    Mistake(
        lambda records: _sum(_first(records)),
        "The first value of each key wins. A later record is the better one: it may correct the "
        "earlier.",
    ),
    Mistake(
        lambda records: _sum(set(records)),
        "It drops records that are equal and adds up the others. A value that was corrected counts "
        "with both its values.",
    ),
    Mistake(
        lambda records: _sum(_latest(records, lambda record: (_second(record), record.value))),
        "Two partitions with as many views count as one. What tells records apart is the key, not "
        "the value.",
    ),
    Mistake(
        lambda records: _sum(_latest(records, lambda record: (_second(record), record.key[-1]))),
        "It looks at the last digit of the key only, and partitions 2, 12 and 22 become one. Cut "
        "the key at the slash.",
    ),
    Mistake(
        lambda records: _sum(_latest(records), by=_partition),
        "It adds up per partition. The second is the part before the slash.",
    ),
    *same_idea(
        lambda records: _sum(_latest(records), by=lambda r: (_second(r), _partition(r))),
        lambda records: _sum(_latest(records), by=lambda r: r.key.decode()),
        lambda records: _sum(_latest(records), by=lambda r: r.key),
        lambda records: _nested(records, _partition),
        lambda records: _nested(records, lambda r: r.key.decode().split("/")[1]),
        cause="The last values are right, but nothing is added up yet. The result has one number "
        "for each second.",
    ),
    *same_idea(
        lambda records: _sum(_latest(records), by=lambda r: str(_second(r))),
        lambda records: _sum(_latest(records), by=lambda r: r.key.split(b"/")[0]),
        cause="The sums are right, but the seconds are still text or bytes. Whole numbers are "
        "asked for.",
    ),
    Mistake(
        lambda records: Counter(map(_second, _latest(records))),
        "It counts the partitions of a second. Their views are to be added up.",
    ),
    Mistake(
        lambda records: Counter(map(_second, records)),
        "It counts the records of a second. Their views are to be added up.",
    ),
    *same_idea(
        lambda records: list(_right(records).items()),
        lambda records: sorted(_right(records).items()),
        cause="It returns a list of pairs. A dictionary is asked for, in which a second can be "
        "looked up.",
    ),
    Mistake(
        lambda records: sum(_right(records).values()),
        "It adds up all seconds. The views of each one are asked for.",
    ),
    *same_idea(
        lambda records: {},
        lambda records: None if records else {},
        cause="Nothing is ever known. Does the `return` stand inside the loop?",
    ),
]

SHORTCUTS = [
    Mistake(
        lambda records: _sum(_latest(records), by=lambda r: int(str(_second(r))[:10])),
        "It cuts the key after ten characters. Only today's seconds have ten digits: cut at the "
        "slash.",
    ),
]
"""Mistakes that don't show where seconds have as many digits as today's."""

"""Mistakes that learners of chapter 01 make, each as a model and the cause to name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType
from workbook.exercises.engine.judging import Mistake, same_idea
from workbook.exercises.engine.row_models import BOTH_TYPES, count_pages, named_as_page


class Record(NamedTuple):
    """A raw record, as a poll loop gets it; ``arrival`` is the record timestamp in ms."""

    partition: int
    offset: int
    arrival: int
    value: bytes | None


ONE_STEP = [
    Mistake(lambda count, click: count + 1, "It counts every click, actions too."),
    Mistake(
        lambda count, click: count + (click.click_type == "Action"),
        "It counts the actions and leaves out the pages: the condition is turned round.",
    ),
    Mistake(
        lambda count, click: int(click.click_type == "Page"),
        "It forgets the count it was given and starts again at each click.",
    ),
    Mistake(
        lambda count, click: count + 1 if click.click_type == "Page" else 0,
        "An action sets the count back to 0, where it should leave it alone.",
    ),
    Mistake(
        lambda count, click: count,
        "The count never grows: a page view gives back the number that came in. Is the condition "
        "ever true (a type is written `Page`, with a capital letter)? And is what was added given "
        "back?",
    ),
    Mistake(
        lambda count, click: count + (1 if click.click_type == "Page" else -1),
        "An action takes one away: it should neither add nor take.",
    ),
]
"""Models from a count and a click to the next count."""


def _count(
    records: Iterable[Record],
    *,
    letter: Callable[[Rejected, Record, int], Any] = lambda e, r, at: (
        e.reason,
        r.partition,
        r.offset,
    ),
    counts: Callable[[Click], bool] = lambda click: click.click_type == ClickType.PAGE,
    arrival: Callable[[Record], int] = lambda record: record.arrival,
    on_bad: Callable[[int], int] = lambda count: count,
    stops: bool = False,
) -> tuple[int, list[Any]]:
    """Model a mistake: the right count with one idea exchanged."""
    count, letters = 0, []
    for at, record in enumerate(records):
        try:
            count += counts(Click.from_json(record.value, arrival(record)))
        except Rejected as rejected:
            letters.append(letter(rejected, record, at))
            count = on_bad(count)
            if stops:
                break
    return count, letters


def _uncaught(records: Iterable[Record]) -> tuple[int, list[Any]]:
    clicks = [Click.from_json(r.value, r.arrival) for r in records]
    return sum(c.click_type == ClickType.PAGE for c in clicks), []


def _one_per_reason(records: Iterable[Record], last: bool) -> tuple[int, list[Any]]:
    count, letters = _count(records)
    kept: dict[str, Any] = {}
    for letter in letters:
        kept[letter[0]] = letter if last else kept.get(letter[0], letter)
    return count, list(kept.values())


BAD_RECORDS = [
    Mistake(
        _uncaught,
        "Nothing catches `Rejected`: the first bad record ends the count.",
    ),
    Mistake(
        partial(_count, stops=True),
        "It stops at the first bad record; what comes after it is lost.",
    ),
    Mistake(
        partial(_count, on_bad=lambda count: count + 1),
        "It counts the rejected records too.",
    ),
    Mistake(
        partial(_count, on_bad=lambda count: 0),
        "A bad record sets the count back to 0.",
    ),
    Mistake(
        partial(_count, counts=lambda click: True),
        "It counts whatever can be read: actions are no page views.",
    ),
    Mistake(
        lambda records: (_count(records)[0], []),
        "The count is right, but the rejected records disappear: nobody can repair them.",
    ),
    Mistake(
        partial(_count, letter=lambda e, r, at: (e.reason, r.offset, r.partition)),
        "Partition and offset are swapped in the dead letters.",
    ),
    Mistake(
        partial(_count, letter=lambda e, r, at: (e.reason, r.partition, at)),
        "It notes the place in the list where the offset belongs. The offset is where the "
        "broker keeps the record, and how it is found again.",
    ),
    Mistake(
        partial(_count, letter=lambda e, r, at: (e, r.partition, r.offset)),
        "It keeps the exception itself. A dead letter needs the text: its `reason`.",
    ),
    Mistake(
        partial(_count, letter=lambda e, r, at: (type(e).__name__, r.partition, r.offset)),
        "It keeps the name of the exception, which is the same for all: use its `reason`.",
    ),
    Mistake(
        partial(_count, letter=lambda e, r, at: [e.reason, r.partition, r.offset]),
        "The dead letters are right, but each is a list: a tuple in round brackets is asked for.",
    ),
    Mistake(
        partial(_count, letter=lambda e, r, at: e.reason),
        "It keeps the reason alone. Without partition and offset the record cannot be found again.",
    ),
    Mistake(
        partial(_count, arrival=lambda record: 2**62),
        "It does not judge by the record's own `arrival`, so a click from the future "
        "passes. The clock on the wall says nothing about when a record came.",
    ),
    *same_idea(
        lambda records: _count([r._replace(arrival=records[0].arrival) for r in records]),
        lambda records: _count([r._replace(arrival=records[-1].arrival) for r in records]),
        cause="It judges every record by the arrival of one. Each has an `arrival` of its own.",
    ),
    *same_idea(
        partial(_one_per_reason, last=False),
        partial(_one_per_reason, last=True),
        cause="It keeps one dead letter for each reason. Two records may be broken in the same "
        "way, and both have to be found again.",
    ),
    Mistake(
        lambda records: (_count(records)[0], sorted(_count(records)[1])),
        "The dead letters are sorted. They are asked for in the order in which the records came.",
    ),
    Mistake(
        partial(_count, arrival=lambda record: 0),
        "Each click seems to come from the future: pass the record's `arrival` on.",
    ),
]
"""Models from records to the count and the dead letters."""


_views = partial(count_pages, key=lambda row: row[2])

ON_SPARK = [
    Mistake(
        partial(_views, click_types=BOTH_TYPES),
        "It counts actions as well: keep the rows whose `click_type` is `Page`.",
    ),
    Mistake(
        partial(_views, accepted=lambda row: True),
        "It counts rejected records: a click that carries a `reason` was not accepted.",
    ),
    Mistake(
        partial(_views, click_types=(*BOTH_TYPES, None), accepted=lambda row: True),
        "It counts all rows, actions and rejected records alike.",
    ),
    Mistake(
        partial(_views, accepted=lambda row: row[6] is not None),
        "It keeps the rejected records and drops the accepted ones: `reason` is null "
        "where nothing was wrong.",
    ),
    Mistake(
        partial(_views, click_types=("Action",)),
        "It counts actions instead of pages.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES, counts=lambda row: row[1] == "Page"),
        "Names without a page view appear with 0. Filter before you group: on a stream "
        "each name that is kept costs state.",
    ),
    Mistake(
        partial(_views, click_types=BOTH_TYPES, accepted=named_as_page),
        "It judges by the name: a page need not begin with a slash, and an action may. The kind "
        "stands in `click_type`.",
    ),
    Mistake(
        lambda rows: _views(list(dict.fromkeys(rows))),
        "It counts distinct values or drops duplicates, so an event that was delivered twice "
        "counts once. That is a good idea with a price (chapter 14); here every row counts.",
    ),
    Mistake(
        lambda rows: sorted((n, v) for (n, _), v in _views(rows, key=lambda r: (r[2], r[4]))),
        "A name stands in several rows: it is grouped by more than the name.",
    ),
    Mistake(
        partial(_views, key=lambda row: row[2].lower()),
        "It changes the names to small letters. A name stays as it is.",
    ),
    Mistake(
        lambda rows: [(name, 1) for name, _ in _views(rows)],
        "Each name has one view: duplicates were dropped before counting, or distinct "
        "values were counted. Here every event counts.",
    ),
    Mistake(
        lambda rows: [],
        "Nothing is left. Is a filter never true? `= NULL` never is (write `IS NULL`), "
        "and a type is written `Page`.",
    ),
]
"""Models from the rows of clicks to the rows of names and views."""

"""Wrong answers to "Totals of each visit on Spark", as queries over the rows of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from workbook.classroom.frames import Row
from workbook.classroom.mistakes import Mistake, same_idea

Rows = list[Any]


def _of(rows: Rows, kind: str) -> Rows:
    return [row for row in rows if row.type == kind]


def _cents(visit: Rows) -> int:
    return sum(row.cents or 0 for row in visit)


def _totals(
    rows: Rows,
    pages: Callable[[Rows], Any] = lambda visit: len(_of(visit, "tracking")),
    orders: Callable[[Rows], Any] = lambda visit: len(_of(visit, "order")),
    cents: Callable[[Rows], Any] = _cents,
    only: Iterable[str | None] | None = None,
) -> list[Row]:
    ssids = {row.ssid for row in rows if row.ssid is not None} if only is None else set(only)
    groups = {ssid: [row for row in rows if row.ssid == ssid] for ssid in ssids}
    return [(ssid, pages(v), orders(v), cents(v)) for ssid, v in groups.items()]


def _with_both(rows: Rows) -> set[str]:
    tracked, ordered = ({row.ssid for row in _of(rows, kind)} for kind in ("tracking", "order"))
    return tracked & ordered


def _or_null(visit: Rows) -> int | None:
    known = [row.cents for row in visit if row.cents is not None]
    return sum(known) if known else None


def _number_or_null(kind: str) -> Callable[[Rows], int | None]:
    return lambda visit: len(_of(visit, kind)) or None


def _null_for_none(cents: Callable[[Rows], Any], heartbeats: bool) -> Callable[[Rows], list[Row]]:
    """Return a query whose counts are sums of 1, which are null where there's nothing."""
    counts = {"pages": _number_or_null("tracking"), "orders": _number_or_null("order")}
    return lambda rows: _totals(
        rows, **counts, cents=cents, only={row.ssid for row in rows} if heartbeats else None
    )


def _by_type(rows: Rows) -> list[Row]:
    kinds = (_of(rows, kind) for kind in ("tracking", "order"))
    return [row for kind in kinds for row in _totals(kind)]


def _left(rows: Rows, cents: Callable[[Rows], Any] = _cents) -> list[Row]:
    """Join the orders to the tracking messages, which stay where there's no order."""
    found = []
    for ssid in {row.ssid for row in _of(rows, "tracking")}:
        visit = [row for row in rows if row.ssid == ssid]
        tracked, ordered = _of(visit, "tracking"), _of(visit, "order")
        pages, orders = len(tracked) * max(len(ordered), 1), len(tracked) * len(ordered)
        found.append((ssid, pages, orders, cents(ordered * len(tracked))))
    return found


def _pairs(rows: Rows) -> list[Row]:
    """Join both sides: each tracking message with each order."""
    found = []
    for ssid in _with_both(rows):
        visit = [row for row in rows if row.ssid == ssid]
        tracked, ordered = _of(visit, "tracking"), _of(visit, "order")
        pairs = len(tracked) * len(ordered)
        found.append((ssid, pairs, pairs, len(tracked) * sum(row.cents for row in ordered)))
    return found


MISTAKES = [
    Mistake(
        lambda rows: _totals(rows, only={row.ssid for row in rows}),
        "There's a row for `ssid` null: those are heartbeats, which belong to no visit. Leave them "
        "out before you group.",
    ),
    Mistake(
        lambda rows: _totals(rows, cents=_or_null),
        "A visit without orders has null for `cents`. The sum of nothing is null in SQL; "
        "`F.coalesce` makes a 0 of it.",
    ),
    Mistake(
        lambda rows: _totals(rows, cents=_or_null, only={row.ssid for row in rows}),
        "There's a row for `ssid` null, of the heartbeats, and `cents` is null where a visit has "
        "no order.",
    ),
    Mistake(
        _pairs,
        "That's a join: each tracking message with each order. Three of the one and three of the "
        "other make nine rows, and a visit without orders has none. Group instead.",
    ),
    *same_idea(
        _left,
        lambda rows: _left(rows, _or_null),
        cause="That's a left join: each tracking message with each order of its visit, so three of "
        "the one and three of the other make nine rows, and an order without pages has none. Group "
        "instead.",
    ),
    *same_idea(
        lambda rows: _totals(rows, orders=lambda visit: 0),
        lambda rows: _totals(rows, orders=lambda visit: 0, cents=_or_null),
        cause="`orders` is 0 in every row. Which `type` does its condition ask for? The column is "
        "called `orders`, the type `order`.",
    ),
    *same_idea(
        lambda rows: _totals(rows, pages=lambda visit: 0),
        lambda rows: _totals(rows, pages=lambda visit: 0, cents=_or_null),
        cause="`pages` is 0 in every row. Which `type` does its condition ask for? It's "
        "`tracking`, in small letters.",
    ),
    *same_idea(
        lambda rows: _totals(
            rows, lambda visit: len(_of(visit, "order")), lambda visit: len(_of(visit, "tracking"))
        ),
        cause="`pages` and `orders` have changed places.",
    ),
    *same_idea(
        lambda rows: _totals(rows, orders=len),
        lambda rows: _totals(rows, orders=len, cents=_or_null),
        cause="`orders` counts all messages of the visit, its pages among them.",
    ),
    *same_idea(
        lambda rows: _totals(_of(rows, "tracking")),
        lambda rows: _totals(_of(rows, "tracking"), cents=_or_null),
        cause="Only the tracking messages are counted: the orders were left out before the rows "
        "are grouped. Leave out the heartbeats only.",
    ),
    Mistake(
        lambda rows: _totals(_of(rows, "order")),
        "Only the orders are counted: the tracking messages, which have no `cents`, were left out "
        "before the rows are grouped. Leave out the heartbeats only.",
    ),
    Mistake(
        lambda rows: _totals(rows, only=_with_both(rows)),
        "Only visits with both kinds of messages are there. One without an order is a visit, too, "
        "and an order may come before everything else.",
    ),
    Mistake(
        lambda rows: _totals(rows, only={row.ssid for row in _of(rows, "tracking")}),
        "A visit of which only an order has come is missing. The two topics have no order between "
        "them: its tracking messages may come later.",
    ),
    Mistake(
        lambda rows: _totals(rows, only={row.ssid for row in _of(rows, "order")}),
        "Visits without an order are missing.",
    ),
    Mistake(
        lambda rows: _totals(rows, pages=len),
        "`pages` counts all messages of the visit, its orders among them.",
    ),
    Mistake(
        lambda rows: _totals(rows, pages=len, orders=len),
        "Both `pages` and `orders` count all messages of the visit. `F.count` takes every row that "
        "isn't null: use a condition.",
    ),
    Mistake(
        lambda rows: _totals(rows, pages=len, orders=len, cents=_or_null),
        "Both `pages` and `orders` count every message of the visit: `F.count` takes each row in "
        "which the condition isn't null, and false isn't null. `F.count_if` counts the true ones. "
        "And `cents` is null where a visit has no order.",
    ),
    Mistake(
        lambda rows: _totals(rows, pages=len, orders=len, only={row.ssid for row in rows}),
        "`F.count` takes each row in which the condition isn't null, and false isn't null: "
        "`F.count_if` counts the true ones. And the row for `ssid` null is of the heartbeats.",
    ),
    Mistake(
        lambda rows: _totals(
            rows, pages=len, orders=len, cents=_or_null, only={row.ssid for row in rows}
        ),
        "Begin with the counts: `F.count` takes each row in which the condition isn't null, and "
        "false isn't null. `F.count_if` counts the true ones. Then the heartbeats, which have a "
        "row for `ssid` null, and `cents`, which is null where a visit has no order.",
    ),
    Mistake(
        lambda rows: _totals(rows, pages=lambda v: len({r.page for r in v if r.page is not None})),
        "`pages` counts different pages. A page that was looked at twice counts twice.",
    ),
    Mistake(
        lambda rows: _totals(rows, orders=lambda v: sum(bool(r.cents) for r in v)),
        "An order of 0 cents is left out of `orders`. It's an order: look at `type`.",
    ),
    Mistake(
        lambda rows: _totals(rows, cents=lambda v: sum({r.cents or 0 for r in v})),
        "Two orders of the same price are added once. They're two orders.",
    ),
    Mistake(
        lambda rows: _totals(rows, cents=lambda v: max(r.cents or 0 for r in v)),
        "`cents` is the largest order, not the sum of all.",
    ),
    Mistake(
        _by_type,
        "A visit has two rows, one for each `type`. Group by `ssid` alone: then the aggregates "
        "look at both kinds.",
    ),
    Mistake(
        lambda rows: [],
        "No row is left. Each message lacks some fields: whoever drops rows with a null drops all "
        "of them. No message has two types at once: that's `|`, not `&`. And `!= None` is never "
        "true: `isNotNull()` asks for it.",
    ),
    *(
        Mistake(
            _null_for_none(cents, heartbeats),
            "`pages` or `orders` is null where a visit has none: a sum of nothing is null in SQL. "
            "`F.count_if` gives 0, and so does `F.when(…, 1).otherwise(0)`." + more,
        )
        for cents, heartbeats, more in (
            (_cents, False, ""),
            (_or_null, False, " The same holds for `cents`."),
            (_cents, True, " And the row for `ssid` null is of the heartbeats."),
            (_or_null, True, " The same holds for `cents`, and heartbeats belong to no visit."),
        )
    ),
]

"""Chapter 21: The changes of an update."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.us_share_holders.changes_of_an_update_mistakes import (
    LEFT_OUT,
    MISTAKES,
)

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""


def _row(client: str, ticker: str, amount: int, exchange: str = "NASDAQ") -> dict[str, Any]:
    return {"client": client, "ticker": ticker, "amount": amount, "exchange": exchange}


def changes(old: Fields | None, new: Fields | None) -> Iterator[tuple[str, int, Fields]]:
    if old == new:
        return
    for sign, row in ((-1, old), (1, new)):
        if row is not None and row["exchange"] in ("NYSE", "NASDAQ"):
            yield row["client"], sign, row


ADA, MORE, BO = _row("Ada", "AAPL", 10), _row("Ada", "AAPL", 20), _row("Bo", "AAPL", 10)
ABROAD, ABROAD_TOO = _row("Ada", "SAP", 7, "XETRA"), _row("Bo", "BP", 3, "LSE")
NYSE = _row("Ada", "IBM", 5, "NYSE")


def _each_field_alone() -> list[Case]:
    """Return updates of each field alone, there and back."""
    values = (("ticker", "KO"), ("exchange", "NASDAQ"), ("client", "Bo"), ("amount", 6))
    there = [(field, NYSE, {**NYSE, field: value}) for field, value in values]
    return [
        Case(
            (old, new),
            list(changes(old, new)),
            f"Only the {field} has changed, and so it's another row: the old one goes, the new one "
            "comes.",
        )
        for field, old, new in (*there, *((field, new, old) for field, old, new in there))
    ]


def _names_that_are_alike() -> list[Case]:
    """Return exchanges whose names hold a part of the two that count."""
    return [
        Case(
            (None, _row("Ada", "AAPL", 10, exchange)),
            [],
            f'The exchange is "{exchange}", which is neither "NYSE" nor "NASDAQ": the whole name '
            "has to be one of the two.",
        )
        for exchange in ("NASDAQ Riga", "NYSE Euronext", "Euronext NYSE", "NY", "NAS", "SE", "")
    ]


def _drawn_updates() -> Iterator[Case]:
    draw = random.Random(12)
    exchanges = ("NYSE", "NASDAQ", "XETRA", "LSE", "NEO", "SIX")
    for _ in range(30):
        rows = [
            _row(draw.choice(("Ida", "US")), "V", draw.randrange(2), draw.choice(exchanges))
            for _ in range(2)
        ]
        old, new = (draw.choice((row, row, row, None)) for row in rows)
        yield Case(
            (old, new),
            list(changes(old, new)),
            "This update was drawn by chance. Is there an old row of a US exchange, and a new one?",
        )


_TEACHING_UPDATES = [
    Case((None, ADA), [("Ada", 1, ADA)], "A new position: there is only the new row."),
    Case((None, NYSE), [("Ada", 1, NYSE)], "A new position, at the other US exchange."),
    Case(
        (ADA, None),
        [("Ada", -1, ADA)],
        "A tombstone: the old row goes, and it is the only one that knows the client.",
    ),
    Case(
        (ADA, BO),
        [("Ada", -1, ADA), ("Bo", 1, BO)],
        "The position moves: it leaves Ada before it comes to Bo.",
    ),
    Case(
        (ADA, MORE),
        [("Ada", -1, ADA), ("Ada", 1, MORE)],
        "The client stays, and the row does not: the old one goes, the new one comes.",
    ),
    Case((ADA, dict(ADA)), [], "The same row came again. Nothing has changed."),
    Case(
        (ADA, ABROAD),
        [("Ada", -1, ADA)],
        "It isn't a US share any more. For the groups that is a removal.",
    ),
    Case(
        (ABROAD, NYSE),
        [("Ada", 1, NYSE)],
        "It has become a US share. The old row was in no group, so nothing is taken out.",
    ),
    Case((ABROAD, ABROAD_TOO), [], "Neither row is a US share: no group changes."),
    Case((ABROAD, None), [], "The old row was in no group."),
    Case((None, None), [], "A tombstone for a position that was not there."),
]

changes_of_an_update = Problem(
    name="The changes of an update",
    task="Write the changes that an update of a position emits to the groups by client. `old` is "
    "the row before, `new` the row after; each is a dictionary with `client`, `ticker`, `amount` "
    "and `exchange`, or `None` where there is no row. Give triples `(client, sign, row)` in the "
    "order in which they are to be applied, in a list or by `yield`: sign `-1` for a row that "
    "goes, `+1` for one that comes. Only rows of a US exchange, `NYSE` or `NASDAQ`, are in a "
    "group. A record that came twice, with the row as it was, emits nothing.\n\n"
    "From Ada to Bo: `[('Ada', -1, old), ('Bo', +1, new)]`. Ten more for Ada: `[('Ada', -1, old), "
    "('Ada', +1, new)]`. Sold: `[('Ada', -1, old)]`.",
    stub="def changes(old, new):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_UPDATES, (*MISTAKES, *LEFT_OUT), any_iterable=True),
        by_cases(_each_field_alone(), LEFT_OUT, any_iterable=True),
        by_cases(_names_that_are_alike(), any_iterable=True),
        by_cases(smallest_first(_drawn_updates()), any_iterable=True),
    ),
    hints=(
        "There are two rows, and each may be missing. What becomes of the old one? What of the "
        "new one? Which goes first?",
        "Handle the two by themselves, with the same two questions: is there a row, and is it a US "
        "share? Each row brings its own client. Before all that, one comparison.",
        "Walk over `(-1, old)` and `(1, new)`; keep those whose row is there and whose exchange is "
        "one of the two.",
    ),
    reference=changes,
    discussion='No case is asked for by name: not "moved", not "closed", not "became a US '
    'share". Old row out, new row in, and each row brings its own client. The filter looks at the '
    "old row, too: only so a position that leaves the US exchanges leaves its group.\n\n"
    "The two triples may go to different places: Ada's group may be on another machine than Bo's. "
    "Then nothing keeps them together, and for a moment the position is with neither of them.",
)

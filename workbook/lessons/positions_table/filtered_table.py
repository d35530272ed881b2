"""Chapter 20: A filter on a table."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.events.positions import US
from workbook.lessons.positions_table.filtered_table_mistakes import MISTAKES, SHORTCUTS

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""


DELETE = "delete"


def filtered(old: Fields | None, new: Fields | None, keeps: Callable[[Fields], bool]) -> Any:
    before = old is not None and keeps(old)
    after = new is not None and keeps(new)
    if not after:
        return DELETE if before else None
    return None if old == new else new


@dataclass(frozen=True)
class Condition:
    """A condition of the cases: a function with a name that can be shown."""

    name: str
    holds: Callable[[Fields], bool]

    def __call__(self, row: Fields | None) -> bool:
        if row is None:
            raise TypeError("called with None: there isn't always an old row, nor a new one")
        return self.holds(row)

    def __repr__(self) -> str:
        return self.name


is_us = Condition("is_us", lambda row: row["exchange"] in US)
_OTHERS = (
    Condition("is_large", lambda row: row["amount"] >= 25),
    Condition("is_german", lambda row: row["exchange"] == "XETRA"),
    Condition("is_bobs", lambda row: row["client"] == "Bob"),
)


def _at(
    exchange: str, amount: int = 20, ticker: str = "AAPL", client: str = "Bob"
) -> dict[str, Any]:
    return {"client": client, "ticker": ticker, "amount": amount, "exchange": exchange}


def _drawn_changes() -> Iterator[Case]:
    """Yield pairs of rows that differ in a field or two, under one condition or another."""
    draw = random.Random(11)
    fields = {
        "client": ("Bob", "Ida"),
        "ticker": ("V", "KO"),
        "amount": (20, 30),
        "exchange": ("NYSE", "XETRA", "NEO"),
    }
    for keeps in (*_OTHERS, is_us) * 12:
        old = {name: draw.choice(values) for name, values in fields.items()}
        name = draw.choice(list(fields))
        new = {**old, name: draw.choice(fields[name])}
        rows = draw.choice(((None, new), (old, None), (old, new), (old, new), (old, new)))
        yield Case(
            (*rows, keeps),
            filtered(rows[0], rows[1], keeps),
            "The condition is another one here. Did it hold before, and does it hold now?",
        )


_TEACHING_CHANGES = [
    Case(
        (None, _at("NYSE"), is_us),
        _at("NYSE"),
        "A new US share: downstream has to have the row.",
    ),
    Case(
        (None, _at("XETRA"), is_us),
        None,
        "A new position, and not a US share. Downstream never gets it.",
    ),
    Case(
        (_at("NYSE"), _at("NYSE", 30), is_us),
        _at("NYSE", 30),
        "It was a US share and still is, with another amount: downstream has 20.",
    ),
    Case(
        (_at("NYSE"), _at("XETRA"), is_us),
        DELETE,
        "It isn't a US share any more, and downstream still has the old row.",
    ),
    Case(
        (_at("NYSE"), None, is_us),
        DELETE,
        "It was closed, and downstream still has the row.",
    ),
    Case(
        (_at("XETRA"), _at("NASDAQ"), is_us),
        _at("NASDAQ"),
        "It becomes a US share. Downstream gets it for the first time.",
    ),
    Case(
        (_at("XETRA"), _at("LSE"), is_us),
        None,
        "It was none and is none. Downstream has no row to change or delete.",
    ),
    Case(
        (_at("XETRA"), None, is_us),
        None,
        "It was closed, but downstream never had it.",
    ),
    Case((None, None, is_us), None, "A tombstone for something that never was."),
    Case(
        (_at("NYSE"), _at("NYSE"), is_us),
        None,
        "The same record came twice. Downstream has this very row.",
    ),
    Case(
        (_at("NYSE"), _at("NASDAQ"), is_us),
        _at("NASDAQ"),
        "It moves from one US exchange to another. The row has changed.",
    ),
    Case(
        (_at("NYSE", ticker="KO"), _at("NYSE", ticker="IBM"), is_us),
        _at("NYSE", ticker="IBM"),
        "Only the ticker has changed, and so the row has. Downstream still has KO.",
    ),
    Case(
        (_at("NYSE"), _at("NYSE", client="Ida"), is_us),
        _at("NYSE", client="Ida"),
        "Only the client has changed, and so the row has. Downstream still has Bob.",
    ),
]

filtered_table = Problem(
    name="A filter on a table",
    task="Somebody downstream keeps a table of US shares, and gets each change through a filter. "
    "Write the filter. It gets the row as it was (`None` if there was none), the row as it is now "
    "(`None` if there's none any more) and a function `keeps(row)`, which is true for rows that "
    "downstream wants. Return what the filter emits: the new row, `'delete'`, or `None` for "
    "nothing, because the table downstream is right already.\n\n"
    "For a position in New York that moves to Frankfurt, "
    "`filtered(row_at_nyse, row_at_xetra, is_us)` is `'delete'`.",
    stub="def filtered(old, new, keeps):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_CHANGES, MISTAKES),
        by_cases(smallest_first(_drawn_changes()), SHORTCUTS),
    ),
    hints=(
        "Draw a square: did the condition hold before, does it hold now? What does downstream have "
        "in each of the four corners, and what should it have?",
        "Two truth values decide: whether there was an old row that was kept, and whether there is "
        "a new one to keep. Ask the condition only of a row that exists.",
        "`before = old is not None and keeps(old)` is one of the two. In which corner is the "
        "delete?",
    ),
    reference=filtered,
    discussion="A filter on a stream looks at one record and lets it pass or not. A filter on a "
    "table needs the old row too, because only that shows whether there's something to take back. "
    "So somebody has to keep the old row: a filter on a table stands on state.\n\n"
    "It can do with less state and more records: a delete for everything that doesn't match is "
    "right too, if downstream bears deletes of what it never had. Kafka Streams does either, "
    "depending on whether the old value is at hand.",
)

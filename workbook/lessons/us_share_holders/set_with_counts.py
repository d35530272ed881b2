"""Chapter 21: A set with counts."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, by_cases
from workbook.lessons.us_share_holders.set_with_counts_mistakes import MISTAKES

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""


def held_after(held: Mapping[str, int], row: Fields, sign: int) -> dict[str, int]:
    ticker = row["ticker"]
    others = {each: count for each, count in held.items() if each != ticker}
    left = held.get(ticker, 0) + sign
    return {**others, ticker: left} if left else others


def _row(ticker: str, amount: int = 10) -> dict[str, Any]:
    return {"client": "Ada", "ticker": ticker, "amount": amount, "exchange": "NASDAQ"}


def _drawn_changes() -> Iterator[Case]:
    """Yield random changes; what goes has come before."""
    draw = random.Random(13)
    for size in range(30):
        names = draw.sample(("V", "GE", "SAP", "GOOGL", "BRK.A"), 1 + size % 4)
        held = {ticker: draw.choice((1, 1, 2, 3, 7, 250)) for ticker in names}
        ticker = draw.choice((*names, "F"))
        sign = draw.choice((-1, 1)) if ticker in held else 1
        row = _row(ticker, draw.choice((1, 2, 40)))
        yield Case(
            (held, row, sign),
            held_after(held, row, sign),
            "This change was drawn by chance. How many positions has the row's ticker now, and "
            "what of the others?",
        )


_TEACHING_CHANGES = [
    Case(({"AAPL": 1}, _row("AAPL"), 1), {"AAPL": 2}, "A second position in AAPL comes."),
    Case(
        ({"AAPL": 2, "IBM": 1}, _row("AAPL"), -1),
        {"AAPL": 1, "IBM": 1},
        "One of two positions in AAPL goes. The other is still there.",
    ),
    Case(
        ({"AAPL": 1, "IBM": 3}, _row("AAPL"), -1),
        {"IBM": 3},
        "The last position in AAPL goes, and so does its entry.",
    ),
    Case(
        ({}, _row("KO"), 1),
        {"KO": 1},
        "The client's first position: the dictionary is still empty.",
    ),
    Case(({"KO": 1}, _row("KO"), -1), {}, "The client's last position goes: an empty dictionary."),
    Case(({"IBM": 1}, _row("KO"), 1), {"IBM": 1, "KO": 1}, "The first position in KO comes."),
    Case(
        ({"KO": 3, "IBM": 2}, _row("KO", 3), -1),
        {"KO": 2, "IBM": 2},
        "One position in KO goes, of three shares. Two positions are left.",
    ),
    Case(({"KO": 12, "V": 1}, _row("KO", 1), -1), {"KO": 11, "V": 1}, "Eleven of twelve are left."),
]

set_with_counts = Problem(
    name="A set with counts",
    task="Write the adder and the subtractor of a client's tickers in one function. `held` is a "
    "dictionary from ticker to the number of positions that have it. `row` is a position that "
    "comes (`sign` is `+1`) or goes (`-1`). Return a new dictionary, as it is afterwards; a ticker "
    "of which no position is left isn't in it. What goes has always come before.\n\n"
    "With AAPL in the row, `count({'AAPL': 2}, row, -1)` gives `{'AAPL': 1}`, and once more `{}`.",
    stub="def count(held, row, sign):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_CHANGES, MISTAKES),
        by_cases(smallest_first(_drawn_changes())),
    ),
    hints=(
        "A set holds AAPL after one position and after two. What must be known to take one out?",
        "Compute the new number of the row's ticker first; it may have had none before. Then build "
        "a dictionary from the others, and put the ticker in if something is left of it.",
        "`held.get(row['ticker'], 0) + sign` is the new number.",
    ),
    reference=held_after,
    discussion="Add a row, subtract it, and the value equals what it was before: that's the whole "
    "contract of an adder and a subtractor, and worth a test with random rows. An entry with 0 "
    "would break it, and the group would never be empty, so the client would never leave the "
    "table.\n\n"
    "In place would be faster, and wrong where something still holds the old value: a cache, a "
    "log, or the state of the micro-batch before.",
)

"""Chapter 21: A subtractor."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from typing import Any

from workbook.exercises.chapters.us_share_holders.subtractor_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import one_after_another, smallest_first
from workbook.exercises.engine.judging import Case, by_cases

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""


def take_out(shares: Mapping[str, int], row: Fields) -> dict[str, int]:
    left = {**shares, row["ticker"]: shares[row["ticker"]] - row["amount"]}
    return {ticker: amount for ticker, amount in left.items() if amount > 0}


def _sold(ticker: str, amount: int) -> dict[str, Any]:
    return {"position": "p1", "client": "Ada", "ticker": ticker, "amount": amount}


def _drawn_sales() -> Iterator[Case]:
    draw = random.Random(14)
    for size in range(20):
        held = draw.sample(("V", "GE", "SAP", "GOOGL"), 1 + size % 4)
        shares = {ticker: draw.randrange(1, 5) * draw.choice((1, 1, 250)) for ticker in held}
        ticker = draw.choice(held)
        amount = draw.choice((shares[ticker], draw.randrange(1, shares[ticker] + 1)))
        yield Case(
            (shares, _sold(ticker, amount)),
            take_out(shares, _sold(ticker, amount)),
            "This row was drawn by chance. What is left of its ticker, and what of the others?",
        )


_TEACHING_SALES = [
    Case(
        ({"AAPL": 30, "IBM": 5}, _sold("AAPL", 10)),
        {"AAPL": 20, "IBM": 5},
        "Ten of thirty shares go. Twenty are left, of other positions in AAPL.",
    ),
    Case(
        ({"AAPL": 10, "IBM": 5}, _sold("AAPL", 10)),
        {"IBM": 5},
        "Nothing of AAPL is left, so its entry goes.",
    ),
    Case(
        ({"AAPL": 11, "IBM": 1}, _sold("AAPL", 10)),
        {"AAPL": 1, "IBM": 1},
        "One share is left of each. One share is a holding.",
    ),
    Case(
        ({"IBM": 5, "KO": 5, "AAPL": 2}, _sold("KO", 5)),
        {"IBM": 5, "AAPL": 2},
        "KO goes. IBM has as many shares, and stays.",
    ),
    Case(
        ({"AAPL": 20, "IBM": 50}, _sold("AAPL", 10)),
        {"AAPL": 10, "IBM": 50},
        "Ten go and ten are left.",
    ),
    Case(
        ({"AAPL": 10}, _sold("AAPL", 10)),
        {},
        "The last row of the group goes. An empty dictionary is left.",
    ),
]

subtractor = Problem(
    name="A subtractor",
    task="How many shares of each ticker does a client hold? The value of a group is a dictionary "
    "from ticker to the number of shares, and this is the adder:\n\n"
    "    def add(shares, row):\n"
    "        ticker = row['ticker']\n"
    "        return {**shares, ticker: shares.get(ticker, 0) + row['amount']}\n\n"
    "Write the subtractor that undoes it. `shares` holds the row that you take out, perhaps with "
    "others of the same ticker. Return a new dictionary; a ticker of which nothing is left is "
    "not in it.\n\n"
    "`take_out({'AAPL': 30, 'IBM': 5}, row)` with ten AAPL in the row gives "
    "`{'AAPL': 20, 'IBM': 5}`, and with thirty `{'IBM': 5}`.",
    stub="def take_out(shares, row):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_SALES, MISTAKES),
        by_cases(smallest_first(_drawn_sales())),
    ),
    hints=(
        "Undo the adder: the same steps, the other way. Then ask what `add` can never leave "
        "behind, and yours can.",
        "Compute what is left of the ticker. Build a new dictionary from the others, and put the "
        "rest in only if there is one.",
        "`left = shares[row['ticker']] - row['amount']`, and "
        "`{**shares, row['ticker']: left}` is a copy with it. One ticker may have to go.",
    ),
    reference=take_out,
    discussion="Add, then subtract, and the value is equal to what it was before: that is the "
    "whole contract, and worth a test with random rows. An entry with 0 would break it, and the "
    "group would never be empty, so the client would never leave the table.\n\n"
    "In place would be faster, and wrong where somebody still holds the old value: a cache, a log, "
    "or the state of the micro-batch before.",
)

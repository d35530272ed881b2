"""Wrong answers to "A subtractor", from a group's value and a row to the value without it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbook.exercises.engine.mistakes import Mistake

Fields = Mapping[str, Any]
Shares = Mapping[str, int]


def _left(shares: Shares, row: Fields) -> dict[str, int]:
    """Return all entries, also one that is empty."""
    return {**shares, row["ticker"]: shares[row["ticker"]] - row["amount"]}


def _subtract(shares: Shares, row: Fields) -> dict[str, int]:
    return {ticker: amount for ticker, amount in _left(shares, row).items() if amount > 0}


def _others(shares: Shares, row: Fields) -> dict[str, int]:
    return {ticker: amount for ticker, amount in shares.items() if ticker != row["ticker"]}


MISTAKES = [
    Mistake(
        _left,
        "A ticker of which nothing is left stays with 0. The client would seem to hold it, and the "
        "group would never be empty.",
    ),
    Mistake(
        _others,
        "The ticker goes with all its shares. Another position of the client may be in the same "
        "share: take out as many as the row has.",
    ),
    Mistake(
        lambda shares, row: {**_others(shares, row), row["ticker"]: row["amount"]},
        "The amount of the row replaces the number of shares. It is to be taken away from it.",
    ),
    Mistake(
        lambda shares, row: {**shares, row["ticker"]: shares[row["ticker"]] + row["amount"]},
        "It adds. This is the adder once more.",
    ),
    Mistake(
        lambda shares, row: {**shares, row["ticker"]: row["amount"] - shares[row["ticker"]]},
        "The subtraction is inverted: what is held, less what goes.",
    ),
    Mistake(
        lambda shares, row: _subtract(shares, {**row, "amount": 1}),
        "It takes out one share. The row says how many go.",
    ),
    Mistake(
        lambda shares, row: {t: n - row["amount"] for t, n in shares.items() if n > row["amount"]},
        "It takes the amount out of every ticker. Only the ticker of the row has changed.",
    ),
    Mistake(
        lambda shares, row: {t: n for t, n in _left(shares, row).items() if n > 1},
        "A ticker goes although one share of it is left. Only what has come to zero goes.",
    ),
    Mistake(
        lambda shares, row: {t: n for t, n in _left(shares, row).items() if n != row["amount"]},
        "It drops tickers whose number is the amount of the row. Compute what is left first, and "
        "drop that if it is zero.",
    ),
    Mistake(
        lambda shares, row: _subtract({row["ticker"]: shares[row["ticker"]]}, row),
        "The other tickers are lost. The result is the whole dictionary.",
    ),
    Mistake(
        lambda shares, row: shares[row["ticker"]] - row["amount"],
        "It returns what is left of the ticker, as a number. The whole dictionary is asked for.",
    ),
    Mistake(
        lambda shares, row: _subtract(shares, row) or None,
        "It returns None when nothing is left. To Kafka Streams that would mean the same; here an "
        "empty dictionary is asked for.",
    ),
    Mistake(
        lambda shares, row: list(_subtract(shares, row).items()),
        "It returns a list of pairs. A dictionary is asked for: the next call gets it as `shares`.",
    ),
    Mistake(lambda shares, row: dict(shares), "Nothing is taken out: the value is as it was."),
]

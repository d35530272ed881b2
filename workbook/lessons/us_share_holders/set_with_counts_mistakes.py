"""Wrong answers to "A set with counts", from what is held and a change to what is held then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbook.classroom.mistakes import Mistake, same_idea

Held = Mapping[str, int]
Row = Mapping[str, Any]


def _with_zero(held: Held, row: Row, sign: int) -> dict[str, int]:
    return {**held, row["ticker"]: held.get(row["ticker"], 0) + sign}


def _right(held: Held, row: Row, sign: int) -> dict[str, int]:
    return {ticker: left for ticker, left in _with_zero(held, row, sign).items() if left > 0}


def _others(held: Held, row: Row) -> dict[str, int]:
    return {ticker: left for ticker, left in held.items() if ticker != row["ticker"]}


MISTAKES = [
    *same_idea(
        _with_zero,
        lambda held, row, sign: {t: n for t, n in _with_zero(held, row, sign).items() if n >= 0},
        cause="A ticker of which nothing is left stays with 0. The group would never be empty, and "
        "the client would never leave the table.",
    ),
    *same_idea(
        lambda held, row, sign: {**held, row["ticker"]: 1} if sign > 0 else _others(held, row),
        lambda held, row, sign: (
            {**held, row["ticker"]: held.get(row["ticker"], 1)} if sign > 0 else _others(held, row)
        ),
        lambda held, row, sign: dict.fromkeys(
            {*held, row["ticker"]} if sign > 0 else _others(held, row), 1
        ),
        cause="It's still a set: a second position in the same ticker isn't counted, and the first "
        "one that goes takes the ticker with it.",
    ),
    Mistake(
        lambda held, row, sign: _with_zero(held, row, sign) if sign > 0 else _others(held, row),
        "It counts what comes. But the first position that goes takes the ticker with it, whatever "
        "its number: take away one.",
    ),
    Mistake(
        lambda held, row, sign: _right(held, row, 1),
        "It always adds. The sign says whether the row comes or goes.",
    ),
    *same_idea(
        lambda held, row, sign: _right(held, row, -sign),
        lambda held, row, sign: _with_zero(held, row, -sign),
        cause="The sign is turned round: +1 is a row that comes.",
    ),
    *same_idea(
        lambda held, row, sign: _right(held, row, sign * row["amount"]),
        lambda held, row, sign: _with_zero(held, row, sign * row["amount"]),
        cause="It counts shares. The number of positions is asked for: each row is one, whatever "
        "its amount.",
    ),
    *same_idea(
        lambda held, row, sign: _right({row["ticker"]: held.get(row["ticker"], 0)}, row, sign),
        lambda held, row, sign: {row["ticker"]: held.get(row["ticker"], 0) + sign},
        cause="The other tickers are lost. The result is the whole dictionary.",
    ),
    Mistake(
        lambda held, row, sign: {t: n for t, n in _with_zero(held, row, sign).items() if n > 1},
        "It leaves out tickers of which one position is left. One is enough.",
    ),
    *same_idea(
        lambda held, row, sign: {t: n + sign for t, n in held.items() if n + sign > 0},
        lambda held, row, sign: {t: n + sign for t, n in held.items()},
        cause="The sign goes to every ticker that is held. Only the row's ticker has changed, and "
        "it may be a new one.",
    ),
    Mistake(
        lambda held, row, sign: {**held, row["ticker"]: sign},
        "The sign replaces the number. It's to be added to it.",
    ),
    Mistake(
        lambda held, row, sign: held.get(row["ticker"], 0) + sign,
        "It returns the ticker's number. The whole dictionary is asked for: the next call gets it "
        "as `held`.",
    ),
    Mistake(
        lambda held, row, sign: set(_right(held, row, sign)),
        "It returns the set of the tickers, so the next call knows no numbers. Return the "
        "dictionary with the counts.",
    ),
    Mistake(
        lambda held, row, sign: list(_right(held, row, sign).items()),
        "It returns a list of pairs. A dictionary is asked for: the next call gets it as `held`.",
    ),
    Mistake(
        lambda held, row, sign: _right(held, row, sign) or None,
        "It returns None when nothing is left. To Kafka Streams that would mean the same; here an "
        "empty dictionary is asked for.",
    ),
    Mistake(
        lambda held, row, sign: _right(held, row, sign) if row["ticker"] in held else dict(held),
        "A ticker that isn't held yet is never added. `held` may not know the row's ticker.",
    ),
    Mistake(
        lambda held, row, sign: _right({row["ticker"]: 1, **held}, row, sign),
        "The first position of a ticker counts as two. Before it there is none: begin at 0.",
    ),
    Mistake(
        lambda held, row, sign: _right(held, {"ticker": row["client"]}, sign),
        "It counts under the client's name. The group is the client already; count by ticker.",
    ),
    Mistake(lambda held, row, sign: dict(held), "Nothing changes: the value is as it was."),
    Mistake(lambda held, row, sign: {}, "It always returns an empty dictionary."),
]
"""The answers of learners, as models; the first that gives the same names the cause."""

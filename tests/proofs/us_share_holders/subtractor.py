"""Answers to "A subtractor", right and wrong, as learners may write them."""

from __future__ import annotations

from collections import Counter

from proof import Catalogue

from workbook.exercises.chapters.us_share_holders.subtractor_mistakes import MISTAKES


def copies(shares, row):
    left = dict(shares)
    left[row["ticker"]] -= row["amount"]
    if not left[row["ticker"]]:
        del left[row["ticker"]]
    return left


def with_counters(shares, row):
    return Counter(shares) - Counter({row["ticker"]: row["amount"]})


def rest_and_others(shares, row):
    ticker, amount = row["ticker"], row["amount"]
    others = {t: n for t, n in shares.items() if t != ticker}
    left = shares[ticker] - amount
    return others | {ticker: left} if left else others


def in_place(shares, row):
    shares[row["ticker"]] -= row["amount"]
    if shares[row["ticker"]] == 0:
        shares.pop(row["ticker"])
    return shares


def in_place_without_return(shares, row):
    shares[row["ticker"]] -= row["amount"]


def keeps_zero(shares, row):
    return {**shares, row["ticker"]: shares[row["ticker"]] - row["amount"]}


def equal_to_row(shares, row):
    left = keeps_zero(shares, row)
    return {ticker: n for ticker, n in left.items() if n > 0 and n != row["amount"]}


def by_symbol(shares, row):
    return copies(shares, {"ticker": row["symbol"], "amount": row["amount"]})


def prints_shares(shares, row):
    print(copies(shares, row))


catalogue = Catalogue(
    right=[copies, with_counters, rest_and_others],
    wrong=[
        (in_place, "changes the input"),
        (in_place_without_return, "no `return` that is reached"),
        (equal_to_row, "IBM has as many shares"),
        (by_symbol, "raised KeyError"),
        (prints_shares, "prints the value"),
        (lambda shares: shares, "Keep the parameters"),
        ({"AAPL": 20}, "without parentheses"),
        (lambda shares, row: {t: n / 1 for t, n in copies(shares, row).items()}, "of type float"),
    ],
    shortcuts=[
        (lambda shares, row: {t: min(n, 50) for t, n in copies(shares, row).items()}, "by chance"),
    ],
    models=MISTAKES,
)

"""Answers to "A set with counts", right and wrong, as learners may write them."""

from __future__ import annotations

from collections import Counter

from proof import Catalogue

from workbook.lessons.us_share_holders.set_with_counts_mistakes import MISTAKES


def copies(held, row, sign):
    after = dict(held)
    after[row["ticker"]] = after.get(row["ticker"], 0) + sign
    if not after[row["ticker"]]:
        del after[row["ticker"]]
    return after


def with_counters(held, row, sign):
    after = Counter(held)
    after[row["ticker"]] += sign
    return +after


def two_ways(held, row, sign):
    ticker = row["ticker"]
    if sign == 1:
        return held | {ticker: held.get(ticker, 0) + 1}
    if held[ticker] == 1:
        return {t: n for t, n in held.items() if t != ticker}
    return held | {ticker: held[ticker] - 1}


def in_place(held, row, sign):
    held[row["ticker"]] = held.get(row["ticker"], 0) + sign
    if held[row["ticker"]] == 0:
        held.pop(row["ticker"])
    return held


def without_return(held, row, sign):
    held[row["ticker"]] = held.get(row["ticker"], 0) + sign


def never_new(held, row, sign):
    return copies({**held, row["ticker"]: held[row["ticker"]]}, row, sign)


def only_known(held, row, sign):
    after = dict(held)
    if row["ticker"] in after:
        after[row["ticker"]] += sign
    return {t: n for t, n in after.items() if n}


def begins_at_one(held, row, sign):
    after = dict(held)
    after[row["ticker"]] = after.get(row["ticker"], 1) + sign
    return {t: n for t, n in after.items() if n}


def keeps_zero(held, row, sign):
    return {**held, row["ticker"]: held.get(row["ticker"], 0) + sign}


def by_amount(held, row, sign):
    after = dict(held)
    after[row["ticker"]] = after.get(row["ticker"], 0) + sign * row["amount"]
    return {t: n for t, n in after.items() if n > 0}


def plain_set(held, row, sign):
    return {**held, row["ticker"]: 1} if sign == 1 else {t: 1 for t in held if t != row["ticker"]}


def prints_it(held, row, sign):
    print(copies(held, row, sign))


def up_to(most):
    return lambda held, row, sign: {t: min(n, most) for t, n in copies(held, row, sign).items()}


catalogue = Catalogue(
    right=[copies, with_counters, two_ways],
    wrong=[
        (in_place, "changes the input"),
        (without_return, "no `return` that is reached"),
        (never_new, "raised KeyError"),
        (only_known, "never added"),
        (begins_at_one, "begin at 0"),
        (keeps_zero, "stays with 0"),
        (by_amount, "counts shares"),
        (prints_it, "prints the value"),
        (lambda held, row: held, "Keep the parameters"),
        ({"AAPL": 1}, "without parentheses"),
        (lambda held, row, sign: set(copies(held, row, sign)), "set of the tickers"),
        (lambda held, row, sign: {t: n / 1 for t, n in copies(held, row, sign).items()}, "float"),
    ],
    shortcuts=[
        (plain_set, "still a set"),
        (up_to(3), "Eleven of twelve"),
        (up_to(20), "drawn by chance"),
        (
            lambda held, row, sign: {
                t: n for t, n in copies(held, row, sign).items() if t in ("AAPL", "KO", "IBM", "V")
            },
            "drawn by chance",
        ),
    ],
    models=MISTAKES,
)

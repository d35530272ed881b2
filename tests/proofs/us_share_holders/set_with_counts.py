"""Answers to "A set with counts", right and wrong, as learners may write them."""

from __future__ import annotations

from collections import Counter

from proof import Catalogue

from workbook.exercises.chapters.us_share_holders.set_with_counts_mistakes import MISTAKES


def with_a_list(changes):
    held = []
    for change, ticker in changes:
        held.append(ticker) if change == "add" else held.remove(ticker)
    return set(held)


def with_two_counters(changes):
    came = Counter(ticker for change, ticker in changes if change == "add")
    went = Counter(ticker for change, ticker in changes if change == "remove")
    return frozenset(came - went)


def with_deletes(changes):
    counts = {}
    for change, ticker in changes:
        counts[ticker] = counts.get(ticker, 0) + (1 if change == "add" else -1)
        if not counts[ticker]:
            del counts[ticker]
    return set(counts)


def plain_set(changes):
    held = set()
    for change, ticker in changes:
        if change == "add":
            held.add(ticker)
        else:
            held.discard(ticker)
    return held


def of(changes, word):
    return {ticker for change, ticker in changes if change == word}


def counted(changes):
    counts = Counter()
    for change, ticker in changes:
        counts[ticker] += 1 if change == "add" else -1
    return counts


def returns_inside(changes):
    held = set()
    for change, ticker in changes:
        if change == "add":
            held.add(ticker)
        return held
    return held


def compares_symbols(changes):
    return {ticker for change, ticker in changes if change == "+"}


def prints_tickers(changes):
    print(with_a_list(changes))


def counts_up_to(most):
    def answer(changes):
        counts = Counter()
        for change, ticker in changes:
            after = counts[ticker] + (1 if change == "add" else -1)
            counts[ticker] = min(most, after)
        return {ticker for ticker in counts if counts[ticker] > 0}

    return answer


catalogue = Catalogue(
    right=[with_a_list, with_two_counters, with_deletes],
    wrong=[
        (plain_set, "a plain set, or a note of the last change"),
        (lambda changes: set(counted(changes)), "added at any time"),
        (lambda changes: with_a_list(changes[:3]), "Both positions in AAPL"),
        (lambda changes, held: held, "Keep the parameters"),
        (returns_inside, "first change only"),
        (compares_symbols, "always empty"),
        (lambda changes: with_a_list(reversed(changes)), "raised ValueError"),
        (prints_tickers, "prints the value"),
        ({"AAPL"}, "without parentheses"),
    ],
    shortcuts=[
        (counts_up_to(3), "Of twelve positions"),
        (counts_up_to(5), "Of twelve positions"),
        (lambda changes: with_a_list(changes) & {"AAPL", "KO", "IBM"}, "drawn by chance"),
        (lambda changes: with_a_list(changes[:8]), "drawn by chance"),
    ],
    models=MISTAKES,
)

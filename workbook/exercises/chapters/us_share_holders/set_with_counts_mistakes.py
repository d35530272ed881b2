"""Wrong answers to "A set with counts", from the changes of a client to the set of tickers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from workbook.exercises.engine.mistakes import Mistake, same_idea

Pairs = Sequence[tuple[str, str]]


def _counts(changes: Pairs) -> Counter[str]:
    counts: Counter[str] = Counter()
    for change, ticker in changes:
        counts[ticker] += 1 if change == "add" else -1
    return counts


def _held(changes: Pairs) -> set[str]:
    return {ticker for ticker, count in _counts(changes).items() if count > 0}


def _plain_set(changes: Pairs) -> set[str]:
    held: set[str] = set()
    for change, ticker in changes:
        held = held | {ticker} if change == "add" else held - {ticker}
    return held


def _toggle(changes: Pairs) -> set[str]:
    held: set[str] = set()
    for _, ticker in changes:
        held = held ^ {ticker}
    return held


def _of(changes: Pairs, word: str) -> set[str]:
    return {ticker for change, ticker in changes if change == word}


MISTAKES = [
    Mistake(
        _plain_set,
        "It loses the ticker with the first of two positions that is closed: a plain set, or a "
        "note of the last change, doesn't know that there was a second one. Count them.",
    ),
    *same_idea(
        lambda changes: _of(changes, "add"),
        lambda changes: {ticker for ticker, count in _counts(changes).items() if count >= 0},
        cause="It gives every ticker that was added at any time. Is anything taken out, and is one "
        "with a count of zero left out of the result?",
    ),
    Mistake(
        lambda changes: _of(changes, "add") - _of(changes, "remove"),
        "What was removed once never comes back, and takes its twin with it. Count what comes "
        "and what goes.",
    ),
    Mistake(
        _toggle,
        "It puts a ticker in if it is not there and takes it out if it is. The second position in "
        "AAPL throws out the first: look at what the change says.",
    ),
    Mistake(
        lambda changes: {ticker for ticker, count in _counts(changes).items() if count > 1},
        "It leaves out tickers of which one position is left. One is enough.",
    ),
    *same_idea(
        lambda changes: {t: n for t, n in _counts(changes).items() if n > 0},
        lambda changes: dict(_counts(changes)),
        cause="It returns the counts. The set of the tickers is asked for, without the numbers.",
    ),
    *same_idea(
        lambda changes: sorted(_held(changes)),
        lambda changes: list(_counts(changes).elements()),
        cause="It returns a list. A set is asked for, in which each ticker stands once.",
    ),
    Mistake(
        lambda changes: len(_held(changes)),
        "It returns how many tickers there are. The tickers themselves are asked for.",
    ),
    Mistake(
        lambda changes: _held(changes[:1]),
        "It looks at the first change only. Does the `return` stand in the loop?",
    ),
    Mistake(
        lambda changes: set(),
        "The set is always empty. Is a comparison never true? A change is 'add' or 'remove'.",
    ),
]

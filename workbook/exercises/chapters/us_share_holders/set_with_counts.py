"""Chapter 21: A set with counts."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator

from workbook.exercises.chapters.us_share_holders.set_with_counts_mistakes import MISTAKES
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import one_after_another, smallest_first
from workbook.exercises.engine.judging import Case, by_cases


def tickers(changes: Iterable[tuple[str, str]]) -> set[str]:
    counts: Counter[str] = Counter()
    for change, ticker in changes:
        counts[ticker] += 1 if change == "add" else -1
    return {ticker for ticker, count in counts.items() if count > 0}


def _changes(text: str) -> list[tuple[str, str]]:
    """Parse ``+AAPL -IBM`` as changes."""
    words = {"+": "add", "-": "remove"}
    return [(words[word[0]], word[1:]) for word in text.split()]


def _drawn_sets() -> Iterator[Case]:
    """Yield random changes that remove only what is held."""
    draw = random.Random(13)
    for size in range(1, 25):
        held: list[str] = []
        drawn: list[tuple[str, str]] = []
        for _ in range(size):
            if held and draw.random() < 0.45:
                drawn.append(("remove", held.pop(draw.randrange(len(held)))))
            else:
                held.append(draw.choice(("V", "GE", "SAP", "GOOGL")))
                drawn.append(("add", held[-1]))
        yield Case(
            (drawn,),
            tickers(drawn),
            "These changes were drawn by chance. How many positions has each ticker at the end?",
        )


_TEACHING_SETS = [
    Case(
        (_changes("+AAPL +AAPL -AAPL"),),
        {"AAPL"},
        "Two positions in AAPL, and one of them is closed. The other is still there.",
    ),
    Case((_changes("+AAPL +IBM"),), {"AAPL", "IBM"}, "Two positions in two shares."),
    Case((_changes("+KO +KO +IBM"),), {"KO", "IBM"}, "KO twice is one ticker."),
    Case((_changes("+AAPL +IBM -AAPL"),), {"IBM"}, "AAPL is sold, IBM is not."),
    Case(
        (_changes("+AAPL +AAPL -AAPL -AAPL"),),
        set(),
        "Both positions in AAPL are closed.",
    ),
    Case(
        (_changes("+AAPL -AAPL +AAPL"),),
        {"AAPL"},
        "It was sold and bought again, or its amount has changed: AAPL is there.",
    ),
    Case(
        (_changes("+AAPL +AAPL +AAPL +KO -AAPL -KO -AAPL +IBM"),),
        {"AAPL", "IBM"},
        "Of three positions in AAPL two are closed, KO is gone, and IBM is new.",
    ),
    Case(
        (_changes("+KO " * 12 + "-KO " * 11),),
        {"KO"},
        "Of twelve positions in KO eleven are closed, and one is left.",
    ),
    Case(([],), set(), "No changes give an empty set."),
]

set_with_counts = Problem(
    name="A set with counts",
    task="Which tickers does a client hold? Write the fold over the changes of one client. Each "
    'change is a pair `("add", ticker)` or `("remove", ticker)`, one for each position that comes '
    "or goes. Return the set of the tickers of the positions that are there at the end. Two "
    "positions may have the same ticker.\n\n"
    '`[("add", "AAPL"), ("add", "AAPL"), ("remove", "AAPL")]` gives `{"AAPL"}`: one of the two '
    "positions is left. What is removed has always been added before.",
    stub="def tickers(changes):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_SETS, MISTAKES),
        by_cases(smallest_first(_drawn_sets())),
    ),
    hints=(
        "After two positions in AAPL a set holds AAPL, and after one it holds the same. What would "
        "you have to know to take one out?",
        "Keep for each ticker how many positions have it. At the end some tickers have none.",
        '`counts[ticker] += 1 if change == "add" else -1` on a `Counter` is the step.',
    ),
    reference=tickers,
    discussion="A union forgets how often a value was added, so it has no way back. Position "
    "ids had one only because each comes once. Whatever is to be subtracted must remember as "
    "much as it takes to undo: here a number for each ticker.\n\n"
    "Counts that have come to zero should go as well, or the state grows with every ticker that "
    'anybody ever held. `collect_set("ticker")` of the package does both.',
)

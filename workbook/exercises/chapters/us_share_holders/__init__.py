"""Exercises of chapter 11: who holds a US share?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from workbook.events.positions import US
from workbook.exercises.chapters.us_share_holders import wrong_models
from workbook.exercises.engine.choice import Option, choice
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import one_after_another, smallest_first
from workbook.exercises.engine.judging import Case, by_cases

Fields = Mapping[str, Any]
"""The fields of a position, as its record's value holds them."""


def _row(client: str, ticker: str, amount: int, exchange: str = "NASDAQ") -> dict[str, Any]:
    return {"client": client, "ticker": ticker, "amount": amount, "exchange": exchange}


# --- a change of amount -------------------------------------------------------------------------

change_of_amount = choice(
    name="A change of amount",
    task="Ada has one position, `p1`, ten shares of AAPL. Now a record says: `p1`, Ada, AAPL, "
    "twenty shares. Each update is worked off by itself, with the adder and the subtractor, and "
    "each result goes to the topic `us-share-holders`. What is written there?",
    options=(
        Option(
            "nothing: Ada held p1 before, and she holds p1 now",
            "In the end nothing has changed, yes. But the fold does not compare; what does it "
            "do with the old row, and what with the new one?",
        ),
        Option(
            "one record: Ada, [p1]",
            "That is what the adder gives. Which of the two functions is called before it?",
        ),
        Option("a tombstone for Ada, then Ada, [p1]"),
        Option(
            "Ada, [p1], then a tombstone for Ada",
            "These are the two results, but the order matters here: like this Ada would be "
            "gone for good.",
        ),
        Option(
            "one record: Ada, [p1, p1]",
            "A set holds `p1` once. And before it is added, something is taken out.",
        ),
    ),
    hints=(
        "An update is two calls. Which ones, and in which order?",
        "What is in Ada's set between the two calls? And what is written for a client whose set "
        "is empty?",
        "The subtractor takes out `p1`, and the set is empty. Then the adder puts `p1` in.",
    ),
    discussion="For a moment Ada holds nothing, and whoever reads the topic just then takes her "
    "off the mailing list. Nothing is wrong with the end, only with the middle.\n\n"
    "Section 5 of the chapter hides the middle, by looking less often. (Since version 3.5 Kafka "
    "Streams keeps both halves in one record when the group stays the same: KIP-904.)",
)

# --- what an update tells -----------------------------------------------------------------------


def changes(old: Fields | None, new: Fields | None) -> Iterator[tuple[str, str, Fields]]:
    if old == new:
        return
    for change, row in (("remove", old), ("add", new)):
        if row is not None and row["exchange"] in US:
            yield row["client"], change, row


ADA, MORE, BO = _row("Ada", "AAPL", 10), _row("Ada", "AAPL", 20), _row("Bo", "AAPL", 10)
ABROAD, ABROAD_TOO = _row("Ada", "SAP", 7, "XETRA"), _row("Bo", "BP", 3, "LSE")
NYSE = _row("Ada", "IBM", 5, "NYSE")


def _each_field_alone() -> list[Case]:
    """Return updates of each field alone, there and back."""
    values = (("ticker", "KO"), ("exchange", "NASDAQ"), ("client", "Bo"), ("amount", 6))
    there = [(field, NYSE, {**NYSE, field: value}) for field, value in values]
    return [
        Case(
            (old, new),
            list(changes(old, new)),
            f"Only the {field} has changed, and so it's another row: the old one goes, the new one "
            "comes.",
        )
        for field, old, new in (*there, *((field, new, old) for field, old, new in there))
    ]


def _names_that_are_alike() -> list[Case]:
    """Return exchanges whose names hold a part of the two that count."""
    return [
        Case(
            (None, _row("Ada", "AAPL", 10, exchange)),
            [],
            f'The exchange is "{exchange}", which is neither "NYSE" nor "NASDAQ": the whole name '
            "has to be one of the two.",
        )
        for exchange in ("NASDAQ Riga", "NYSE Euronext", "Euronext NYSE", "NY", "NAS", "SE", "")
    ]


def _drawn_updates() -> Iterator[Case]:
    draw = random.Random(12)
    exchanges = ("NYSE", "NASDAQ", "XETRA", "LSE", "NEO", "SIX")
    for _ in range(30):
        rows = [
            _row(draw.choice(("Ida", "US")), "V", draw.randrange(2), draw.choice(exchanges))
            for _ in range(2)
        ]
        old, new = (draw.choice((row, row, row, None)) for row in rows)
        yield Case(
            (old, new),
            list(changes(old, new)),
            "This update was drawn by chance. Is there an old row of a US exchange, and a new one?",
        )


_TEACHING_UPDATES = [
    Case((None, ADA), [("Ada", "add", ADA)], "A new position: there is only the new row."),
    Case((None, NYSE), [("Ada", "add", NYSE)], "A new position, at the other US exchange."),
    Case(
        (ADA, None),
        [("Ada", "remove", ADA)],
        "A tombstone: the old row goes, and it is the only one who knows the client.",
    ),
    Case(
        (ADA, BO),
        [("Ada", "remove", ADA), ("Bo", "add", BO)],
        "The position moves: it leaves Ada before it comes to Bo.",
    ),
    Case(
        (ADA, MORE),
        [("Ada", "remove", ADA), ("Ada", "add", MORE)],
        "The client stays, and the row does not: the old one goes, the new one comes.",
    ),
    Case((ADA, dict(ADA)), [], "The same row came again. Nothing has changed."),
    Case(
        (ADA, ABROAD),
        [("Ada", "remove", ADA)],
        "It is no US share any more. For the groups that is a removal.",
    ),
    Case(
        (ABROAD, NYSE),
        [("Ada", "add", NYSE)],
        "It has become a US share. The old row was in no group, so nothing is taken out.",
    ),
    Case((ABROAD, ABROAD_TOO), [], "Neither row is a US share: no group hears of it."),
    Case((ABROAD, None), [], "The old row was in no group."),
    Case((None, None), [], "A tombstone for a position that was not there."),
]

what_an_update_tells = Problem(
    name="What an update tells",
    task="Write what an update of a position tells the groups by client. `old` is the row before, "
    "`new` the row after; each is a dictionary with `client`, `ticker`, `amount` and `exchange`, "
    "or `None` where there is no row. Give triples `(client, change, row)` in the order in which "
    'they are to be worked off, in a list or by `yield`. A change is `"remove"` or `"add"`. Only '
    "rows of a US exchange, `NYSE` or `NASDAQ`, are in a group. A record that came twice, with the "
    "row as it was, tells nothing.\n\n"
    "From Ada to Bo: `[('Ada', 'remove', old), ('Bo', 'add', new)]`. Ten more for Ada: `[('Ada', "
    "'remove', old), ('Ada', 'add', new)]`. Sold: `[('Ada', 'remove', old)]`.",
    stub="def changes(old, new):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(
            _TEACHING_UPDATES, (*wrong_models.CHANGES, *wrong_models.LEFT_OUT), any_iterable=True
        ),
        by_cases(_each_field_alone(), wrong_models.LEFT_OUT, any_iterable=True),
        by_cases(_names_that_are_alike(), any_iterable=True),
        by_cases(smallest_first(_drawn_updates()), any_iterable=True),
    ),
    hints=(
        "There are two rows, and each may be missing. What becomes of the old one? What of the "
        "new one? Which goes first?",
        "Handle the two by themselves, with the same two questions: is there a row, and is it a US "
        "share? Each row brings its own client. Before all that, one comparison.",
        "Walk over `('remove', old)` and `('add', new)`; keep those whose row is there and whose "
        "exchange is in `US`.",
    ),
    reference=changes,
    discussion='No case is asked for by name: not "moved", not "closed", not "became a US '
    'share". Old row out, new row in, and each row speaks for itself.\n\n'
    "The two triples may go to different places: Ada's set may be on another machine than Bo's. "
    "Then nobody keeps them together, and for a moment the position is with neither of them.",
)

# --- a set with counts --------------------------------------------------------------------------


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
        by_cases(_TEACHING_SETS, wrong_models.TICKERS),
        by_cases(smallest_first(_drawn_sets())),
    ),
    hints=(
        "After two positions in AAPL a set says AAPL, and after one it says the same. What would "
        "you have to know to take one out?",
        "Keep for each ticker how many positions have it. At the end some tickers have none.",
        '`counts[ticker] += 1 if change == "add" else -1` on a `Counter` is the step.',
    ),
    reference=tickers,
    discussion="A union forgets how often it has heard a thing, so it has no way back. Position "
    "ids had one only because each comes once. Whatever is to be subtracted must remember as "
    "much as it takes to undo: here a number for each ticker.\n\n"
    "Counts that have come to zero should go as well, or the state grows with every ticker that "
    'anybody ever held. `collect_set("ticker")` of the package does both.',
)

# --- a subtractor -------------------------------------------------------------------------------


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
        "Ten of thirty go. Twenty are left, of other positions in AAPL.",
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
        by_cases(_TEACHING_SALES, wrong_models.SUBTRACT),
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

problems = (change_of_amount, what_an_update_tells, set_with_counts, subtractor)

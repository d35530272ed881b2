"""Models of the mistakes that learners make in chapter 11's exercises, each with its cause."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from workbook.events.positions import US
from workbook.exercises.engine.judging import Mistake, same_idea

Fields = Mapping[str, Any]
Row = Fields | None
Change = tuple[str, str, Row]

# --- what an update tells -----------------------------------------------------------------------


def _is_us(row: Fields) -> bool:
    return row["exchange"] in US


def _always(row: Fields) -> bool:
    return True


def _changes(
    old: Row,
    new: Row,
    *,
    same: Callable[[Row, Row], bool] = lambda old, new: old == new,
    removed: Callable[[Fields], bool] = _is_us,
    added: Callable[[Fields], bool] = _is_us,
) -> list[Change]:
    """Model a mistake: the right answer with one idea exchanged."""
    if same(old, new):
        return []
    told: list[Change] = []
    if old is not None and removed(old):
        told.append((old["client"], "remove", old))
    if new is not None and added(new):
        told.append((new["client"], "add", new))
    return told


def _field(*names: str) -> Callable[[Row, Row], bool]:
    """Return a comparison that takes rows for the same if these fields are."""

    def same(old: Row, new: Row) -> bool:
        if old is None or new is None:
            return old == new
        return all(old[name] == new[name] for name in names)

    return same


def _no_removal(old: Row, new: Row) -> list[Change]:
    return [told for told in _changes(old, new) if told[1] == "add"]


def _removal_by_tombstone(old: Row, new: Row) -> list[Change]:
    return _changes(old, new) if new is None else _no_removal(old, new)


def _same_client_adds(old: Row, new: Row) -> list[Change]:
    told = _changes(old, new)
    return told[1:] if len({client for client, _, _ in told}) < len(told) else told


def _with_update(old: Row, new: Row) -> list[Change]:
    told = _changes(old, new)
    if len({client for client, _, _ in told}) < len(told):
        return [(told[1][0], "update", new)]
    return told


def _new_clients_removal(old: Row, new: Row) -> list[Change]:
    """Remove the position from the client who gets it."""
    whose = new["client"] if new is not None else None
    return [(whose or c if what == "remove" else c, what, r) for c, what, r in _changes(old, new)]


def _new_row_removed(old: Row, new: Row) -> list[Change]:
    return [(client, what, new) for client, what, _ in _changes(old, new)]


def _each(change: Callable[[str, str, Row], Any]) -> Callable[[Row, Row], list[Any]]:
    """Model the right triples, each changed by ``change``."""
    return lambda old, new: [change(*told) for told in _changes(old, new)]


_NOT_THE_SAME: Callable[[Row, Row], bool] = lambda old, new: False  # noqa: E731

CHANGES = [
    Mistake(
        lambda old, new: _changes(old, new)[::-1],
        "The new row is added before the old one is removed. With the same client the removal then "
        "takes out what has just come in: remove first.",
    ),
    Mistake(
        partial(_changes, same=_field("client")),
        "When the client stays the same it tells nothing. But the row has changed, and a sum of "
        "amounts would never hear of it.",
    ),
    Mistake(
        partial(_changes, same=_field("client", "ticker", "exchange")),
        "A row that differs in its amount alone is taken for the same. Whoever adds up amounts "
        "would never hear of it.",
    ),
    Mistake(
        _same_client_adds,
        "When the client stays the same it only adds. A sum would then count the old row and the "
        "new one: the old row goes first.",
    ),
    Mistake(
        _with_update,
        'There is no change called "update": it is two, a removal of the old row and an addition '
        "of the new one. The groups know no other words.",
    ),
    Mistake(
        _no_removal,
        "Nothing is ever removed. What the old row put into a group stays there for ever.",
    ),
    Mistake(
        _removal_by_tombstone,
        "It removes by a tombstone only. An update takes the old row out too, or a position that "
        "moves is with both clients.",
    ),
    Mistake(
        partial(_changes, same=_NOT_THE_SAME),
        "A record that came twice is told as a removal and an addition. If the row is the same, "
        "nothing has changed.",
    ),
    *same_idea(
        partial(_changes, removed=_always, added=_always),
        partial(_changes, removed=_always, added=_always, same=_NOT_THE_SAME),
        cause="It looks at no exchange: SAP in Frankfurt is no US share. Both rows have to be "
        "asked.",
        shows=lambda old, new: "XETRA" in [row["exchange"] for row in (old, new) if row],
    ),
    Mistake(
        partial(_changes, removed=_always),
        "It asks the new row for its exchange, and not the old one. A row that was in no group "
        "cannot be removed from one.",
    ),
    Mistake(
        partial(_changes, added=_always),
        "It asks the old row for its exchange, and not the new one. A share of another country "
        "comes into a group.",
    ),
    Mistake(
        lambda old, new: _changes(old, new) if new is None or _is_us(new) else [],
        "When the new row is no US share it tells nothing. But the old one was, and has to go.",
    ),
    Mistake(
        lambda old, new: _changes(old, new) if old is None or _is_us(old) else [],
        "When the old row was no US share it tells nothing. But the new one is, and has to come.",
    ),
    *same_idea(
        partial(
            _changes,
            removed=lambda row: row["exchange"] == "NASDAQ",
            added=lambda row: row["exchange"] == "NASDAQ",
        ),
        cause="Only NASDAQ counts as a US exchange. NYSE is one as well.",
    ),
    Mistake(
        _new_clients_removal,
        "The removal names the client of the new row. The position leaves the one who had it: the "
        "old row knows.",
    ),
    Mistake(
        _new_row_removed,
        "The removal carries the new row. What has to be taken out is what was put in: the old "
        "row.",
    ),
    Mistake(
        lambda old, new: [
            (client, {"add": "remove", "remove": "add"}[what], row)
            for client, what, row in _changes(old, new)
        ],
        "The two words are swapped: the old row is removed, the new one is added.",
    ),
    Mistake(
        _each(lambda client, what, row: (what, client, row)),
        "The client comes first, then the change.",
    ),
    Mistake(
        _each(lambda client, what, row: (client, what)),
        "The row is missing. An adder and a subtractor need it: what is to be taken out?",
    ),
    Mistake(
        _each(lambda client, what, row: [client, what, row]),
        "The contents are right, but each triple is a list: a tuple in round brackets is asked "
        "for.",
    ),
    Mistake(
        lambda old, new: [_changes(old, new)],
        "It gives one list with all triples in it. Give each triple by itself.",
    ),
    *same_idea(
        lambda old, new: [],
        lambda old, new: _changes(old, new) if old is None and new is None else [],
        cause="It never tells anything. Is a condition never true, or does an early `return` end "
        "it?",
    ),
]
"""Models from the old and the new row to the triples (client, change, row)."""

_FIELDS = ("client", "ticker", "amount", "exchange")

LEFT_OUT = [
    Mistake(
        partial(_changes, same=_field(*(name for name in _FIELDS if name not in left_out))),
        f"It compares rows without their {' and '.join(left_out)}. A row that differs there "
        "alone is another row: compare whole rows, `old == new`.",
    )
    for many in (1, 2, 3)
    for left_out in combinations(_FIELDS, many)
]
"""Rows are taken for the same although a field has changed."""

# --- a set with counts --------------------------------------------------------------------------

Pairs = Sequence[tuple[str, str]]


def _counts(changes: Pairs) -> Counter[str]:
    counts: Counter[str] = Counter()
    for change, ticker in changes:
        counts[ticker] += 1 if change == "add" else -1
    return counts


def _held(changes: Pairs, least: int = 1) -> set[str]:
    return {ticker for ticker, count in _counts(changes).items() if count >= least}


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


def _first_only(changes: Pairs) -> set[str]:
    """Stop after the first change."""
    return _held(changes[:1])


TICKERS = [
    Mistake(
        _plain_set,
        "It loses the ticker with the first of two positions that is closed: a plain set, or a "
        "note of the last change, doesn't know that there was a second one. Count them.",
    ),
    *same_idea(
        lambda changes: _of(changes, "add"),
        partial(_held, least=0),
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
        partial(_held, least=2),
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
    Mistake(_first_only, "It looks at the first change only. Does the `return` stand in the loop?"),
    Mistake(
        lambda changes: set(),
        "The set is always empty. Is a comparison never true? A change is 'add' or 'remove'.",
    ),
]
"""Models from the changes of a client to the set of tickers."""

# --- a subtractor -------------------------------------------------------------------------------

Shares = Mapping[str, int]


def _left(shares: Shares, row: Fields, by: int | None = None) -> dict[str, int]:
    """Return all entries, also one that is empty."""
    ticker = row["ticker"]
    return {**shares, ticker: shares[ticker] - (row["amount"] if by is None else by)}


def _without(entries: Shares, gone: Callable[[int], bool] = lambda amount: amount <= 0) -> Any:
    return {ticker: amount for ticker, amount in entries.items() if not gone(amount)}


def _subtract(shares: Shares, row: Fields) -> dict[str, int]:
    found: dict[str, int] = _without(_left(shares, row))
    return found


def _others(shares: Shares, row: Fields) -> dict[str, int]:
    return {ticker: amount for ticker, amount in shares.items() if ticker != row["ticker"]}


SUBTRACT = [
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
        "The subtraction is turned round: what is held, less what goes.",
    ),
    Mistake(
        lambda shares, row: _without(_left(shares, row, by=1)),
        "It takes out one share. The row says how many go.",
    ),
    Mistake(
        lambda shares, row: _without({t: n - row["amount"] for t, n in shares.items()}),
        "It takes the amount out of every ticker. Only the ticker of the row has changed.",
    ),
    Mistake(
        lambda shares, row: _without(_left(shares, row), lambda amount: amount <= 1),
        "A ticker goes although one share of it is left. Only what has come to zero goes.",
    ),
    Mistake(
        lambda shares, row: _without(_left(shares, row), lambda amount: amount == row["amount"]),
        "It drops tickers whose number is the amount of the row. Compute what is left first, and "
        "drop that if it is zero.",
    ),
    Mistake(
        lambda shares, row: _without({row["ticker"]: shares[row["ticker"]] - row["amount"]}),
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
"""Models from a group's value and the row that goes to the value without it."""

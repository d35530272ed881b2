"""Chapter 20: A filter on a table."""

from collections.abc import Callable
from dataclasses import dataclass

from workbook.classroom.exercise import case, exercise, wrong
from workbook.streams.events.positions import US


def filtered(old, new, keeps):
    before = old is not None and keeps(old)
    after = new is not None and keeps(new)
    if not after:
        return "delete" if before else None
    return None if old == new else new


def by_tables(old, new, keeps):
    """Compare two tables of at most one row."""
    before, after = ([row for row in rows if row and keeps(row)] for rows in ([old], [new]))
    if before == after:
        return None
    return after[0] if after else "delete"


def changed(emit=lambda before, old: True, delete=lambda before, old, new: before):
    """Make two filters, one of which also emits a row that is the same as before.

    ``emit`` says whether a row that is kept is emitted, ``delete`` whether another one is deleted.
    """

    def answer(old, new, keeps, again=False):
        before = old is not None and keeps(old)
        if new is not None and keeps(new):
            return new if emit(before, old) and (again or old != new) else None
        return "delete" if delete(before, old, new) else None

    return answer, lambda old, new, keeps: answer(old, new, keeps, again=True)


@dataclass(frozen=True)
class Condition:
    """A condition whose name a card can show."""

    name: str
    holds: Callable

    def __call__(self, row):
        if row is None:
            raise TypeError("called with None: there isn't always an old row, nor a new one")
        return self.holds(row)

    def __repr__(self):
        return self.name


is_us = Condition("is_us", lambda row: row["exchange"] in US)
is_large = Condition("is_large", lambda row: row["amount"] >= 25)
is_bobs = Condition("is_bobs", lambda row: row["client"] == "Bob")


def at(exchange, amount=20, ticker="AAPL"):
    return {"client": "Bob", "ticker": ticker, "amount": amount, "exchange": exchange}


def draw(random, size):
    """Draw two rows that differ in one field, or in none, and a condition."""
    values = {
        "client": ("Bob", "Ida"),
        "ticker": ("V", "KO"),
        "amount": (0, 20, 30),
        "exchange": ("NYSE", "NASDAQ", "XETRA", "NEO"),
    }
    old = {name: random.choice(some) for name, some in values.items()}
    field = random.choice(list(values))
    new = {**old, field: random.choice(values[field])}
    rows = random.choice(((None, new), (old, None), (old, new), (old, new), (old, new)))
    return *rows, (is_us, is_large, is_bobs)[size % 3]


NYSE, XETRA = at("NYSE"), at("XETRA")

filtered_table = exercise(
    filtered,
    name="A filter on a table",
    task="Somebody downstream keeps a table of US shares, and each change of a position passes a "
    "filter first. Write the filter. Its arguments are the old row (`None` if there was none), the "
    "new row (`None` if the position was closed) and a function `keeps(row)`, which is true for "
    "the rows that downstream wants. Return what the filter emits: the new row, or `'delete'`, or "
    "`None` for nothing, if the table downstream is already right. If the row hasn't changed, the "
    "record was delivered twice: emit nothing.\n\n"
    "For a position in New York that moves to Frankfurt, "
    "`filtered(row_at_nyse, row_at_xetra, is_us)` is `'delete'`.",
    cases=[
        case("A new US share: downstream needs the row.", None, NYSE, is_us),
        case("A new position, and not a US share. Downstream never gets it.", None, XETRA, is_us),
        case("It was a US share and still is one, but downstream has the old amount.",
             NYSE, at("NYSE", 30), is_us),
        case("It isn't a US share any more, but downstream still has the old row. The text "
             "`'delete'` removes it.", NYSE, XETRA, is_us),
        case("It was closed, but downstream still has the row.", NYSE, None, is_us),
        case("It becomes a US share. Downstream gets it for the first time.",
             XETRA, at("NASDAQ"), is_us),
        case("It was no US share and still isn't one. Downstream has no row to change or delete.",
             XETRA, at("LSE"), is_us),
        case("It was closed, but downstream never had it.", XETRA, None, is_us),
        case("The same record was delivered twice. Downstream already has this row.",
             NYSE, at("NYSE"), is_us),
        case("The condition is `is_large` here. It holds for an amount of 30.",
             XETRA, at("XETRA", 30), is_large),
        case("A tombstone for a position that never existed.", None, None, is_us),
        case("It moves from one US exchange to another, so the row has changed.",
             NYSE, at("NASDAQ"), is_us),
    ],
    draw=draw,
    right=[by_tables],
    wrong=[
        wrong("It's the filter of a stream: it drops a row that doesn't match, and downstream "
              "keeps the old row for ever. Downstream needs a delete for a row that it has.",
              *changed(delete=lambda before, old, new: False)),
        wrong("It emits deletes for rows that downstream never had. They do no harm to the table, "
              "but nobody needs them. Apply the condition to the old row, too.",
              *changed(delete=lambda before, old, new: True),
              *changed(delete=lambda before, old, new: before or not new),
              *changed(delete=lambda before, old, new: old)),
        wrong("It emits a row when it begins to match, but not when it changes later. Downstream "
              "keeps the old row.", changed(emit=lambda before, old: not before)[0]),
        wrong("It checks the exchange itself instead of calling `keeps`. The condition is an "
              "argument of the filter: today it's US shares, tomorrow large amounts.",
              lambda old, new, keeps: filtered(old, new, is_us)),
        wrong("It emits every row, whether it's a US share or not. Does it call `keeps`?",
              lambda old, new, keeps: "delete" if new is None else new,
              lambda old, new, keeps: new),
    ],
    hints=(
        "Draw a square: did the condition hold before, and does it hold now? What does downstream "
        "have in each of the four corners, and what should it have?",
        "Two truth values decide: is there an old row that was kept, and is there a new row to "
        "keep? Apply the condition only to a row that exists. If both are true, compare the rows.",
        "`before = old is not None and keeps(old)` is one of the two. Which corner needs the "
        "delete?",
    ),
    discussion="A filter on a stream looks at one record. A filter on a table needs the old row, "
    "too, because only the old row shows whether there is something to delete downstream. So the "
    "old row must be kept: a filter on a table needs state.\n\n"
    "You can trade state for records: a delete for every row that doesn't match is right too, if "
    "downstream accepts deletes of rows that it never had. Kafka Streams does either, depending on "
    "whether it has the old value.",
)  # fmt: skip

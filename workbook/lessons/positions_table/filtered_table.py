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
    task="Somebody downstream keeps a table of US shares, and gets each change through a filter. "
    "Write the filter. It gets the row as it was (`None` if there was none), the row as it is now "
    "(`None` if there's none any more) and a function `keeps(row)`, which is true for rows that "
    "downstream wants. Return what the filter emits: the new row, `'delete'`, or `None` for "
    "nothing, because the table downstream is right already.\n\n"
    "For a position in New York that moves to Frankfurt, "
    "`filtered(row_at_nyse, row_at_xetra, is_us)` is `'delete'`.",
    cases=[
        case("A new US share: downstream needs the row.", None, NYSE, is_us),
        case("A new position, and not a US share. Downstream never gets it.", None, XETRA, is_us),
        case("It was a US share and still is. Downstream has the old amount.",
             NYSE, at("NYSE", 30), is_us),
        case("It isn't a US share any more, and downstream still has the old row. The text "
             "`'delete'` removes it.", NYSE, XETRA, is_us),
        case("It was closed, and downstream still has the row.", NYSE, None, is_us),
        case("It becomes a US share. Downstream gets it for the first time.",
             XETRA, at("NASDAQ"), is_us),
        case("It was no US share and is none now. Downstream has no row to change or delete.",
             XETRA, at("LSE"), is_us),
        case("It was closed, but downstream never had it.", XETRA, None, is_us),
        case("A tombstone for a position that never was.", None, None, is_us),
        case("The same record was delivered twice. Downstream has this very row.",
             NYSE, at("NYSE"), is_us),
        case("It moves from one US exchange to another, so the row has changed.",
             NYSE, at("NASDAQ"), is_us),
        case("Only the ticker has changed. Downstream still has AAPL.",
             NYSE, at("NYSE", ticker="IBM"), is_us),
        case("The condition is `is_large` here. It holds for an amount of 30.",
             XETRA, at("XETRA", 30), is_large),
    ],
    draw=draw,
    right=[by_tables],
    wrong=[
        wrong("It's the filter of a stream: a row that doesn't match is dropped in silence, and "
              "downstream keeps the old row forever. It needs a delete for a row that it had.",
              *changed(delete=lambda before, old, new: False)),
        wrong("It emits deletes for rows that downstream never had. That does no harm to the "
              "table, but nobody needs them. Ask the condition of the old row.",
              *changed(delete=lambda before, old, new: True),
              *changed(delete=lambda before, old, new: before or not new),
              *changed(delete=lambda before, old, new: old)),
        wrong("It emits a delete only when the position is closed. A row that no longer matches "
              "has to leave the table downstream, too.",
              *changed(delete=lambda before, old, new: before and not new)),
        wrong("It emits a row when it begins to match, but not when it changes later. Downstream "
              "keeps the old row.", changed(emit=lambda before, old: not before)[0]),
        wrong("It emits a row that is the same as before. Downstream has this very row already.",
              changed()[1]),
        wrong("It checks the exchange itself instead of calling `keeps`. A filter gets its "
              "condition as an argument: today US shares, tomorrow large amounts.",
              lambda old, new, keeps: filtered(old, new, is_us)),
        wrong("Nothing is filtered: every row is emitted, US share or not. Is the condition used?",
              lambda old, new, keeps: "delete" if new is None else new,
              lambda old, new, keeps: new),
    ],
    hints=(
        "Draw a square: did the condition hold before, does it hold now? What does downstream have "
        "in each of the four corners, and what should it have?",
        "Two truth values decide: whether there was an old row that was kept, and whether there is "
        "a new one to keep. Ask the condition only of a row that exists.",
        "`before = old is not None and keeps(old)` is one of the two. In which corner is the "
        "delete?",
    ),
    discussion="A filter on a stream looks at one record and lets it pass or not. A filter on a "
    "table needs the old row too, because only that shows whether there's something to take back. "
    "So somebody has to keep the old row: a filter on a table stands on state.\n\n"
    "It can do with less state and more records: a delete for everything that doesn't match is "
    "right too, if downstream bears deletes of what it never had. Kafka Streams does either, "
    "depending on whether the old value is at hand.",
)  # fmt: skip

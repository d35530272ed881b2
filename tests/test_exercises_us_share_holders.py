"""Chapter 21's exercises: the adder and the subtractor undo each other over many changes."""

import random

from workbook.lessons.us_share_holders.changes_of_an_update import changes
from workbook.lessons.us_share_holders.changes_of_an_update import held as row_of
from workbook.lessons.us_share_holders.set_with_counts import count
from workbook.streams.events.positions import US


def test_a_row_that_comes_and_goes_leaves_what_was_held_before():
    chance, held, rows = random.Random(11), {}, []
    for _ in range(500):
        rows.append({"ticker": chance.choice(["AAPL", "IBM", "KO"]), "amount": 7})
        before, held = held, count(held, rows[-1], 1)
        assert count(held, rows[-1], -1) == before
    for row in chance.sample(rows, len(rows)):
        held = count(held, row, -1)
    assert held == {}


def test_the_changes_of_updates_add_up_to_the_table():
    """Folding the changes of random updates gives who holds what in the table of latest rows."""
    chance, table, held = random.Random(12), {}, {}
    for _ in range(2000):
        key = chance.randrange(40)
        new = row_of(
            chance.choice("ABC"), "AAPL", chance.randint(1, 3), chance.choice(["NYSE", "LSE"])
        )
        new = None if chance.random() < 0.2 else new
        for client, sign, _ in changes(table.pop(key, None), new):
            own = held.setdefault(client, set())
            own.add(key) if sign > 0 else own.remove(key)
        if new is not None:
            table[key] = new
    for client, own in held.items():
        rows = table.items()
        assert own == {k for k, r in rows if r["client"] == client and r["exchange"] in US}

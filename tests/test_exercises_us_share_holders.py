"""Chapter 21's exercises: what isn't proven by its answers in ``proofs/us_share_holders``."""

from __future__ import annotations

import random

from workbook.events.positions import US
from workbook.exercises.chapters.us_share_holders.subtractor import take_out
from workbook.exercises.chapters.us_share_holders.what_an_update_tells import _row, changes


def test_take_out_undoes_the_adder_of_the_task():
    def add(shares, row):
        return {**shares, row["ticker"]: shares.get(row["ticker"], 0) + row["amount"]}

    chance, shares, rows = random.Random(11), {}, []
    for _ in range(500):
        rows.append(
            {"ticker": chance.choice(["AAPL", "IBM", "KO"]), "amount": chance.randint(1, 9)}
        )
        before, shares = shares, add(shares, rows[-1])
        assert take_out(shares, rows[-1]) == before
    for row in chance.sample(rows, len(rows)):
        shares = take_out(shares, row)
    assert shares == {}


def test_what_updates_tell_adds_up_to_the_table():
    """Folding the changes of random updates gives who holds what in the table of latest rows."""
    chance, table, held = random.Random(12), {}, {}
    for _ in range(2000):
        key = chance.randrange(40)
        new = _row(
            chance.choice("ABC"), "AAPL", chance.randint(1, 3), chance.choice(["NYSE", "LSE"])
        )
        new = None if chance.random() < 0.2 else new
        for client, change, _ in changes(table.pop(key, None), new):
            own = held.setdefault(client, set())
            own.add(key) if change == "add" else own.remove(key)
        if new is not None:
            table[key] = new
    for client, own in held.items():
        rows = table.items()
        assert own == {k for k, r in rows if r["client"] == client and r["exchange"] in US}

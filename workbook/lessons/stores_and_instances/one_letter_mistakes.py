"""Wrong answers to "One letter per micro-batch": what they write into the table of letters."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from workbook.classroom.mistakes import Mistakes

Rows = Sequence[tuple[str, int]]

MISTAKES = Mistakes()
"""The answers of learners, as they write them; the first that leaves the same names the cause."""


def _due(rows: Rows) -> list[str]:
    return [client for client, positions in rows if positions > 0]


def _insert(db: sqlite3.Connection, batch: object, clients: Sequence[object]) -> None:
    db.executemany("INSERT INTO letters VALUES (?, ?)", [(batch, client) for client in clients])


def _room(db: sqlite3.Connection, batch: int) -> None:
    db.execute("DELETE FROM letters WHERE batch = ?", (batch,))


@MISTAKES.add(
    "A micro-batch that comes again is written again: each client gets a second letter. What in "
    "the table says that this micro-batch is already there? (`INSERT OR IGNORE` ignores only what "
    "a unique index forbids, and there is none.)"
)
def appends(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    _insert(db, batch_id, _due(rows))


@MISTAKES.add(
    "It appends, whatever the table holds, and also for clients who hold nothing any more. Two "
    "things are missing: the look at `positions`, and the one at `batch_id`."
)
def appends_all(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    _insert(db, batch_id, [client for client, _ in rows])


@MISTAKES.add("A client who holds nothing any more gets a letter: `positions` is 0 there.")
def ignores_positions(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    _room(db, batch_id)
    _insert(db, batch_id, [client for client, _ in rows])


@MISTAKES.add(
    "It deletes all letters first, also those of the micro-batches before. Delete those of this "
    "one."
)
def empties_the_table(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    db.execute("DELETE FROM letters")
    _insert(db, batch_id, _due(rows))


@MISTAKES.add(
    "A client gets one letter and never another one. A later micro-batch, in which the holdings "
    "changed again, is a letter of its own: look for client and micro-batch."
)
def once_per_client(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    known = {client for (client,) in db.execute("SELECT client FROM letters")}
    _insert(db, batch_id, [client for client in _due(rows) if client not in known])


@MISTAKES.add(
    "It deletes the client's letters of earlier micro-batches. Those were sent; only this "
    "micro-batch may be written anew."
)
def replaces_the_clients(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    for client in _due(rows):
        db.execute("DELETE FROM letters WHERE client = ?", (client,))
        _insert(db, batch_id, [client])


@MISTAKES.add(
    "It deletes before each client, so only the last letter of the micro-batch is left. Make room "
    "once, before the loop."
)
def makes_room_each_time(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    for client in _due(rows):
        _room(db, batch_id)
        _insert(db, batch_id, [client])


@MISTAKES.add(
    "After the first client the table knows the micro-batch, so the others get no letter. Look "
    "once, before the loop."
)
def looks_each_time(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    for client in _due(rows):
        asked = db.execute("SELECT 1 FROM letters WHERE batch = ?", (batch_id,))
        if asked.fetchone() is None:
            _insert(db, batch_id, [client])


@MISTAKES.add(
    "Micro-batches are counted from 0, and the first one is never written: an empty table says "
    "None, not 0."
)
def begins_at_one(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    last = db.execute("SELECT max(batch) FROM letters").fetchone()[0] or 0
    if batch_id > last:
        _insert(db, batch_id, _due(rows))


@MISTAKES.add(
    "It writes while the table is empty, and never again. Look for letters of this micro-batch, "
    "not for any."
)
def writes_once(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    if db.execute("SELECT 1 FROM letters").fetchone() is None:
        _insert(db, batch_id, _due(rows))


_SWAPPED = (
    "The two columns are swapped, and SQLite takes it without a word: `letters` has `batch` first, "
    "then `client`."
)


@MISTAKES.add(_SWAPPED)
def appends_swapped(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    db.executemany("INSERT INTO letters VALUES (?, ?)", [(c, batch_id) for c in _due(rows)])


@MISTAKES.add(_SWAPPED)
def swaps_columns(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    db.execute("DELETE FROM letters WHERE client = ?", (batch_id,))
    db.executemany("INSERT INTO letters VALUES (?, ?)", [(c, batch_id) for c in _due(rows)])


@MISTAKES.add("It writes the number of positions where the number of the micro-batch belongs.")
def writes_positions(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    due = [(positions, client) for client, positions in rows if positions > 0]
    db.executemany("INSERT INTO letters VALUES (?, ?)", due)


@MISTAKES.add("Clients with one position get no letter. At least one is enough.")
def more_than_one(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    _room(db, batch_id)
    _insert(db, batch_id, [client for client, positions in rows if positions > 1])


@MISTAKES.add("No letter is written. Is there an INSERT that runs?")
def writes_nothing(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    _room(db, batch_id)


@MISTAKES.add("Only the first client gets a letter. Does a `return` stand in the loop?")
def only_the_first(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    _room(db, batch_id)
    _insert(db, batch_id, _due(rows)[:1])

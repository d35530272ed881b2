"""Answers to "One letter per micro-batch", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.stores_and_instances.one_letter_mistakes import MISTAKES


def looks_first(db, rows, batch_id):
    if db.execute("SELECT 1 FROM letters WHERE batch = ?", (batch_id,)).fetchone():
        return
    for client, positions in rows:
        if positions:
            db.execute("INSERT INTO letters (batch, client) VALUES (?, ?)", (batch_id, client))


def with_an_index(db, rows, batch_id):
    db.execute("CREATE UNIQUE INDEX IF NOT EXISTS once ON letters (batch, client)")
    due = [(batch_id, client) for client, positions in rows if positions >= 1]
    db.executemany("INSERT OR IGNORE INTO letters VALUES (?, ?)", due)


def row_by_row(db, rows, batch_id):
    for client, positions in rows:
        known = db.execute(
            "SELECT count(*) FROM letters WHERE batch = ? AND client = ?", (batch_id, client)
        ).fetchone()[0]
        if positions > 0 and not known:
            db.execute("INSERT INTO letters VALUES (?, ?)", (batch_id, client))


def commits(db, rows, batch_id):
    row_by_row(db, rows, batch_id)
    db.commit()


def commits_between(db, rows, batch_id):
    db.execute("DELETE FROM letters WHERE batch = ?", (batch_id,))
    db.commit()
    appends(db, rows, batch_id)


def in_a_with(db, rows, batch_id):
    with db:
        looks_first(db, rows, batch_id)


def as_a_script(db, rows, batch_id):
    due = [f"INSERT INTO letters VALUES ({batch_id}, '{c}')" for c, n in rows if n]
    db.executescript(";".join([f"DELETE FROM letters WHERE batch = {batch_id}", *due]))


def without_transactions(db, rows, batch_id):
    db.isolation_level = None
    looks_first(db, rows, batch_id)


def appends(db, rows, batch_id):
    for client, positions in rows:
        if positions > 0:
            db.execute("INSERT INTO letters VALUES (?, ?)", (batch_id, client))


def or_ignore(db, rows, batch_id):
    for client, positions in rows:
        if positions > 0:
            db.execute("INSERT OR IGNORE INTO letters VALUES (?, ?)", (batch_id, client))


done = set()


def remembers_in_memory(db, rows, batch_id):
    if batch_id not in done:
        done.add(batch_id)
        appends(db, rows, batch_id)


def for_all(db, rows, batch_id):
    db.execute("DELETE FROM letters WHERE batch = ?", (batch_id,))
    for client, _ in rows:
        db.execute("INSERT INTO letters VALUES (?, ?)", (batch_id, client))


def once_per_client(db, rows, batch_id):
    for client, positions in rows:
        known = db.execute("SELECT 1 FROM letters WHERE client = ?", (client,)).fetchone()
        if positions > 0 and not known:
            db.execute("INSERT INTO letters VALUES (?, ?)", (batch_id, client))


def looks_in_the_loop(db, rows, batch_id):
    for client, positions in rows:
        known = db.execute("SELECT 1 FROM letters WHERE batch = ?", (batch_id,)).fetchone()
        if positions > 0 and not known:
            db.execute("INSERT INTO letters VALUES (?, ?)", (batch_id, client))


def empties(db, rows, batch_id):
    db.execute("DELETE FROM letters")
    appends(db, rows, batch_id)


def begins_after_zero(db, rows, batch_id):
    last = db.execute("SELECT max(batch) FROM letters").fetchone()[0] or 0
    if batch_id > last:
        appends(db, rows, batch_id)


def swapped(db, rows, batch_id):
    for client, positions in rows:
        if positions > 0:
            db.execute("INSERT INTO letters VALUES (?, ?)", (client, batch_id))


def no_parameters(db, rows, batch_id):
    db.execute(f"DELETE FROM letters WHERE batch = {batch_id}")
    for client, positions in rows:
        if positions > 0:
            db.execute(f"INSERT INTO letters VALUES ({batch_id}, {client})")


def not_a_tuple(db, rows, batch_id):
    db.execute("DELETE FROM letters WHERE batch = ?", batch_id)
    appends(db, rows, batch_id)


def closes(db, rows, batch_id):
    looks_first(db, rows, batch_id)
    db.close()


def rolls_back(db, rows, batch_id):
    looks_first(db, rows, batch_id)
    db.rollback()


catalogue = Catalogue(
    right=[looks_first, with_an_index, row_by_row],
    wrong=[
        (appends, "second letter"),
        (remembers_in_memory, "kept from call to call"),
        (for_all, "`positions` is 0"),
        (once_per_client, "never another one"),
        (looks_in_the_loop, "Look once"),
        (empties, "deletes all letters"),
        (begins_after_zero, "counted from 0"),
        (swapped, "columns are swapped"),
        (no_parameters, "no such column: Ada"),
        (not_a_tuple, "ProgrammingError"),
        (closes, "closed database"),
        (rolls_back, "Is there an INSERT"),
        (commits, "commits by itself"),
        (lambda rows, batch_id: list(rows), "Keep the parameters"),
        ([(0, "Ada")], "without parentheses"),
    ],
    same=[
        (or_ignore, appends),
        (commits_between, commits),
        (in_a_with, commits),
        (as_a_script, commits),
        (without_transactions, commits),
    ],
    shortcuts=[
        (lambda db, rows, batch_id: looks_first(db, rows[:3], batch_id), "drawn by chance"),
        (
            lambda db, rows, batch_id: looks_first(
                db, [(c, n) for c, n in rows if c < "E"], batch_id
            ),
            "drawn by chance",
        ),
    ],
    models=MISTAKES,
)

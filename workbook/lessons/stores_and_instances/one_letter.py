"""Chapter 22: One letter per micro-batch."""

import sqlite3
from contextlib import closing

from workbook.classroom.exercise import case, exercise, wrong


def write_letters(db, rows, batch_id):
    due = [(batch_id, client) for client, positions in rows if positions > 0]
    db.execute("DELETE FROM letters WHERE batch = ?", (batch_id,))
    db.executemany("INSERT INTO letters VALUES (?, ?)", due)


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


def rehearse(answer):
    """Return the table after each step: (batch, rows) is committed, (batch, rows, False) isn't."""

    def written(steps):
        tables = []
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE TABLE letters (batch INTEGER, client TEXT)")
            db.commit()
            for batch_id, rows, *rolled_back in steps:
                answer(db, list(rows), batch_id)
                db.rollback() if rolled_back else db.commit()
                tables.append(sorted(db.execute("SELECT batch, client FROM letters"), key=repr))
        return tables

    return written


def writes(clear="batch = :batch", known=None, least=1, values=":batch, :client", each=False):
    """Return an answer that deletes what ``clear`` says and inserts what isn't ``known``."""

    def answer(db, rows, batch_id):
        for number, (client, positions) in enumerate(rows):
            fields = {"batch": batch_id, "client": client, "positions": positions}
            if clear and (each or not number):
                db.execute(f"DELETE FROM letters WHERE {clear}", fields)
            asked = f"SELECT 1 FROM letters WHERE {known or 'FALSE'}"
            if positions >= least and not db.execute(asked, fields).fetchone():
                db.execute(f"INSERT INTO letters VALUES ({values})", fields)

    return answer


def commits(db, rows, batch_id):
    write_letters(db, rows, batch_id)
    db.commit()


def draw(random, size):
    steps = []
    for number in range(random.choice((0, 7)), 8 + size % 5):
        clients = random.sample(("Ida", "Jo", "Kim", "Lea", "Max", "O'Hara"), random.randrange(6))
        step = number, tuple((client, random.choice((0, 1, 2, 40))) for client in clients)
        steps += [(*step, False)] * random.choice((0, 0, 1)) + [step] * random.choice((1, 1, 2, 3))
    return (steps,)


FIRST, SECOND = (0, (("Ada", 2), ("Bo", 1))), (1, (("Ada", 3), ("Cleo", 0), ("Dan", 1)))
THIRD = (2, (("Bo", 0), ("Ada", 1)))

one_letter = exercise(
    write_letters,
    name="One letter per micro-batch",
    task="Write the function that `foreachBatch` calls for the mailing list. `db` is a SQLite "
    "connection with a table `letters (batch INTEGER, client TEXT)`. `rows` are the pairs "
    "`(client, positions)` that changed in this micro-batch, and `batch_id` is its number. Write "
    "one row into `letters` for each of these clients who holds at least one position.\n\n"
    "After a crash Spark repeats the micro-batch with the same number. Then there must be no "
    "second row, although the new process remembers nothing but the table. The caller commits, or "
    "rolls everything back.\n\n"
    "`[('Ada', 2), ('Cleo', 0)]` as micro-batch 7, once or twice, leaves the one row `(7, 'Ada')`."
    "\n\nThe check shows each call as `(batch_id, rows)`, followed by `False` if the caller "
    "rolled back, and then the table after each call.",
    cases=[
        case("Two clients hold positions: each gets a letter of micro-batch 0.", [FIRST]),
        case("Micro-batch 0 is processed twice, as after a crash.", [FIRST, FIRST]),
        case("Cleo holds nothing any more, so Cleo gets no letter.", [SECOND]),
        case("Ada's holdings changed in two micro-batches, so she gets two letters.",
             [FIRST, SECOND]),
        case("Only micro-batch 1 is processed twice.", [FIRST, SECOND, SECOND, THIRD]),
        case("A micro-batch may be empty. Then nobody gets a letter.", [(0, ())]),
        case("The caller rolls micro-batch 1 back (`False`), so the table is as before.",
             [FIRST, (*SECOND, False)]),
        case("Micro-batch 0 is processed again and rolled back: its letters are still there.",
             [FIRST, (*FIRST, False)]),
    ],
    draw=draw,
    rehearse=rehearse,
    right=[looks_first, with_an_index],
    wrong=[
        wrong("It writes a repeated micro-batch again. What in the table shows that it's already "
              "there? `INSERT OR IGNORE` ignores only rows that a unique index forbids.",
              writes(clear=None)),
        wrong("A client who holds nothing any more gets a letter.", writes(least=0)),
        wrong("It deletes the letters of other micro-batches, too. Delete only those of this "
              "micro-batch.",
              writes("TRUE"), writes("client = :client", each=True)),
        wrong("A client gets one letter and never another one. A later micro-batch needs a letter "
              "of its own: look for the client and the micro-batch.",
              writes(None, "client = :client")),
        wrong("Only one letter of a micro-batch is left. Does it look or delete once per client, "
              "does it `return` inside the loop, or is an index unique for `batch` alone?",
              writes(None, "batch = :batch"), writes(each=True)),
        wrong("The two columns are swapped, and SQLite doesn't complain: `letters` has `batch` "
              "first, then `client`.", writes(values=":client, :batch")),
        wrong("It commits by itself, so the caller couldn't roll back. Leave out `commit()`, "
              "`with db:` and `executescript`.", commits),
    ],
    hints=(
        "Write it without the crash first: one INSERT per client who holds positions. What would "
        "the table have to show, so that you notice the second time?",
        "Either look whether the table already has this micro-batch, or delete this micro-batch "
        "first. Both look for the number of the micro-batch, not for the client.",
        "`db.execute('DELETE FROM letters WHERE batch = ?', (batch_id,))`, and then insert.",
    ),
    discussion="Delete and insert in one transaction: however often the micro-batch is repeated, "
    "the table is the same. Looking for the number first works too, and so does a unique index "
    "with `INSERT OR IGNORE`. These two also keep what another program has noted in the rows.\n\n"
    "All of them rest on Spark's promise: the same number means the same offsets, and therefore "
    "the same rows. The promise holds as long as the checkpoint exists. With a new checkpoint the "
    "numbers begin at 0 again, and this table would lose letters. So keep the query's id beside "
    "the number, as the workbook's `Store` does.",
)  # fmt: skip

"""Chapter 41: Write each micro-batch once."""

import random
from dataclasses import replace

import psycopg

from workbook.classroom.core import Problem
from workbook.classroom.exercise import BY_CHANCE, stub_of, wrong
from workbook.classroom.judging import NotYet, by_cases, not_callable_so
from workbook.lessons.ad_counts.on_postgres import (
    BIKE,
    MORE,
    Run,
    random_runs,
    rehearsed,
    schema,
    told,
)

ADD = (
    "INSERT INTO counts VALUES (%s, %s, %s, %s) ON CONFLICT (ad, day, type) "
    "DO UPDATE SET count = counts.count + excluded.count"
)
MOVE = "INSERT INTO fence VALUES (%s, %s) ON CONFLICT (query) DO UPDATE SET batch = excluded.batch"


def write_once(db, counts, query, batch):
    last = db.execute("SELECT batch FROM fence WHERE query = %s", [query]).fetchone()
    if last and batch <= last[0]:
        return
    db.cursor().executemany(ADD, counts)
    db.execute(MOVE, [query, batch])


def fence_first(db, counts, query, batch):
    moved = db.execute(f"{MOVE} WHERE fence.batch < excluded.batch", [query, batch])
    if moved.rowcount:
        for row in counts:
            db.execute(ADD, row)


def by_itself(db, counts, query, batch):
    with db.transaction():
        known = dict(db.execute("SELECT * FROM fence FOR UPDATE").fetchall())
        if known.get(query, -1) < batch:
            db.cursor().executemany(ADD, counts)
            db.execute("DELETE FROM fence WHERE query = %s", [query])
            db.execute("INSERT INTO fence VALUES (%s, %s)", [query, batch])
    db.commit()


def writing(
    last="SELECT batch FROM fence WHERE query = %(query)s", add=ADD, move=MOVE,
    done=lambda last, batch: last is not None and batch <= last, steps=("add", "move"),
):  # fmt: skip
    """Make an answer of its parts; with the defaults it's right."""

    def answer(db, counts, query, batch):
        row = db.execute(last, {"query": query}).fetchone()
        if done(row[0] if row else None, batch):
            return
        for step in steps:
            if step == "add":
                db.cursor().executemany(add, counts)
            elif step == "move":
                db.execute(move, [query, batch])
            else:
                db.commit()

    return answer


def swallows(db, counts, query, batch):
    try:
        write_once(db, counts, query, batch)
    except psycopg.Error as error:
        print(error)


UPDATE = "UPDATE fence SET query = %s, batch = %s"
NEVER = "A micro-batch that is handed in again is counted again. "
WRONG = [
    wrong(NEVER + "Either nothing looks into `fence`, or the row isn't there: an `UPDATE` changes "
          "nothing while no row exists. Or the same number passes: use `<=`.",
          writing(done=lambda last, batch: False), writing(move=UPDATE),
          writing(done=lambda last, batch: last is not None and batch < last)),
    wrong("It compares the number alone. A query with a fresh checkpoint has another id and begins "
          "at 0 again, and its first micro-batches are skipped without a word. Look for the id.",
          writing("SELECT max(batch) FROM fence")),
    wrong("It commits the counts before the fence. If the process dies between these two commits, "
          "the fence doesn't know, and the counts are added again: the old gap in a new place.",
          writing(steps=("add", "commit", "move")),
          writing(steps=("add", "commit", "move", "commit"))),
    wrong("It commits the fence before the counts. If the process dies between these two commits, "
          "the fence says that the micro-batch is done, and its counts are lost.",
          writing(steps=("move", "commit", "add")),
          writing(steps=("move", "commit", "add", "commit"))),
    wrong("It asks for the same number. An older micro-batch may come again, too: use `<=`.",
          writing(done=lambda last, batch: last == batch)),
    wrong("It replaces a count, or leaves it as it was. The counts of a micro-batch are new: add "
          "them to those in the table.", writing(add=ADD.replace("counts.count + ", "")),
          writing(add=ADD.replace("counts.count + ", ""), done=lambda last, batch: False),
          writing(add=ADD.split(" DO ")[0] + " DO NOTHING")),
    wrong("It catches the error. So the function returns, Spark commits its checkpoint, and the "
          "micro-batch isn't handed in again: its counts are lost. Let the error pass.", swallows),
]  # fmt: skip


CASES = [
    told("This micro-batch has two counts: both are added, and once.", Run(MORE, "a", 0)),
    told("Micro-batch 1 adds to the counts of 0.", Run(BIKE, "a", 0), Run(MORE, "a", 1)),
    told("It dies after the commit, so Spark hands the micro-batch in again: it counts once.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1, "checkpoint")),
    told("Micro-batch 0, too, may be handed in again.", Run(BIKE, "a", 0, "checkpoint")),
    told("Query `b` has a fresh checkpoint, so its numbers begin at 0. Its counts are new ones.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1), Run(BIKE, "b", 0), Run(MORE, "b", 1, "checkpoint")),
    told("Micro-batch 0 comes again after 1: an older one adds nothing, either.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1), Run(BIKE, "a", 0)),
    told("Two queries take turns, and micro-batch 1 of `a` comes again after 1 of `b`.",
         Run(BIKE, "a", 0), Run(BIKE, "b", 0), Run(MORE, "a", 1), Run(BIKE, "b", 1, "checkpoint"),
         Run(MORE, "a", 1)),
    told("It dies while it writes the fence. Nothing may be left of the first attempt.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1, "fence")),
    told("It dies while it writes the boat's row. Nothing may be left of the first attempt.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1, "boat")),
    told("It dies before the caller commits.", Run(MORE, "a", 0, "commit")),
    told("A micro-batch may have no counts.", Run([], "a", 0), Run(BIKE, "a", 1)),
    *(told(BY_CHANCE, *random_runs(random.Random(seed))) for seed in range(12)),
]  # fmt: skip


def diagnose(answer, url=None):
    if url is None:
        return NotYet("This check needs the database: write `check(answer, url=url)`.")
    if misuse := not_callable_so(answer, (None,) * 4):
        return misuse
    with schema(url) as how:
        models = [replace(m, model=rehearsed(m.model, how)) for idea in WRONG for m in idea]
        return by_cases(CASES, models)(rehearsed(answer, how))


fenced = Problem(
    name="Write each micro-batch once",
    task="Write the function that adds the counts of a micro-batch to the database. `db` is an "
    "open connection of psycopg. The caller commits after your function, or rolls back if it "
    "raises an error. `counts` are rows (ad, day, type, count) to be added to the table "
    "`counts`, as above; `query` is the query's id (a text), and `batch` is the number of the "
    "micro-batch, from 0.\n\nBeside `counts` is a table `fence (query text PRIMARY KEY, batch "
    "bigint NOT NULL)`, empty at first. Use it so that each micro-batch is added once, wherever "
    "the process dies before Spark hands the micro-batch in again. A query with a fresh checkpoint "
    "has another id, and its counts are new ones.\n\nOne view of the bike as micro-batch 0 of "
    "query `a`, handed in twice, makes a count of 1. Handed in once more as micro-batch 0 of `b`, "
    "it makes 2.",
    stub=stub_of(write_once),
    diagnose=diagnose,
    hints=(
        "The database itself must know which micro-batches it has. What do you ask `fence` before "
        "you write, what do you write into it, and in which transaction?",
        "Three steps: select the query's number; return if the new one isn't greater; else add "
        "the counts and upsert the query's row. Leave the commit to the caller: then all of it is "
        "one transaction.",
        "`INSERT INTO fence VALUES (%s, %s) ON CONFLICT (query) DO UPDATE SET batch = "
        "excluded.batch` writes the row, whether or not there was one.",
    ),
    reference=write_once,
    discussion="Counts and fence are committed together or not at all. If Spark hands the "
    "micro-batch in again, the fence shows it. This relies on a promise: for one query id, a "
    "number always means the same offsets, and the same actions in them.\n\nTwo runs of one query "
    "at the same time are another matter: both may read the fence before either has moved it. "
    "`SELECT … FOR UPDATE` makes the second one wait.",
    right=[fence_first, by_itself],
    wrong=[each for idea in WRONG for each in idea],
)

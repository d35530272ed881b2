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
NEVER = "It counts a micro-batch again when Spark hands it in again. "
WRONG = [
    wrong(NEVER + "Perhaps your function never reads `fence`, or `fence` has no row: an `UPDATE` "
          "changes nothing if no row exists. Or it lets the same number pass: use `<=`.",
          writing(done=lambda last, batch: False), writing(move=UPDATE),
          writing(done=lambda last, batch: last is not None and batch < last)),
    wrong("It compares only the number. A query with a fresh checkpoint has another id, and its "
          "numbers begin at 0. Your function skips its first micro-batches. Compare the id, too.",
          writing("SELECT max(batch) FROM fence")),
    wrong("It commits the counts before the fence. If the process dies between these two commits, "
          "the fence doesn't have the micro-batch, and its counts are added again.",
          writing(steps=("add", "commit", "move")),
          writing(steps=("add", "commit", "move", "commit"))),
    wrong("It commits the fence before the counts. If the process dies between these two commits, "
          "the fence says that the micro-batch is done, and its counts are lost.",
          writing(steps=("move", "commit", "add")),
          writing(steps=("move", "commit", "add", "commit"))),
    wrong("It skips only the same number. An older one may be handed in again, too: use `<=`.",
          writing(done=lambda last, batch: last == batch)),
    wrong("It replaces the count in the table, or leaves it unchanged. Add the micro-batch's count "
          "to it.", writing(add=ADD.replace("counts.count + ", "")),
          writing(add=ADD.replace("counts.count + ", ""), done=lambda last, batch: False),
          writing(add=ADD.split(" DO ")[0] + " DO NOTHING")),
    wrong("It catches the error. So your function returns, Spark commits its checkpoint, and never "
          "hands in this micro-batch again: its counts are lost. Don't catch the error.", swallows),
]  # fmt: skip


CASES = [
    told("This micro-batch has two counts, and each is added once.", Run(MORE, "a", 0)),
    told("Micro-batch 1 adds to the counts of 0.", Run(BIKE, "a", 0), Run(MORE, "a", 1)),
    told("It dies after the commit, so Spark hands the micro-batch in again: it counts once.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1, "checkpoint")),
    told("Micro-batch 0 is handed in again.", Run(BIKE, "a", 0, "checkpoint")),
    told("Query `b` has a fresh checkpoint, so its numbers begin at 0. Its counts are new.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1), Run(BIKE, "b", 0), Run(MORE, "b", 1, "checkpoint")),
    told("Micro-batch 0 is handed in again after 1. It must add nothing.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1), Run(BIKE, "a", 0)),
    told("Two queries take turns. Micro-batch 1 of `a` is handed in again after 1 of `b`.",
         Run(BIKE, "a", 0), Run(BIKE, "b", 0), Run(MORE, "a", 1), Run(BIKE, "b", 1, "checkpoint"),
         Run(MORE, "a", 1)),
    told("It dies while it writes the fence. The first attempt must leave nothing behind.",
         Run(BIKE, "a", 0), Run(MORE, "a", 1, "fence")),
    told("It dies while it writes the boat's row. The first attempt must leave nothing behind.",
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
    task="Write a function that adds a micro-batch's counts to the table `counts`. `db` is an "
    "open psycopg connection. The caller commits afterwards, or rolls back if your function "
    "raises an error. `counts` is a list of rows (ad, day, type, count), `query` the query's id "
    "(text), and `batch` the micro-batch's number, from 0.\n\n"
    "Use the table `fence (query text PRIMARY KEY, batch bigint NOT NULL)` to add each "
    "micro-batch once, even if it's handed in again. With a fresh checkpoint, a query has "
    "another id, and its counts are new.\n\n"
    "Micro-batch 0 of query `a` has one view of the bike, and is handed in twice: the count "
    "is 1. Another view in micro-batch 0 of `b` makes 2.",
    stub=stub_of(write_once),
    diagnose=diagnose,
    hints=(
        "The database itself must know which micro-batches it has. What do you read from `fence` "
        "before you add the counts, what do you write to it, and in which transaction?",
        "There are three steps: select the query's number; return if the new number isn't greater; "
        "otherwise add the counts and upsert the query's row. Leave the commit to the caller, so "
        "that all steps are one transaction.",
        "`INSERT INTO fence VALUES (%s, %s) ON CONFLICT (query) DO UPDATE SET batch = "
        "excluded.batch` writes the query's row, whether or not it exists.",
    ),
    reference=write_once,
    discussion="The counts and the fence are committed together or not at all. So if Spark hands "
    "in a micro-batch again, the fence has its number. (A commit of your own after both does no "
    "harm; between the two, it does.) That's enough because Spark guarantees that "
    "for one query id, a number always means the same offsets.\n\nYour function doesn't protect "
    "against two runs of one query at the same time: both may read the fence before one of them "
    "writes it. `SELECT … FOR UPDATE` makes the second run wait, but only if the query's row "
    "exists. For the first micro-batch, insert the fence's row before the counts.",
    right=[fence_first, by_itself],
    wrong=[each for idea in WRONG for each in idea],
)

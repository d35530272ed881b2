"""Tries an answer of chapter 41 on the real PostgreSQL, and lets the process die at a point."""

import inspect
import logging
import os
from contextlib import contextmanager
from functools import wraps
from typing import NamedTuple

import psycopg

from workbook.classroom.judging import Case

logging.getLogger("psycopg").setLevel(logging.ERROR)  # its warnings would stand below the verdict


class Run(NamedTuple):
    """A micro-batch, and where the process ``dies``: Spark then hands it in again.

    At the ``checkpoint`` (after the caller's commit), at the ``commit`` (before it), or while it
    writes the row of the ``fence`` or of this ad.
    """

    counts: list[tuple[str, str, str, int]]
    query: str
    batch: int
    dies: str = ""


def told(why, *runs):
    """Make a case: each micro-batch counts once, wherever the process dies."""
    total, once = {}, {(run.query, run.batch): run.counts for run in runs}
    for *key, count in (row for counts in once.values() for row in counts):
        total[tuple(key)] = total.get(tuple(key), 0) + count
    return Case((list(runs),), sorted((*key, count) for key, count in total.items()), why)


DAY, NEXT = "2026-01-14", "2026-01-15"
BIKE, MORE = [("bike", DAY, "view", 2)], [("bike", DAY, "view", 3), ("boat", NEXT, "click", 1)]


def random_runs(chance):
    runs, query = [], ""
    for number in range(1 + chance.randrange(4)):
        if not number or chance.random() < 0.3:
            query, batch = f"query {number}", 0
        keys = [(ad, day, "view") for ad in ("bike", "boat") for day in (DAY, NEXT)]
        counts = [(*k, 1 + chance.randrange(9)) for k in sorted(chance.sample(keys, 2))]
        dies = chance.choice(("", "", "checkpoint", "commit", "fence", counts[1][0]))
        runs.append(Run(counts, query, batch, dies))
        batch += 1
    return runs


TABLES = """
CREATE UNLOGGED TABLE counts (ad text CHECK (ad IS DISTINCT FROM current_setting('x.dies', true)),
    day date, type text, count bigint NOT NULL, PRIMARY KEY (ad, day, type));
CREATE UNLOGGED TABLE fence (query text PRIMARY KEY, batch bigint NOT NULL,
    CHECK (current_setting('x.dies', true) IS DISTINCT FROM 'fence'))
"""


@contextmanager
def schema(url):
    """Make the two tables in a schema of their own, and drop it; yield how to connect."""
    name = f"workbook_check_{os.getpid()}"
    how = {"conninfo": url, "options": f"-c search_path={name} -c synchronous_commit=off"}
    with psycopg.connect(**how, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {name}")
        try:
            db.execute(TABLES)
            yield how
        finally:
            db.execute(f"DROP SCHEMA {name} CASCADE")


def rehearsed(answer, how):
    """Turn an answer into a function from runs to the rows of ``counts`` afterwards."""
    opened = {}  # a check runs in a process of its own, which can't share a connection

    def connected():
        if os.getpid() not in opened or opened[os.getpid()].closed:
            opened[os.getpid()] = psycopg.connect(**how)
        opened[os.getpid()].rollback()
        return opened[os.getpid()]

    def handed_in(run, dies):
        db = connected()
        db.autocommit = False
        db.execute("SELECT set_config('x.dies', %s, false)", [dies])
        db.commit()
        try:
            answer(db, run.counts, run.query, run.batch)
        except psycopg.errors.CheckViolation:
            return False
        if not db.closed:
            (db.rollback if dies == "commit" else db.commit)()
        return dies not in ("commit", "checkpoint")

    @wraps(answer)  # so that a card finds the line of an error
    def table_after(runs):
        db = connected()
        db.execute("DELETE FROM counts")
        db.execute("DELETE FROM fence")
        db.commit()
        for run in runs:
            handed_in(run, run.dies) or handed_in(run, "")
        rows = connected().execute("SELECT ad, day::text, type, count FROM counts ORDER BY 1, 2, 3")
        return rows.fetchall()

    runs = inspect.Parameter("runs", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    table_after.__signature__ = inspect.Signature([runs])
    return table_after

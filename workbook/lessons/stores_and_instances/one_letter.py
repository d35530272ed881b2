"""Chapter 22: One letter per micro-batch."""

from __future__ import annotations

import inspect
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import wraps
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.drawn import one_after_another, smallest_first
from workbook.classroom.judging import Case, NotYet, by_cases, not_callable_so
from workbook.lessons.stores_and_instances.one_letter_mistakes import MISTAKES

Rows = Sequence[tuple[str, int]]
MicroBatches = Sequence[tuple[Rows, int]]
Letters = list[tuple[int, str]]


def write_letters(db: sqlite3.Connection, rows: Rows, batch_id: int) -> None:
    due = [(batch_id, client) for client, positions in rows if positions > 0]
    db.execute("DELETE FROM letters WHERE batch = ?", (batch_id,))
    db.executemany("INSERT INTO letters VALUES (?, ?)", due)


def _written(answer: Callable[..., Any]) -> Callable[[MicroBatches], Letters]:
    """Wrap an answer: micro-batches in, as Spark hands them on, and the letters out, sorted."""

    @wraps(answer)
    def written(micro_batches: MicroBatches) -> Letters:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE TABLE letters (batch INTEGER, client TEXT)")
            for rows, batch_id in micro_batches:
                answer(db, rows, batch_id)
            return sorted(db.execute("SELECT batch, client FROM letters"), key=repr)

    return _with_parameters(written, "micro_batches")


def _rolled_back(answer: Callable[..., Any]) -> Callable[[Letters, Rows, int], Letters]:
    """Wrap an answer: the letters that are left when the caller rolls its micro-batch back."""

    @wraps(answer)
    def left(letters: Letters, rows: Rows, batch_id: int) -> Letters:
        with closing(sqlite3.connect(":memory:")) as db:
            db.execute("CREATE TABLE letters (batch INTEGER, client TEXT)")
            db.executemany("INSERT INTO letters VALUES (?, ?)", letters)
            db.commit()
            answer(db, rows, batch_id)
            db.rollback()
            return sorted(db.execute("SELECT batch, client FROM letters"), key=repr)

    return _with_parameters(left, "letters", "rows", "batch_id")


def _with_parameters(wrapper: Callable[..., Letters], *names: str) -> Callable[..., Letters]:
    """Give a wrapper parameters of its own, in place of those of the answer."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in names]
    wrapper.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return wrapper


def _case(*micro_batches: tuple[Rows, int], cause: str) -> Case:
    return Case((list(micro_batches),), _written(write_letters)(micro_batches), cause)


_FIRST = ([("Ada", 2), ("Bo", 1)], 0)
_SECOND = ([("Ada", 3), ("Cleo", 0), ("Dan", 1)], 1)
_THIRD = ([("Bo", 0), ("Ada", 1)], 2)
_TEACHING = [
    _case(_FIRST, cause="Two clients hold something: each gets a letter of micro-batch 0."),
    _case(
        _FIRST,
        _FIRST,
        cause="Micro-batch 0 came again, as after a crash. Each client has one letter of it, not "
        "two.",
    ),
    _case(_SECOND, cause="Cleo holds nothing any more, so Cleo gets no letter."),
    _case(
        _FIRST,
        _SECOND,
        cause="Ada's holdings changed twice, in two micro-batches: that's two letters. Bo's letter "
        "of the first one stays.",
    ),
    _case(
        _FIRST,
        _SECOND,
        _SECOND,
        _THIRD,
        cause="Only micro-batch 1 came again. The letters of the others stay as they are.",
    ),
    _case(([], 0), cause="A micro-batch may be empty. Then there is no letter."),
    _case(
        _FIRST,
        ([("Bo", 1), ("Ada", 2)], 0),
        _THIRD,
        _THIRD,
        cause="A micro-batch that comes again has the same rows, in any order.",
    ),
]


def _drawn() -> Iterator[Case]:
    """Yield micro-batches of which some come again, as the last one does after a crash."""
    draw = random.Random(23)
    for size in range(20):
        batches: list[tuple[Rows, int]] = []
        for number in range(7, 7 + 1 + size % 5):
            clients = draw.sample(("Ida", "Jo", "Kim", "Lea", "Max"), draw.randrange(1, 5))
            rows = [(client, draw.choice((0, 1, 2, 40))) for client in clients]
            batches += [(rows, number)] * draw.choice((1, 1, 2, 3))
        yield _case(
            *batches,
            cause="These micro-batches were drawn by chance. Which came again, and who holds "
            "nothing?",
        )


_OF_MICRO_BATCHES = one_after_another(
    by_cases(_TEACHING, [replace(m, model=_written(m.model)) for m in MISTAKES]),
    by_cases(smallest_first(_drawn())),
)


_COMMITS = (
    "It commits by itself: a crash between its two statements would lose letters. Here the caller "
    "rolled back, and the table isn't as it was before. Leave out `commit()`, `with db:` and "
    "`executescript`, which commits before it runs."
)
_OF_A_ROLLBACK = by_cases(
    [
        Case((before, [("Ada", 2), ("Bo", 1)], 7), before, _COMMITS)
        for before in ([(6, "Ada")], [(6, "Ada"), (7, "Ada"), (7, "Bo")])
    ]
)


def _diagnose(answer: Any) -> NotYet | None:
    misuse = not_callable_so(answer, (None, (), 0))
    return misuse or _OF_MICRO_BATCHES(_written(answer)) or _OF_A_ROLLBACK(_rolled_back(answer))


one_letter = Problem(
    name="One letter per micro-batch",
    task="Write what `foreachBatch` does for the mailing list. `db` is a SQLite connection with a "
    "table `letters (batch INTEGER, client TEXT)`, `rows` the pairs `(client, positions)` that "
    "changed in this micro-batch, `batch_id` its number. Each of these clients who holds at "
    "least one position gets one row in `letters`, with the number of the micro-batch.\n\n"
    "After a crash Spark hands the same micro-batch in again, with the same number. Then there is "
    "no second letter, also if this process is a new one, which remembers nothing but the table. "
    "The caller commits, or rolls everything back.\n\n"
    "`[('Ada', 2), ('Cleo', 0)]` as micro-batch 7, once or twice, leaves the one row `(7, 'Ada')`.",
    stub="def write_letters(db, rows, batch_id):\n    ...  # your code\n",
    diagnose=_diagnose,
    hints=(
        "Write it without the crash first: one INSERT per client who holds something. What would "
        "the table have to say, so that you notice the second time?",
        "Either look whether the table knows this micro-batch already, or make room for it first. "
        "Both ask for the number of the micro-batch, not for the client.",
        "`db.execute('DELETE FROM letters WHERE batch = ?', (batch_id,))`, and then insert.",
    ),
    reference=write_letters,
    discussion="Delete and insert, in one transaction: however often the micro-batch comes, the "
    "table is the same. A look whether the number is there already does it too, or a unique index "
    "with `INSERT OR IGNORE`.\n\n"
    "What makes it possible is Spark's promise: the same number means the same offsets, hence the "
    "same rows. It holds as long as the checkpoint lives. With a fresh checkpoint numbers begin at "
    "0 again, and this table would lose letters; so keep the query's id beside the number, as the "
    "workbook's `Store` does.",
)

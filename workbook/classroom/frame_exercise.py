"""Build an exercise whose answer goes from DataFrame to DataFrame, from one declaration.

As in ``exercise``, but a case is a table. An answer is called once with all rows: those of the
``cases`` and the random ones of ``draw``. If its rows or their types differ from the reference's,
the card names the wrong idea that gives the same rows, or shows the first case that fails when the
answer is called with that case's rows alone. An answer that is right on a table is then described
on a stream: Spark must accept the query, and its state must end if the reference's does. Last, it
runs on the ``micro_batches``, which have a sentence each, and must emit the reference's rows in
each of them. An answer that ``foreachBatch`` calls is checked on tables alone.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbook.classroom.causes import Attempt
from workbook.classroom.core import Problem
from workbook.classroom.exercise import BY_CHANCE, SEED, Answer, Read, case, stub_of
from workbook.classroom.frames import (
    Row,
    Starts,
    collect_rows,
    described,
    difference,
    run_batches,
    without_new_queries,
)
from workbook.classroom.judging import Mistake, NotYet, not_callable_so
from workbook.classroom.render import Rows
from workbook.classroom.spark_causes import (
    STARTS,
    broken,
    cause_of_endless_state,
    cause_of_luck,
    cause_on_a_stream,
    other_column_type,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

RANDOM_ROWS = 100
"""How many rows are drawn."""

NO_ROWS = (
    "It returns no row at all. Is the condition of its filter ever true? A text must be equal, "
    "capital letters included, and a comparison with null is never true."
)


def frame_exercise(
    reference: Answer,
    *,
    schema: str,
    cases: Sequence[Read],
    draw: Callable[[random.Random, int], tuple[Row, ...]],
    wrong: Sequence[Sequence[Mistake]],
    right: Sequence[Answer],
    micro_batches: Sequence[Read] = (),
    wrong_on_a_stream: Sequence[Sequence[Mistake]] = (),
    streams: bool = True,
    **words: Any,
) -> Problem:
    """Build an exercise; a case's arguments are rows of the ``schema``, and ``draw`` returns rows.

    Ideas that are ``wrong_on_a_stream`` are right on a table: their cause is one of ``streams`` or
    the sentence of a micro-batch. ``words`` are the name, task, hints and discussion.
    """
    mistakes = [each for idea in wrong for each in idea]
    random_case = case(BY_CHANCE, *draw(random.Random(SEED), RANDOM_ROWS))
    return Problem(
        **{"stub": stub_of(reference), **words},
        diagnose=_OnFrames(
            reference, schema, [*cases, random_case], micro_batches, mistakes, streams
        ),
        reference=reference,
        right=right,
        wrong=[*mistakes, *(each for idea in wrong_on_a_stream for each in idea)],
    )


@dataclass
class _OnFrames:
    """Diagnoses an answer by comparing its rows with the reference's.

    ``_ours`` caches the rows of the reference and the wrong ideas: each of them costs a Spark job.
    """

    reference: Answer
    schema: str
    cases: Sequence[Read]
    micro_batches: Sequence[Read]
    mistakes: Sequence[Mistake]
    streams: bool
    _ours: dict[tuple[Answer, str], Any] = field(default_factory=dict, init=False)

    def __call__(self, answer: Any, spark: SparkSession | None = None) -> NotYet | None:
        if spark is None:
            return NotYet("This check needs Spark: write `check(answer, spark=spark)`.")
        if misuse := not_callable_so(answer, (None,)):
            return misuse
        with without_new_queries(spark):
            table = self._table(spark, [row for _, rows in self.cases for row in rows])
            found = self._on_tables(answer, table)
            return found or (self._on_a_stream(answer, table) if self.streams else None)

    def _table(self, spark: SparkSession, rows: Sequence[Row]) -> DataFrame:
        return spark.createDataFrame(list(rows), self.schema)

    def _on_tables(self, answer: Answer, table: DataFrame) -> NotYet | None:
        """Compare the rows of the whole table; where they differ, look for the cause."""
        self._rows(self.reference, table)  # a session's first query is slow: that is not judged
        types = {name: kind.upper() for name, kind in self.reference(table).dtypes}
        found = collect_rows(answer, table, list(types))
        if isinstance(found, NotYet):
            return found
        result, rows = found
        other_type = other_column_type(result, types)
        if not (differs := self._difference(rows, table)):
            cause = other_type or (cause_of_luck(result) if self.streams else "")
            return NotYet(cause) if cause else None
        for idea in self.mistakes:
            if Counter(self._rows(idea.model, table)) == Counter(rows):
                return NotYet(idea.cause, table=differs)
        if not rows:
            return NotYet(NO_ROWS, table=differs)
        for why, given in self.cases:
            alone = self._table(table.sparkSession, given)
            found = collect_rows(answer, alone, list(types))
            if isinstance(found, NotYet):
                return found
            if shown := self._difference(found[1], alone, why):
                here = "" if found[1] else "It returns no row for these. "
                return NotYet(other_type or here + why, table=shown)
        return NotYet(other_type or BY_CHANCE, table=differs)

    def _difference(self, rows: Sequence[Row], table: DataFrame, name: str = "") -> Rows:
        """Show how rows differ from the reference's; () where they don't."""
        asked, columns = self._rows(self.reference, table, name), self.reference(table).columns
        return () if Counter(rows) == Counter(asked) else difference(columns, rows, asked)

    def _rows(self, ours: Answer, table: DataFrame, name: str = "") -> list[Row]:
        """Return the rows of the reference or a wrong idea for a table, cached by its name."""
        if (ours, name) not in self._ours:
            columns = self.reference(table).columns
            self._ours[ours, name] = [tuple(r) for r in ours(table).select(*columns).collect()]
        return self._ours[ours, name]

    def _on_a_stream(self, answer: Answer, table: DataFrame) -> NotYet | None:
        """Ask Spark whether it would start the query, and then run it on the micro-batches."""
        with without_new_queries(table.sparkSession) as started:
            tried = described(answer, table)
            if tried.timed_out:
                return broken(answer, tried)
            cause = cause_on_a_stream(tried)
        cause = STARTS if started or isinstance(tried.error, Starts) else cause
        if not cause and not cause_of_endless_state(described(self.reference, table)):
            cause = cause_of_endless_state(tried)
        if cause or not self.micro_batches:
            return NotYet(cause) if cause else None
        return self._in_micro_batches(answer, table)

    def _in_micro_batches(self, answer: Answer, table: DataFrame) -> NotYet | None:
        """Compare what each micro-batch emits."""
        columns, batches = self.reference(table).columns, [rows for _, rows in self.micro_batches]

        def run(answer: Answer) -> Attempt:
            return run_batches(table.sparkSession, answer, self.schema, batches, columns)

        key = self.reference, "micro-batches"
        asked = self._ours[key] = self._ours.get(key) or run(self.reference).value
        if not isinstance((ran := run(answer)).value, list):
            return broken(answer, ran)
        for n, (why, _) in enumerate(self.micro_batches):
            if ran.value[n] != asked[n]:
                so_far = (
                    [(at, *row) for at, rows in enumerate(emitted[: n + 1], 1) for row in rows]
                    for emitted in (ran.value, asked)
                )
                return NotYet(why, table=difference(("micro-batch", *columns), *so_far))
        return None

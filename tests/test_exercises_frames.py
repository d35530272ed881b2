"""The check of answers on Spark: what it says while it waits, and where an answer breaks."""

from __future__ import annotations

import io
import threading
import time
from contextlib import redirect_stdout

import pytest
from pyspark.sql import functions as F  # noqa: N812

from workbook.exercises import frames
from workbook.exercises import page_view_counter as chapter
from workbook.exercises.spark_errors import spark_cause

CAUSE = "Likely cause"


def loops(clicks):
    while True:
        pass


def raises_on_a_worker(clicks):
    @F.udf("string")
    def upper(name):
        return name.uper()

    return chapter.views_per_name(clicks).withColumn("name", upper("name"))


def test_an_endless_loop_ends_long_before_spark_would(spark, monkeypatch):
    monkeypatch.setattr(frames, "DESCRIBING_SECONDS", 0.5)
    chapter.on_spark.check(chapter.views_per_name, spark=spark)  # the first query takes longer
    began = time.monotonic()
    card = chapter.on_spark.check(loops, spark=spark)
    assert "does not come to an end" in card.part(CAUSE)
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(("patience", "said"), [(0.01, True), (60, False)])
def test_a_check_says_what_it_waits_for_once_it_takes_long(monkeypatch, capsys, patience, said):
    monkeypatch.setattr(frames, "PATIENCE_SECONDS", patience)
    before = threading.active_count()
    with frames._waiting_aloud(), redirect_stdout(io.StringIO()):  # as an answer's own output is
        until = time.monotonic() + 5
        while said and threading.active_count() > before and time.monotonic() < until:
            time.sleep(0.005)
    assert ("Spark works" in capsys.readouterr().out) == said


def test_the_line_that_raised_on_a_worker_is_shown(spark):
    card = chapter.on_spark.check(raises_on_a_worker, spark=spark)
    assert card.part("Where in your cell").endswith("return name.uper()")


@pytest.mark.parametrize("rows", [12, 1_000])
def test_a_long_difference_is_cut(rows):
    shown = frames.difference(["second", "views"], [(n, 1) for n in range(rows)], [])
    assert len(shown) <= 1 + frames.MOST_ROWS + 1
    assert ("…" in str(shown)) == (rows > frames.MOST_ROWS)


def test_whole_numbers_where_a_timestamp_is_wanted_are_named():
    """The first thing that many try: a window over milliseconds."""

    class Refused(Exception):
        def getCondition(self):  # noqa: N802
            return "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"

        def getMessageParameters(self):  # noqa: N802
            return {
                "requiredType": '("TIMESTAMP" or "TIMESTAMP WITHOUT TIME ZONE")',
                "inputType": '"BIGINT"',
                "inputSql": '"timestamp"',
            }

    assert spark_cause(Refused()) == (
        'A timestamp is wanted, and "timestamp" is a whole number. `F.timestamp_millis` makes a '
        "timestamp of milliseconds."
    )


def test_a_query_that_an_answer_starts_is_stopped_with_its_check(spark):
    def starts(clicks):
        writer = clicks.groupBy("name").count().writeStream.outputMode("update")
        return writer.format("noop").start()

    before = len(spark.streams.active)
    assert "NOT_YET" in str(chapter.on_spark.check(starts, spark=spark).state)
    assert len(spark.streams.active) == before


def test_a_column_of_arrays_is_an_answer_that_can_be_compared(spark):
    def lists(clicks):
        return clicks.groupBy("name").agg(F.collect_list("event_id").alias("views"))

    card = chapter.on_spark.check(lists, spark=spark)
    assert "broke" not in str(card)

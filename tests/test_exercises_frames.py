"""The check of answers on Spark: what it says while it waits, and where an answer breaks."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stdout

import psutil
import pytest
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom import frames
from workbook.classroom.calls import Attempt
from workbook.classroom.spark_errors import spark_cause
from workbook.classroom.streams import cause_on_a_stream, stream_like
from workbook.lessons.page_view_counter.on_spark import on_spark, views_per_name

CAUSE = "Likely cause"


def loops(clicks):
    while True:
        pass


def raises_on_a_worker(clicks):
    @F.udf("string")
    def upper(name):
        return name.uper()

    return views_per_name(clicks).withColumn("name", upper("name"))


def test_an_endless_loop_ends_long_before_spark_would(spark, monkeypatch):
    on_spark.check(views_per_name, spark=spark)  # the first query takes longer
    monkeypatch.setattr(frames, "CALLING_SECONDS", 0.5)
    began = time.monotonic()
    card = on_spark.check(loops, spark=spark)
    assert "does not come to an end" in card.part(CAUSE)
    assert time.monotonic() - began < 10


def hangs_on_a_worker(clicks):
    @F.udf("boolean")
    def is_page(kind):
        while True:
            pass

    return views_per_name(clicks.where(is_page("click_type")))


def hangs_itself(clicks):
    return clicks.sparkSession.createDataFrame(hangs_on_a_worker(clicks).collect())


@pytest.mark.parametrize(
    ("answer", "limit"), [(hangs_on_a_worker, "LIMIT_SECONDS"), (hangs_itself, "CALLING_SECONDS")]
)
def test_a_worker_that_hangs_is_ended_and_the_next_answer_passes(
    answer, limit, spark, monkeypatch, capfd
):
    assert on_spark.check(views_per_name, spark=spark).correct
    with monkeypatch.context() as shorter:
        shorter.setattr(frames, limit, 2.0)
        card = on_spark.check(answer, spark=spark)
    assert "does not come to an end" in card.part(CAUSE)
    assert on_spark.check(views_per_name, spark=spark).correct
    assert "Traceback" not in capfd.readouterr().err
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None
    daemon = psutil.Process(spark.sparkContext._gateway.proc.pid)
    wait_until(lambda: not any(map(is_busy, daemon.children(recursive=True))))


def is_busy(process):
    """Whether a Python process computes; one that ended does not."""
    try:
        return "python" in process.name() and process.cpu_percent(0.5) > 20
    except psutil.Error:
        return False


def wait_until(holds, within=30):
    until = time.monotonic() + within
    while not holds():
        assert time.monotonic() < until, "a Python worker still runs"


def started(clicks):
    return views_per_name(clicks).writeStream.format("noop").outputMode("update").start()


def only_if_streaming(clicks):
    return started(clicks) if clicks.isStreaming else views_per_name(clicks)


@pytest.mark.parametrize("answer", [started, only_if_streaming])
def test_no_query_of_an_answer_goes_on(answer, spark):
    before = [query.runId for query in spark.streams.active]
    card = on_spark.check(answer, spark=spark)
    assert "the notebook starts the query" in card.part(CAUSE)
    assert [query.runId for query in spark.streams.active] == before


def test_a_stream_cannot_count_distinct_values(spark):
    rows = stream_like(spark.createDataFrame([("/home", 1)], "name STRING, event_id BIGINT"))
    counted = rows.groupBy("name").agg(F.countDistinct("event_id"))
    assert "can't count distinct values" in cause_on_a_stream(Attempt(counted))


@pytest.mark.parametrize(("patience", "said"), [(0.01, True), (60, False)])
def test_a_check_says_what_it_waits_for_once_it_takes_long(monkeypatch, capsys, patience, said):
    monkeypatch.setattr(frames, "PATIENCE_SECONDS", patience)
    printed, until = "", time.monotonic() + 5
    with frames.waiting_aloud(), redirect_stdout(io.StringIO()):  # as an answer's own output is
        while said and not printed and time.monotonic() < until:
            time.sleep(0.005)
            printed = capsys.readouterr().out
    assert ("Spark works" in printed + capsys.readouterr().out) == said


def test_the_line_that_raised_on_a_worker_is_shown(spark):
    card = on_spark.check(raises_on_a_worker, spark=spark)
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
    assert "NOT_YET" in str(on_spark.check(starts, spark=spark).state)
    assert len(spark.streams.active) == before


def test_a_column_of_arrays_is_an_answer_that_can_be_compared(spark):
    def lists(clicks):
        return clicks.groupBy("name").agg(F.collect_list("event_id").alias("views"))

    card = on_spark.check(lists, spark=spark)
    assert "broke" not in str(card)

"""The check of an answer from DataFrame to DataFrame, on a real Spark."""

import time

import psutil
import pytest
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom import frames
from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.classroom.render import State

CAUSE = "Likely cause"


def views(clicks):
    return clicks.where("kind = 'Page'").groupBy("name").agg(F.count("*").alias("views"))


problem = frame_exercise(
    views,
    schema="name STRING, kind STRING, at BIGINT",
    cases=[case("Two views of /a.", ("/a", "Page", 1), ("/a", "Page", 2), ("/b", "Action", 3))],
    draw=lambda chance, size: [(chance.choice("abc"), chance.choice(("Page", "Action")), n)
                               for n in range(size)],
    micro_batches=[case("One view.", ("/a", "Page", 1)), case("One more.", ("/a", "Page", 2))],
    wrong=[wrong("It counts every click.", lambda c: views(c.withColumn("kind", F.lit("Page"))))],
    right=[],
    name="Views", task="Count.", hints=("One.",), discussion="Fine.",
)  # fmt: skip


@pytest.fixture(scope="module")
def check(spark):
    """The problem's check, with a session that is warm."""
    problem.check(views, spark=spark)
    return lambda answer: problem.check(answer, spark=spark)


def loops(clicks):
    while True:
        pass


def hangs_on_a_worker(clicks):
    @F.udf("boolean")
    def is_page(kind):
        while True:
            pass

    return views(clicks.where(is_page("kind")))


def hangs_itself(clicks):
    return clicks.sparkSession.createDataFrame(hangs_on_a_worker(clicks).collect())


@pytest.mark.parametrize("answer", [loops, hangs_itself])
def test_what_never_ends_is_ended_and_the_next_answer_passes(check, answer, spark, monkeypatch):
    with monkeypatch.context() as shorter:
        shorter.setattr(frames, "LIMIT_SECONDS", 2.0)
        shorter.setattr(frames, "CALLING_SECONDS", 2.0)
        assert "does not come to an end" in check(answer).part(CAUSE)
    assert check(views).correct
    assert spark.sparkContext.getLocalProperty("spark.jobGroup.id") is None
    daemon, until = psutil.Process(spark.sparkContext._gateway.proc.pid), time.monotonic() + 30
    while any(map(computes, daemon.children(recursive=True))):
        assert time.monotonic() < until, "a Python worker still runs"


def computes(process):
    try:
        return "python" in process.name() and process.cpu_percent(0.5) > 20
    except psutil.Error:
        return False


def started(clicks):
    return views(clicks).writeStream.format("noop").outputMode("update").start()


def raises_on_a_worker(clicks):
    return views(clicks).withColumn("name", F.udf(lambda name: name.uper())("name"))


def sorted_first(clicks):
    return views(clicks).orderBy("name")


BROKEN = [
    (started, "the notebook starts the query"),
    (lambda c: started(c).awaitTermination() if c.isStreaming else views(c), "starts the query"),
    (lambda c: views(c.where("kind = 'page'")), "It returns no row at all"),
    (raises_on_a_worker, "has no attribute 'uper', on one of Spark's workers"),
    (lambda c: views(c).collect(), "A DataFrame is asked for, and its value is of type list"),
    (lambda c: views(c).toPandas(), "DataFrame of pandas"),
    (lambda c: c.groupBy("name"), "It ends with `groupBy`"),
    (lambda c: views(c).withColumnRenamed("views", "n"), "missing views; not asked for n"),
    (lambda c: views(c).withColumn("views", F.col("views").cast("string")), "`views` is STRING"),
    (lambda c: views(c.where("knid = 'Page'")), "Did you mean one of"),
    (lambda c: views(c.where((c.kind == "Page") and (c.at > 0))), "not by `and`"),
    (lambda c: views(c.where(c.kind == "Page" & c.name.isNotNull())), "in brackets"),
    (lambda c: c.groupBy(F.window("at", "1 second")).count(), "is wanted. (`F.timestamp_millis`"),
    (lambda c: views(c.limit(1)), "Two views of /a."),
    (lambda c: c.groupBy("name").agg(F.collect_list("at").alias("views")), "one value in each row"),
    (sorted_first, "a stream can't be sorted"),
    (lambda c: sorted_first(c).dropDuplicates(["name"]), "The rows are right by luck"),
    (lambda c: views(c).sparkSession.createDataFrame(views(c).collect()), "it runs the query"),
]


@pytest.mark.parametrize(("answer", "cause"), BROKEN)
def test_a_wrong_answer_gets_its_cause_and_no_query_goes_on(check, answer, cause, spark):
    before = [query.runId for query in spark.streams.active]
    card = check(answer)
    assert card.state is State.NOT_YET
    assert cause in card.part(CAUSE), card
    assert answer is not raises_on_a_worker or "name.uper()" in card.part("Where in your cell")
    assert [query.runId for query in spark.streams.active] == before


def test_a_difference_counts_repeated_rows_and_is_cut():
    table = frames.difference(["name"], [("a",), ("a",), ("b",)], [("a",), ("c",)])
    assert table[1:] == (
        ("in both", "a"), ("missing", "c"), ("only in yours", "a"), ("only in yours", "b"),
    )  # fmt: skip
    long = frames.difference(["n"], [(n,) for n in range(1_000)], [])
    assert len(long) == 1 + frames.MOST_ROWS + 1

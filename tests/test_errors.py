"""Errors of Kafka and Spark in a notebook: each one real, and the cell says what to do."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from confluent_kafka import Consumer, KafkaException, Producer
from kernels import Kernel, kernel
from nbformat.v4 import new_code_cell
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom import errors
from workbook.spark.session import checkpoint

AWAY = {"bootstrap.servers": "127.0.0.1:1", "log_level": 0}


def raised(work: Callable[[], Any]) -> BaseException:
    with pytest.raises(Exception) as caught:  # noqa: PT011  (which one it is, is the question)
        work()
    return caught.value


# --- Kafka's client -----------------------------------------------------------------------------


def reads(config: dict[str, Any], topic: str) -> None:
    consumer = Consumer({**config, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    until = time.monotonic() + 20
    while time.monotonic() < until:
        message = consumer.poll(0.2)
        if message is not None and message.error():
            raise KafkaException(message.error())


def writes(config: dict[str, Any], topic: str, value: Any = b"1") -> None:
    failures: list[Any] = []
    producer = Producer({**config, "message.timeout.ms": 1000})
    producer.produce(topic, value, on_delivery=lambda error, message: failures.append(error))
    producer.flush(5)
    raise KafkaException(failures[0])


def closed(config: dict[str, Any]) -> None:
    consumer = Consumer({**config, "group.id": "g"})
    consumer.close()
    consumer.poll(1)


KAFKA: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "reads a topic that's missing": (lambda c: reads(c, "nowhere"), "The topic isn't there"),
    "writes to one that's missing": (lambda c: writes(c, "nowhere"), "The broker hasn't taken"),
    "no broker": (lambda _: Producer(AWAY).list_topics(timeout=1), "No broker answers"),
    "nothing to commit": (
        lambda c: Consumer({**c, "group.id": "g"}).commit(asynchronous=False),
        "There's nothing to commit",
    ),
    "closed": (closed, "It was closed"),
    "no group": (Consumer, "A consumer needs a group"),
    "a value that isn't bytes": (lambda c: writes(c, "nowhere", {"a": 1}), "Kafka's values"),
}


@pytest.mark.parametrize("case", KAFKA)
def test_an_error_of_kafkas_client(case: str, broker: Any) -> None:
    work, step = KAFKA[case]
    error = raised(lambda: work(broker.client_config()))
    assert errors.next_step(error).startswith(step), error


# --- Spark --------------------------------------------------------------------------------------


class Queries:
    """Streams from a topic, and queries on them that fail."""

    def __init__(self, spark: Any, options: dict[str, str], topic: str, config: Any) -> None:
        self.spark, self.options, self.topic, self.config = spark, options, topic, config

    def stream(self, topic: str | None = None, **options: str) -> Any:
        source = self.spark.readStream.format("kafka").options(**{**self.options, **options})
        wanted = source.option("subscribe", topic or self.topic)
        return wanted.option("startingOffsets", "earliest").load()

    def counts(self) -> Any:
        return self.stream().groupBy("key").count()

    def run(self, rows: Any, mode: str = "append", sink: str = "noop", **options: str) -> None:
        given = {"checkpointLocation": str(checkpoint("advice")), **options}
        query = rows.writeStream.format(sink).outputMode(mode).options(**given).start()
        try:
            query.processAllAvailable()
        finally:
            query.stop()

    def again(self, first: Any, then: Any) -> None:
        folder = str(checkpoint("advice"))
        self.run(first, "update", checkpointLocation=folder)
        producer = Producer(self.config)
        producer.produce(self.topic, b"1")
        producer.flush()
        self.run(then, "update", checkpointLocation=folder)


def breaks(batch: Any, number: int) -> None:
    raise ValueError("my own mistake")


SPARK: dict[str, tuple[Callable[[Queries], Any], str, str]] = {
    "no topic": (
        lambda q: q.run(q.stream("nowhere")), "The topic isn't there",
        "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not "
        "host this topic-partition.",
    ),
    "no broker": (
        lambda q: q.run(q.stream(**{
            "kafka.bootstrap.servers": "127.0.0.1:1", "kafka.default.api.timeout.ms": "1500",
            "kafka.request.timeout.ms": "1000", "fetchoffset.numretries": "1",
        })),
        "No broker answers", "",
    ),
    "complete, without an aggregate": (
        lambda q: q.run(q.stream(), "complete"), "Complete mode",
        "[STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION] Invalid streaming output mode: complete. "
        "This output mode is not supported for no streaming aggregations on streaming "
        "DataFrames/DataSets.",
    ),
    "append, without a watermark": (
        lambda q: q.run(q.counts()), "In append mode a row is written once", "",
    ),
    "sorted": (
        lambda q: q.run(q.counts().orderBy("count"), "update"), "A stream has no last row",
        "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated "
        "DataFrame/Dataset in Complete output mode",
    ),
    "a sink without a topic": (
        lambda q: q.run(q.stream().select("value"), sink="kafka", **q.options),
        "Spark doesn't know where to write", "",
    ),
    "a sink without a value": (
        lambda q: q.run(q.stream().selectExpr("key AS k"), sink="kafka", topic="x", **q.options),
        "The Kafka sink writes", "Required attribute 'value' not found",
    ),
    "no checkpoint": (
        lambda q: q.stream().writeStream.format("kafka").options(topic="x", **q.options).start(),
        "A streaming query keeps its place", "",
    ),
    "other state": (
        lambda q: q.again(q.counts(), q.stream().groupBy("offset").count()),
        "Another query made this checkpoint",
        "[STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE] Provided key schema does not match existing "
        "state key schema.",
    ),
    "a stream that's collected": (lambda q: q.stream().collect(), "This DataFrame is a str", ""),
    "a watermark on bytes": (
        lambda q: q.stream().withWatermark("value", "1 second"), "A watermark and a window", "",
    ),
    "a function of one's own": (
        lambda q: q.stream().writeStream.foreachBatch(breaks)
        .option("checkpointLocation", str(checkpoint("advice"))).start().processAllAvailable(),
        "", "a Python function raised ValueError: my own mistake",
    ),
}  # fmt: skip


@pytest.fixture
def queries(broker: Any, spark: Any, topic: Callable[..., Any]) -> Queries:
    clicks, producer = topic("clicks"), Producer(broker.client_config())
    producer.produce(clicks.name, b"1", b"k")
    producer.flush()
    return Queries(spark, broker.spark_options(), clicks.name, broker.client_config())


@pytest.mark.parametrize("case", SPARK)
def test_an_error_of_spark(case: str, queries: Queries) -> None:
    work, step, headline = SPARK[case]
    error = raised(lambda: work(queries))
    found = errors.next_step(error)
    assert found.startswith(step), f"{found}\n{error}"
    assert bool(found) == bool(step)
    shown = errors.headline(error)
    assert shown == headline if headline else "\n" not in shown


@pytest.mark.parametrize(
    "calls",
    [lambda: F.round(2.5), lambda: F.sum([1]), lambda: F.max(1, 2), lambda: F.min([1], key=abs)],
)
def test_a_built_in_function_that_sparks_has_replaced(calls: Callable[[], Any]) -> None:
    assert errors.next_step(raised(calls)).startswith("If you've written `from pyspark.sql.fun")


class Captured(Exception):
    """As PySpark has an error from Java: with the one below it."""

    def __init__(self, text: str, cause: Exception | None = None) -> None:
        super().__init__(text)
        self._cause = cause


FAILED = "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: "


@pytest.mark.parametrize(
    ("error", "shown", "step"),
    [
        (
            Captured(f"{FAILED}Exception thrown in awaitResult:  SQLSTATE: XXKST\n=== S",
                     Captured("java.lang.IllegalStateException: Partitions are gone")),
            "java.lang.IllegalStateException: Partitions are gone", "",
        ),
        (Captured(f"{FAILED}Job aborted due to stage failure\n=== Plan",
                  Captured("a.SparkException: Python worker failed to connect back.")),
         "a.SparkException: Python worker failed to connect back.",
         "A Python process that Spark started didn't answer"),
        (Captured(f"{FAILED}Connection reset SQLSTATE: XXKST\n==="), "Connection reset",
         "A Python process of the query"),
        *((each, str(each), "This copy of the chapter is older than the workbook") for each in (
            ModuleNotFoundError("No module named 'workbook.pipelines.page_views.counts'"),
            ImportError("cannot import name 'records_on_spark' from 'workbook.lessons.metrics_topic"
                        "' (/there/__init__.py)"),
        )),
    ],
    ids=["a cause below", "a busy machine", "killed", "a module gone", "an exercise gone"],
)  # fmt: skip
def test_an_error_whose_first_line_says_nothing(error: Exception, shown: str, step: str) -> None:
    assert errors.headline(error) == shown
    found = errors.next_step(error)
    assert found.startswith(step)
    assert bool(found) == bool(step)


# --- in a kernel --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mine(broker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel for both tests: the second one closes its chapter."""
    with kernel(tmp_path_factory.mktemp("mine")) as made:
        made.run(
            "from workbook.classroom.chapter import Chapter\nchapter = Chapter('00_start_here')"
        )
        yield made


def test_in_a_kernel_an_error_stays_an_error_and_is_short(mine: Kernel) -> None:
    shown = mine.failing("one = 1\nchapter.wait(lambda: 0, 'a miracle', seconds=0.1)")
    assert "a miracle" in shown
    assert "live.py" not in shown
    assert "%tb" in shown
    assert "live.py" in mine.run("%tb")
    assert "1 / 0" in mine.failing("def mine():\n    return 1 / 0\n\nmine()")
    assert mine.failing("import nothing_of_the_kind").count("What to do") == 0
    assert "SyntaxError" in mine.failing("a b c")
    stopped = mine.failing("def f():\n    raise KeyboardInterrupt\nchapter.wait(f, 'x')")
    assert "You've interrupted the cell" in stopped
    assert "process of Spark" not in stopped
    assert "live.py" not in stopped
    assert "they differ" in mine.failing("assert 1 == 2")
    assert "they differ" not in mine.failing("assert 1 == 2, 'a text of its own'")
    assert mine.run("print(one)") == "1\n"


def test_in_a_kernel_a_query_that_fails_is_reported_once(mine: Kernel) -> None:
    mine.run("spark = chapter.spark()")
    start = (
        "query = (\n    spark.readStream.format('kafka').options(**chapter.spark_options)\n"
        "    .option('subscribe', 'nowhere').load()\n    .writeStream.format('noop')\n"
        "    .option('checkpointLocation', chapter.checkpoint()).start()\n)"
    )
    mine.run(start)
    waiting = mine.failing("chapter.wait(lambda: False, 'rows', seconds=60)")
    assert "UnknownTopicOrPartition" in waiting
    assert "The topic isn't there" in waiting
    assert "Streaming Query ===" not in waiting
    assert mine.run("pass") == ""
    mine.run(start + "\nquery, failed = query, query")
    text = mine.run("chapter.wait(lambda: query.exception(), 'the failure')\nNone")
    assert text.count("The query `") == 1  # below a line on what is waited for
    assert "What to do: The topic isn't there" in text
    closing = mine.run("chapter.close()")
    assert "Closed." in closing
    assert "The query" not in closing
    assert "Traceback" not in closing
    closed = mine.failing("spark.range(3).count()")
    assert "Spark was closed" in closed
    assert "pyspark/" not in closed


# --- names --------------------------------------------------------------------------------------


def test_a_name_of_another_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_markdown_cell("# The title\n\n## 2. A topic"),
            new_code_cell("clicks = 1\n%matplotlib inline"),
            new_code_cell("import json as j\nwidgets = 2"),
        ]
    )
    (tmp_path / "42_x.ipynb").write_text(json.dumps(notebook))
    monkeypatch.setattr(errors, "NOTEBOOKS", tmp_path)
    error = raised(lambda: eval("widgets"))
    assert "under “2. A topic”" in errors.next_step(error, "42_x")
    assert errors.next_step(NameError("x", name="clicks"), "42_x") == ""  # not plain Python
    assert errors.next_step(raised(lambda: eval("wigdets")), "42_x") == ""
    assert errors.next_step(error, "no_such") == ""


@pytest.mark.parametrize(
    ("error", "shown"),
    [("[SPARK_JOB_CANCELLED] Job 295 was stopped", False), ("division by zero", True)],
)
def test_a_micro_batch_of_a_stopped_query_leaves_no_trace(error: str, shown: bool) -> None:
    why = (RuntimeError, RuntimeError(error), None)
    record = logging.LogRecord("py4j.clientserver", logging.ERROR, "", 1, "There was", (), why)
    assert errors._is_news(record) is shown

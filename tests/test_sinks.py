"""Sinks on a real broker and a real Spark: dead letters, tables, queries that live together."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from workbook.sinks.local_table import LocalTable
from workbook.spark.queries import QueryGroup, start_counting

from workbook.decoding.clicks import parse
from workbook.errors import BrokerUnreachable, Rejected
from workbook.events.clicks import Click, ClickType
from workbook.events.reasons import Reason
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.producer import SETTINGS
from workbook.kafka.readers import read_all, read_dead_letters
from workbook.pipelines.page_views.counts import page_views
from workbook.spark.source import kafka_stream
from workbook.topics import Topic, new_topic

ARRIVAL = 1_700_000_000_000
IN_2099 = 4_070_908_800_000


def click(name: str, timestamp: int = ARRIVAL) -> bytes:
    return Click(1, ClickType.PAGE, name, timestamp, "Firefox").to_json()


VALUES: list[bytes | None] = [
    click("home"), b'{"event_id":1', click("shoes"), None, click("home"), b"", b"\xff\xfe",
    click("home").replace(b'"home"', b"5"), click("home").replace(b"Page", b"Buy"),
    click("home", -1), click("home", IN_2099), click("home"), b"x" * 5_000_000,
]  # fmt: skip
REJECTED = {
    1: Reason.MALFORMED, 3: Reason.EMPTY, 5: Reason.EMPTY, 6: Reason.MALFORMED,
    7: Reason.MISSING, 8: Reason.UNKNOWN_TYPE, 9: Reason.NEGATIVE, 10: Reason.FUTURE,
    12: Reason.MALFORMED,
}  # fmt: skip
COUNTS = {"home": 3, "shoes": 1}


def send(broker: Any, topic: Topic, values: list[bytes | None]) -> None:
    """Values into partitions 0 and 1 in turn, all with the same arrival."""
    producer = Producer({**SETTINGS, **broker.client_config()})
    for number, value in enumerate(values):
        where = number % topic.partitions
        producer.produce(topic.name, value, b"k%d" % number, where, timestamp=ARRIVAL)
    assert producer.flush(10) == 0


@pytest.fixture
def clicks(broker: Any) -> Topic:
    """A topic with VALUES in two partitions, and its dead-letter topic."""
    topic = new_topic("clicks", "test-sinks", 2)
    broker.create(topic)
    broker.create(topic.dead_letters)
    send(broker, topic, VALUES)
    return topic


def assert_letters(letters: pd.DataFrame, topic: Topic) -> None:
    """Exactly the rejected records: reason, source, arrival, key and the very bytes."""
    got = {
        (r.partition, r.offset): (r.reason, r.topic, r.arrival, r.key, r.value)
        for r in letters.itertuples()
    }
    expected = {
        (n % 2, n // 2): (why.value, topic.name, ARRIVAL, b"k%d" % n, VALUES[n])
        for n, why in REJECTED.items()
    }
    assert got == expected
    assert len(letters) == len(REJECTED)


def test_spark_sends_dead_letters_and_counts_on(
    broker: Any, spark: SparkSession, clicks: Topic, tmp_path: Path
) -> None:
    table = LocalTable("name")
    where = clicks.dead_letters.name
    parsed = parse(
        kafka_stream(spark, broker, clicks.name, max_per_batch=5),
        DeadLetters(broker.client_config(), where),
    )
    with start_counting(page_views(parsed), table, tmp_path) as running:
        running.process_all()
        assert {row["name"]: row["views"] for row in table.rows()} == COUNTS
        before = table.version
        send(broker, clicks, [click("late")])
        running.process_all()
        assert {row["name"]: row["views"] for row in table.rows()} == {**COUNTS, "late": 1}
        assert table.version == before + 1
    assert not any(query.isActive for query in running.queries)
    assert_letters(read_dead_letters(broker.client_config(), where), clicks)


def test_an_empty_topic_gives_no_counts_and_no_letters(
    broker: Any, spark: SparkSession, tmp_path: Path
) -> None:
    topic = new_topic("clicks", "test-empty", 2)
    broker.create(topic)
    broker.create(topic.dead_letters)
    table = LocalTable("name")
    where = topic.dead_letters.name
    dead_letters = DeadLetters(broker.client_config(), where)
    parsed = parse(kafka_stream(spark, broker, topic.name), dead_letters)
    with start_counting(page_views(parsed), table, tmp_path) as running:
        running.process_all()
    assert (table.rows(), table.version) == ([], 0)
    assert read_dead_letters(broker.client_config(), where).empty


class Producing:
    """What DeadLetters needs of a message."""

    def __init__(self, value: bytes | None) -> None:
        self.value: Callable[[], bytes | None] = lambda: value
        self.key: Callable[[], bytes | None] = lambda: None

    def topic(self) -> str:
        return "clicks"

    def partition(self) -> int:
        return 3

    def offset(self) -> int:
        return 4

    def timestamp(self) -> tuple[int, int]:
        return 1, ARRIVAL


def test_null_and_empty_values_stay_apart(broker: Any) -> None:
    topic = new_topic("clicks.dead-letters", "test-null")
    broker.create(topic)
    with DeadLetters(broker.client_config(), topic.name) as letters:
        letters(Producing(None), Rejected(Reason.EMPTY))
        letters(Producing(b""), Rejected(Reason.EMPTY))
    assert list(read_dead_letters(broker.client_config(), topic.name).value) == [None, b""]
    assert len(read_all(broker.client_config(), topic.name)) == 2


def test_letters_that_nobody_takes_are_an_error() -> None:
    """Once: who goes on starts anew. In a task of Spark they are a copy, as patient as here."""
    here = DeadLetters({"bootstrap.servers": "127.0.0.1:1"}, "x.dead-letters", patience=1)
    for letters in (here, pickle.loads(pickle.dumps(here))):
        letters(Producing(b"1"), Rejected(Reason.EMPTY))
        with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1 to take 1 more .* within 1 s"):
            letters.close()
        letters.close()


def test_letters_are_delivered_also_where_something_else_goes_wrong(broker: Any) -> None:
    topic = new_topic("clicks.dead-letters", "test-wrong")
    broker.create(topic)
    letters = DeadLetters(broker.client_config(), topic.name)

    def work() -> None:
        with letters:
            letters(Producing(b"1"), Rejected(Reason.EMPTY))
            raise ValueError("another")

    with pytest.raises(ValueError, match="another"):
        work()
    assert letters.sent == 1


# --- queries that live together ---------------------------------------------------------------


def ticking(spark: SparkSession) -> Any:
    return spark.readStream.format("rate").option("rowsPerSecond", 5).load()


def test_a_failing_query_ends_the_others_and_its_error_surfaces(
    spark: SparkSession, tmp_path: Path
) -> None:
    fine = ticking(spark).writeStream.format("noop")
    bad = ticking(spark).select(F.raise_error(F.lit("boom")).alias("x")).writeStream.format("noop")
    running = QueryGroup([fine, bad], tmp_path)
    with pytest.raises(Exception, match="boom"):
        running.wait(30)
    assert not any(query.isActive for query in running.queries)


def test_with_its_checkpoint_a_count_goes_on_after_a_restart(
    broker: Any, spark: SparkSession, clicks: Topic, tmp_path: Path
) -> None:
    dead_letters = DeadLetters(broker.client_config(), clicks.dead_letters.name)
    parsed, table = (
        parse(kafka_stream(spark, broker, clicks.name), dead_letters),
        LocalTable("name"),
    )
    for name in ("before", "after"):
        send(broker, clicks, [click("home"), click(name)])
        with start_counting(page_views(parsed), table, tmp_path) as running:
            running.process_all()
    assert {row["name"]: row["views"] for row in table.rows()} == {
        **COUNTS, "home": COUNTS.get("home", 0) + 2, "before": 1, "after": 1,
    }  # fmt: skip
    assert_letters(read_dead_letters(broker.client_config(), clicks.dead_letters.name), clicks)


def test_a_table_keeps_the_last_row_per_key() -> None:
    table = LocalTable("name")
    table.upsert([{"name": "a", "n": 1}, {"name": "b", "n": 1}])
    table.upsert([{"name": "a", "n": 2}])
    table.upsert([])
    assert table.rows() == [{"name": "a", "n": 2}, {"name": "b", "n": 1}]
    assert (table.version, len(table)) == (2, 2)
    assert list(table.to_pandas().n) == [2, 1]
    single = LocalTable()
    single.upsert([{"views": 1}])
    single.upsert([{"views": 2}])
    assert single.rows() == [{"views": 2}]


def test_a_table_shares_its_rows_with_nobody() -> None:
    table, row = LocalTable("name"), {"name": "a", "n": 1}
    table.upsert([row])
    row["n"] = 2
    table.rows()[0]["n"] = 3
    assert table.rows() == [{"name": "a", "n": 1}]


def test_readers_of_a_table_see_whole_batches() -> None:
    table = LocalTable("key")

    def write() -> None:
        for n in range(300):
            table.upsert([{"key": key, "n": n} for key in range(20)])

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        assert len({row["n"] for row in table.rows()}) <= 1
    assert table.version == 300


def test_nobody_reads_a_table_in_the_middle_of_a_batch() -> None:
    """A key that is compared while the batch is written: at this moment another thread reads."""
    table, seen = LocalTable("key"), list[set[int]]()
    reader = threading.Thread(target=lambda: seen.append({row["n"] for row in table.rows()}))

    class Key:
        def __hash__(self) -> int:
            return 1

        def __eq__(self, other: object) -> bool:
            if reader.ident is None:
                reader.start()
                reader.join(0.2)  # it has to wait for the rest of the batch
            return True

    table.upsert([{"key": "first", "n": 1}, {"key": Key(), "n": 1}])
    table.upsert([{"key": "first", "n": 2}, {"key": Key(), "n": 2}])
    reader.join(10)
    assert seen == [{2}]

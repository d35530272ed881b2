"""A table in SQLite, and the same as a compacted topic: what a micro-batch does to them."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import SparkSession

from workbook.errors import CannotGoOn, NoSuchState, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_messages
from workbook.sinks.followed import Followed
from workbook.sinks.store import Store
from workbook.sinks.table_topic import TableTopic
from workbook.spark.runner import Batch
from workbook.topics import Topic

Row = tuple[str, list[str] | None]


def changes(*rows: Row) -> pa.Table:
    """Clients and what they hold; None where a client holds nothing any more."""
    return pa.table(
        {
            "client": pa.array([client for client, _ in rows], pa.string()),
            "tickers": pa.array([held for _, held in rows], pa.list_(pa.string())),
            "deleted": pa.array([held is None for _, held in rows], pa.bool_()),
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "new" / "store.db", "client")


def test_rows_come_are_replaced_and_go(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"]), ("Al", ["AAPL", "IBM"])), Batch("query", 0))
    store.write(changes(("Bob", None), ("Al", ["AAPL"]), ("Zoë", ["F"])), Batch("query", 1))
    assert store.get("Al") == {"client": "Al", "tickers": ["AAPL"]}
    assert store.get("Bob") is None
    assert [row["client"] for row in store.all()] == ["Al", "Zoë"]
    assert store.some(1) == [{"client": "Al", "tickers": ["AAPL"]}]
    assert len(store) == 2
    assert list(store.to_pandas()["client"]) == ["Al", "Zoë"]


def test_a_micro_batch_that_comes_again_is_left_out(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    store.write(changes(("Bob", None)), Batch("query", 1))
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    store.write(
        changes(("Al", ["F"])), Batch("query", 1)
    )  # the last one, whatever it says this time
    assert len(store) == 0


def test_a_followed_store_gives_the_same_objects_for_what_has_not_changed(store: Store) -> None:
    follow = Followed(store)
    assert follow() == []
    store.write(changes(("Bob", ["IBM"]), ("Al", ["AAPL"])), Batch("query", 0))
    before = follow()
    assert before == follow() == store.all()
    store.write(changes(("Bob", ["F"]), ("Zoë", ["F"])), Batch("query", 1))
    after = follow()
    assert after == store.all()
    assert [row is before[0] for row in after] == [True, False, False]
    store.write(changes(("Al", None)), Batch("query", 2))
    assert follow() == after[1:]
    with ThreadPoolExecutor(1) as another:  # its connection counts by itself
        assert another.submit(follow).result() == after[1:]


def test_another_query_begins_with_an_empty_table(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"]), ("Al", ["F"])), Batch("query", 0))
    store.write(changes(("Al", ["F"])), Batch("another", 0))
    assert store.all() == [{"client": "Al", "tickers": ["F"]}]


def test_the_first_micro_batch_of_another_query_may_come_again(store: Store) -> None:
    """It empties the table once: not what came after it, and not at its own repetition."""
    store.write(changes(("Al", ["F"])), Batch("query", 0))
    store.write(changes(("Bob", ["IBM"])), Batch("another", 0))
    store.write(changes(("Cy", ["GE"])), Batch("another", 1))
    store.write(changes(("Bob", ["IBM"])), Batch("another", 0))
    assert [row["client"] for row in store.all()] == ["Bob", "Cy"]
    with pytest.raises(CannotGoOn, match="the first 0 only"):
        store.write(changes(("Al", ["F"])), Batch("query", 1))  # its table is not here any more


def test_a_reader_makes_no_file_and_writes_nothing(store: Store) -> None:
    missing = store.path.with_name("missing.db")
    with pytest.raises(NoSuchState, match=r"no file .*missing\.db"):
        Store(missing, "client", reading=True)
    assert not missing.exists()
    reader = Store(store.path, "client", reading=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    assert reader.get("Bob") == {"client": "Bob", "tickers": ["IBM"]}


def test_a_store_may_lie_anywhere(tmp_path: Path) -> None:
    path = tmp_path / "100 % größer? #1" / "store.db"
    Store(path, "client").write(changes(("Bob", ["IBM"])), Batch("query", 0))
    assert len(Store(path, "client", reading=True)) == 1
    assert path.is_file()


def test_what_is_no_number_is_valid_json(store: Store) -> None:
    rows = {"client": ["Bob"], "least": [math.nan], "all": [[1.5, math.inf, -math.inf]]}
    store.write(pa.table({**rows, "deleted": [False]}), Batch("query", 0))
    [text] = sqlite3.connect(store.path).execute("SELECT value FROM store").fetchone()
    assert text == '{"client":"Bob","least":"NaN","all":[1.5,"Infinity","-Infinity"]}'


def test_a_store_that_has_missed_a_micro_batch_is_refused(store: Store) -> None:
    with pytest.raises(CannotGoOn, match=r"before 5.*the first 0 only"):
        store.write(changes(("Bob", ["IBM"])), Batch("query", 5))  # as if its file had been deleted
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    with pytest.raises(CannotGoOn, match="fresh checkpoint"):
        store.write(changes(("Bob", None)), Batch("query", 2))
    assert len(store) == 1


def test_the_last_step_of_a_key_counts(store: Store) -> None:
    """As with per_update, where a micro-batch has many rows of a client."""
    rows = changes(("Bob", ["F"]), ("Bob", None), ("Al", None), ("Al", ["IBM"]))
    store.write(rows.append_column("step", pa.array([1, 0, 0, 1])), Batch("query", 0))
    assert {row["client"]: row["tickers"] for row in store.all()} == {"Bob": ["F"], "Al": ["IBM"]}


def test_a_store_of_another_moment_than_its_checkpoint_is_refused(store: Store) -> None:
    store.resume("", -1, -1)  # nothing has begun
    for number in range(3):
        store.write(changes(("Bob", ["IBM"])), Batch("query", number))
    for committed, planned in ((1, 2), (2, 2), (2, 3)):
        store.resume("query", committed, planned)
    for committed, planned in ((3, 3), (0, 1)):  # one is missing; one would be skipped
        with pytest.raises(CannotGoOn, match="to be of the same run"):
            store.resume("query", committed, planned)
    with pytest.raises(CannotGoOn, match="the store 0"):
        store.resume("another", 2, 3)


def test_a_batch_that_fails_halfway_leaves_nothing(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    unfit = changes(("Al", ["F"])).append_column("made", pa.array([date(2026, 1, 1)]))
    with pytest.raises(TypeError):
        store.write(unfit, Batch("query", 1))
    assert [row["client"] for row in store.all()] == ["Bob"]
    store.write(changes(("Al", ["F"])), Batch("query", 1))  # was not noted as written
    assert len(store) == 2


def test_a_reader_in_the_middle_keeps_no_writer_waiting(store: Store) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM store").fetchone() == (0,)
        store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
        assert reader.execute("SELECT count(*) FROM store").fetchone() == (0,)
    assert len(store) == 1


def test_of_two_writers_of_a_micro_batch_one_waits_and_leaves_it_out(store: Store) -> None:
    """As the former life of a query may still write when the next one begins."""
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    with ThreadPoolExecutor() as pool, closing(sqlite3.connect(store.path)) as former:
        former.execute("BEGIN IMMEDIATE")
        former.execute("UPDATE written SET batch = 1")
        second = pool.submit(store.write, changes(("Al", ["F"])), Batch("query", 1))
        assert not wait([second], timeout=0.3).done
        former.commit()
        second.result(20)
    assert [row["client"] for row in store.all()] == ["Bob"]


def test_each_thread_may_read(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    with ThreadPoolExecutor() as pool:
        assert len(store) == pool.submit(len, store).result(20) == 1


READER = """
import sys, time
from pathlib import Path
from workbook.sinks.followed import Followed
from workbook.sinks.store import Store
store, wrong, reads = Store(Path(sys.argv[1]), "client", reading=True), 0, 0
end = time.monotonic() + 1.5
while time.monotonic() < end:
    rows = store.all()
    reads += 1
    wrong += len({row["tickers"][0] for row in rows}) > 1
print(wrong, reads)
"""


def test_a_reader_in_another_process_sees_whole_micro_batches(store: Store) -> None:
    clients = [f"c{number}" for number in range(200)]
    store.write(changes(*((client, ["0"]) for client in clients)), Batch("query", 0))
    reader = subprocess.Popen(
        [sys.executable, "-c", READER, str(store.path)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    batch = 0
    while reader.poll() is None:
        batch += 1
        store.write(changes(*((client, [str(batch)]) for client in clients)), Batch("query", batch))
    wrong, reads = map(int, reader.communicate()[0].split())
    assert reads > 5
    assert batch > 5
    assert wrong == 0


def test_a_row_of_many_is_found_in_two_milliseconds(store: Store) -> None:
    store.write(changes(*((f"c{n:05d}", ["IBM", "F"]) for n in range(10_000))), Batch("query", 0))
    times = []
    for number in range(0, 10_000, 50):
        began = time.perf_counter()
        assert store.get(f"c{number:05d}") is not None
        times.append(time.perf_counter() - began)
    assert sorted(times)[len(times) // 2] < 0.002


# --- the topic --------------------------------------------------------------------------------


def records(broker: Broker, topic: str) -> list[tuple[bytes | None, object]]:
    messages = read_messages(broker.client_config(), topic)
    return [(m.key(), None if m.value() is None else json.loads(m.value())) for m in messages]


def test_a_row_that_goes_is_a_tombstone(broker: Broker, topic: Callable[..., Topic]) -> None:
    name = topic("holders").name
    out = TableTopic(broker.client_config(), name, "client")
    out.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    out.write(changes(("Bob", None)), Batch("query", 1))
    assert records(broker, name) == [
        (b"Bob", {"client": "Bob", "tickers": ["IBM"]}),
        (b"Bob", None),
    ]
    assert out.written == 2


def test_the_rows_of_a_micro_batch_are_sent_by_spark_and_handed_on(
    broker: Broker, spark: SparkSession, topic: Callable[..., Topic]
) -> None:
    name = topic("holders").name
    out = TableTopic(broker.client_config(), name, "client").on_executors()
    rows = changes(("Bob", ["IBM"]), ("Al", None), ("Zoë", ["F", "IBM"]))
    batch = spark.createDataFrame(rows).repartition(2)
    handed_on = out.through(batch)
    assert (out.written, records(broker, name)) == (0, []), "before they are computed"
    found = handed_on.toArrow()
    assert found.sort_by("client").to_pylist() == rows.sort_by("client").to_pylist()
    assert out.written == 3
    sent = sorted(records(broker, name), key=lambda record: record[0] or b"")
    assert sent == [
        (b"Al", None),
        (b"Bob", {"client": "Bob", "tickers": ["IBM"]}),
        ("Zoë".encode(), {"client": "Zoë", "tickers": ["F", "IBM"]}),
    ]


def test_a_keys_rows_keep_their_order_across_what_a_task_is_given_at_a_time(
    broker: Broker, spark: SparkSession, topic: Callable[..., Topic]
) -> None:
    name = topic("holders").name
    out = TableTopic(broker.client_config(), name, "client")
    rows = changes(("Bob", ["C"]), ("Bob", None), ("Bob", ["B"]))
    batch = spark.createDataFrame(rows.append_column("step", [[2, 0, 1]])).coalesce(1)
    setting = "spark.sql.execution.arrow.maxRecordsPerBatch"
    usual = spark.conf.get(setting)
    spark.conf.set(setting, 1)
    try:
        assert out.on_executors().through(batch).count() == 3
    finally:
        spark.conf.set(setting, usual)
    assert records(broker, name) == [
        (b"Bob", None),
        (b"Bob", {"client": "Bob", "tickers": ["B"]}),
        (b"Bob", {"client": "Bob", "tickers": ["C"]}),
    ]


def test_a_row_that_the_broker_does_not_take_fails_the_micro_batch(
    broker: Broker, spark: SparkSession, topic: Callable[..., Topic]
) -> None:
    name = topic("holders").name
    out = TableTopic(broker.client_config(), name, "client", patience=2)
    broker.delete([name])
    with pytest.raises(PythonException, match=f"BrokerUnreachable.* into '{name}'"):
        out.on_executors().through(spark.createDataFrame(changes(("Bob", ["IBM"])))).toArrow()


def test_a_topic_that_does_not_exist_is_named_at_once(broker: Broker) -> None:
    with pytest.raises(TopicMissing, match="no-such-topic"):
        TableTopic(broker.client_config(), "no-such-topic", "client")

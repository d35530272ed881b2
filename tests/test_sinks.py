"""Sinks on a real broker and a real Spark: dead letters, a table, a query that fails."""

import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from brokers import OwnBroker
from collected import Collected
from confluent_kafka import Producer
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from workbook.errors import BrokerUnreachable, Rejected
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters, bounded
from workbook.kafka.producer import SETTINGS
from workbook.kafka.readers import read_dead_letters
from workbook.pipelines.page_views import page_views
from workbook.sources.kafka import kafka_stream
from workbook.sources.records import CLICKS
from workbook.spark.runner import start_query
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.reasons import Reason
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


def assert_letters(config: dict[str, str], topic: Topic) -> None:
    """Exactly the rejected records: reason, source, arrival, key, length and the very bytes.

    Of the one that is larger than a record of the topic may be, its first bytes.
    """
    letters = read_dead_letters(config, topic.dead_letters.name)
    got = {
        (r.partition, r.offset): (r.reason, r.topic, r.arrival, r.key, r.length, r.value)
        for r in letters.itertuples()
    }
    most, _ = bounded(config, topic.dead_letters.name)
    expected = {
        (n % 2, n // 2): (
            *(why.value, topic.name, ARRIVAL, b"k%d" % n, len(value or b"")),
            value if value is None or len(value) <= most else got[n % 2, n // 2][-1],
        )
        for n, why in REJECTED.items()
        for value in [VALUES[n]]
    }
    large = got[0, 6][-1]
    assert VALUES[12].startswith(large)  # type: ignore[union-attr]
    assert len(large) == most // 2
    assert got == expected
    assert len(letters) == len(REJECTED)


def test_spark_sends_dead_letters_and_counts_on(
    broker: Any, spark: SparkSession, clicks: Topic, tmp_path: Path
) -> None:
    table = Collected("name")
    where = clicks.dead_letters.name
    parsed = CLICKS.parse(
        kafka_stream(spark, broker, clicks.name, max_per_batch=5),
        DeadLetters(broker.client_config(), where),
    )
    for name in ("before", "after"):  # a restart goes on from its checkpoint
        send(broker, clicks, [click("home"), click(name)])
        with start_query(page_views(parsed), [table], tmp_path / "1") as running:
            running.process_all()
    assert table.of("views") == {"home": 5, "shoes": 1, "before": 1, "after": 1}
    assert not running.is_active
    assert_letters(broker.client_config(), clicks)


def test_a_query_goes_on_where_python_workers_did_not_start_in_time(
    broker: Any, spark: SparkSession, clicks: Topic, tmp_path: Path
) -> None:
    table, attempts = Collected("name"), tmp_path / "attempts"
    attempts.write_text("")

    def late(frames: Iterator[Any]) -> Iterator[Any]:
        with attempts.open("a") as file:
            file.write("1")
        if len(attempts.read_text()) <= int(attempts.with_name("fail").read_text()):
            raise OSError("Python worker failed to connect back")  # as Spark says it
        yield from frames

    parsed = CLICKS.parse(
        kafka_stream(spark, broker, clicks.name),
        DeadLetters(broker.client_config(), clicks.dead_letters.name),
    )
    (tmp_path / "fail").write_text("2")
    once = parsed.repartition(1)
    rows = page_views(once.mapInPandas(late, parsed.schema))
    send(broker, clicks, [click("home")])
    with start_query(rows, [table], tmp_path / "1") as running:
        running.process_all()
    assert table.of("views") == {"home": 4, "shoes": 1}
    (tmp_path / "fail").write_text("99")
    send(broker, clicks, [click("home")])
    with (
        pytest.raises(StreamingQueryException, match="failed to connect back"),
        start_query(rows, [table], tmp_path / "1") as running,
    ):
        running.process_all()


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


def test_letters_that_nobody_takes_are_an_error(tmp_path: Path) -> None:
    """Once: who goes on starts anew. In a task of Spark they are a copy, as patient as here."""
    with OwnBroker(tmp_path) as server:
        topic = Topic("x.dead-letters")
        config = Broker(server.bootstrap).client_config()
        Broker(server.bootstrap).create(topic)
        here = DeadLetters(config, topic.name, patience=5)
        copy = pickle.loads(pickle.dumps(here))
        letters = (Producing(b"1"), Rejected(Reason.EMPTY))
        here(*letters)
        here.close()
        server.kill()
        here(*letters)
        with pytest.raises(BrokerUnreachable, match=r"to take 1 more .* within 5 s"):
            here.close()
        here.close()
        with pytest.raises(BrokerUnreachable, match=r"none answered for 5 s"):
            copy(*letters)
        copy.close()

"""US share holders from a real topic: whatever comes, the table equals a recomputation by DuckDB.

Two hundred seeds share one topic and one query, each with ids and clients of its own, since a
query of its own for each would take an hour. Keys of more than half of them change their partition
with each record, and only the records' times order them.
"""

import json
import random
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pandas as pd
import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from labs import until
from pyspark.sql import SparkSession

from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import latest_rows, read_all, read_dead_letters, read_messages
from workbook.pipelines.share_holders import REQUIRED_COLUMNS, us_share_holders
from workbook.sinks.store import Store
from workbook.sinks.topics import TableTopic
from workbook.sources.kafka import kafka_stream
from workbook.sources.records import POSITIONS
from workbook.spark import session
from workbook.spark.runner import Running, start_query
from workbook.streams.events.positions import Position
from workbook.topics import SOON, Topic, compacted, new_compacted_topic

SEEDS, QUIET_POINTS, PARTITIONS = 200, 8, 4
LISTED = [("AAPL", "NASDAQ"), ("IBM", "NYSE"), ("GOOG", "NASDAQ"), ("SAP", "XETRA"), ("BP", "LSE")]

BAD = (
    b'{"ticker":"IBM","amount":1,"exchange":"NYSE"}',  # no client
    b'{"client":"x","ticker":"IBM","amount":"ten","exchange":"NYSE"}',
    b'{"client":"x","ticker":"IBM","amount":-1,"exchange":"NYSE"}',
    b'{"client":"x","ticker":"IBM","amount":1,"exchange":"MOON"}',
    b'{"client":"x","ticker":"IBM"',
    b"",
    json.dumps({"client": "x" * 5000, "ticker": "IBM", "amount": 1, "exchange": "NYSE"}).encode(),
)

TRUTH = """
WITH numbered AS (
    SELECT *, row_number() OVER (PARTITION BY position ORDER BY number DESC) AS nth FROM log
)
SELECT client, list(position ORDER BY position) AS positions,
       list_sort(list(DISTINCT ticker)) AS tickers
FROM numbered WHERE nth = 1 AND NOT deleted AND exchange IN ('NYSE', 'NASDAQ') GROUP BY client
"""


@dataclass
class Seed:
    """Random deeds with few positions of few clients."""

    number: int
    draw: random.Random = field(init=False)
    last: dict[str, bytes | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.number)

    def deeds(self) -> Iterator[tuple[str, bytes | None, dict[str, Any]]]:
        """Until the next quiet point: key, value, and what the record says."""
        for _ in range(self.draw.choice([0, 1, 2, 3, 8])):
            key = f"s{self.number}-p{self.draw.randrange(6)}"
            kind = self.draw.random()
            if kind < 0.2:
                yield key, None, {"deleted": True}
            elif kind < 0.28:
                yield key, self.draw.choice(BAD), {"deleted": True}
            else:
                yield key, *self._position()

    def _position(self) -> tuple[bytes, dict[str, Any]]:
        ticker, exchange = self.draw.choice(LISTED)
        client = f"s{self.number}-c{self.draw.randrange(3)}"
        position = Position(client, ticker, self.draw.randint(1, 9), exchange)
        fields = {"client": client, "ticker": ticker, "exchange": exchange, "deleted": False}
        return position.to_json(), fields


class Market:
    """The topics, what was sent, and a query that can be ended and started again."""

    def __init__(
        self, spark: SparkSession, broker: Broker, topic: Topic | None = None, *, soon: bool = False
    ) -> None:
        self.spark, self.broker = spark, broker
        self.topic = topic or new_compacted_topic("positions", "random", PARTITIONS, soon=soon)
        self.out = compacted(f"{self.topic.name}.holders.{secrets.token_hex(2)}", PARTITIONS)
        broker.create(self.topic, self.topic.dead_letters, self.out)
        self.log: list[dict[str, Any]] = []
        self.bad, self.began = 0, int(time.time() * 1000)
        self.place = session.checkpoint(self.out.name)
        self.store = Store(self.place / "store.db", "client")
        self.running: Running | None = None
        # Without idempotence a batch that is sent again may come after its successor.
        settings = {"linger.ms": 5, "enable.idempotence": True}
        self.producer = Producer({**broker.client_config(), **settings})

    def send(self, key: str, value: bytes | None, fields: dict[str, Any]) -> None:
        number = len(self.log)
        partition = number * 7 % PARTITIONS if key.startswith("s1") else -1  # -1: that of the key
        self.producer.produce(
            self.topic.name, value, key.encode(), partition, timestamp=self.began + number
        )
        self.bad += value in BAD
        blank = {"client": None, "ticker": None, "exchange": None}
        self.log.append({**blank, **fields, "position": key, "number": number})

    def start(self, per_batch: int) -> None:
        dead_letters = DeadLetters(self.broker.client_config(), self.topic.dead_letters.name)
        raw = kafka_stream(self.spark, self.broker, self.topic.name, max_per_batch=per_batch)
        out = TableTopic(self.broker.client_config(), self.out.name, "client")
        holders = us_share_holders(POSITIONS.parse(raw, dead_letters, REQUIRED_COLUMNS))
        self.running = start_query(holders, [out, self.store], self.place)

    def quiet(self) -> None:
        self.producer.flush()
        assert self.running is not None
        self.running.process_all()

    def truth(self) -> dict[str, Any]:
        rows = duckdb.from_df(pd.DataFrame(self.log)).query("log", TRUTH).fetchall()
        return {client: (positions, tickers) for client, positions, tickers in rows}

    def told(self) -> dict[str, Any]:
        """What a reader of the result topic knows."""
        known = latest_rows(read_messages(self.broker.client_config(), self.out.name))
        return {client: (row["positions"], row["tickers"]) for client, row in known.items()}


def in_store(store: Store) -> dict[str, Any]:
    return {row["client"]: (row["positions"], row["tickers"]) for row in store.all()}


@pytest.fixture
def market(spark: SparkSession, broker: Broker) -> Iterator[Market]:
    market = Market(spark, broker)
    yield market
    if market.running is not None:
        market.running.stop()


def test_the_table_equals_a_recomputation_at_every_quiet_point(market: Market) -> None:
    seeds, draw = [Seed(number) for number in range(SEEDS)], random.Random(6)
    market.start(per_batch=300)
    for point in range(QUIET_POINTS):
        for seed in draw.sample(seeds, len(seeds)):
            for deed in seed.deeds():
                market.send(*deed)
        if point == QUIET_POINTS // 2:  # goes on in another query, from the same checkpoint
            assert market.running is not None
            market.running.stop()
            market.start(per_batch=1000)
        market.quiet()
        assert in_store(market.store) == market.truth(), f"at quiet point {point}"
    assert market.told() == market.truth()
    letters = read_dead_letters(market.broker.client_config(), market.topic.dead_letters.name)
    assert len(letters) == market.bad > 100
    assert letters["reason"].nunique() == 6


def test_a_table_read_from_what_compaction_left_is_the_same(spark, broker) -> None:
    first = Market(spark, broker, soon=True)
    for seed in map(Seed, range(60)):
        for _ in range(6):
            for deed in seed.deeds():
                first.send(*deed)
    first.start(per_batch=500)
    first.quiet()
    assert in_store(first.store) == first.truth()
    config, name = broker.client_config(), first.topic.name
    left = wait_until_compacted(config, name, roll(config, name))
    assert len(left) < len(first.log) / 2

    second = Market(spark, broker, first.topic)  # never saw what is gone
    second.start(per_batch=500)
    second.quiet()
    assert in_store(second.store) == first.truth()
    for market in (first, second):
        assert market.running is not None
        market.running.stop()


# --- compaction, now --------------------------------------------------------------------------


MARKER = b"~roll"
"""The key of the records that close a segment: a tombstone for what no table has."""


def roll(config: Mapping[str, Any], topic: str) -> dict[int, int]:
    """Close the active segment of each partition of a topic made with ``soon`` by one more record.

    It's closed by the first record whose timestamp is more than ``segment.ms`` after that of its
    own first one: this waits for so long after the newest. Returns of each partition the offset of
    the record written: what lies below can be compacted from now on, that record cannot.
    """
    admin = AdminClient({**config, "log_level": 0})
    partitions = admin.list_topics(topic, 10).topics[topic].partitions
    asked = {TopicPartition(topic, p): OffsetSpec.max_timestamp() for p in partitions}
    newest = max(found.result().timestamp for found in admin.list_offsets(asked).values())
    due = newest + int(SOON["segment.ms"]) + 2
    until(lambda: time.time() * 1000 > due, "the segment to be old enough")
    with DeliveringProducer(config, topic) as producer:
        return {p: producer.send_now(None, MARKER, p).offset for p in partitions}


def wait_until_compacted(
    config: Mapping[str, Any], topic: str, rolled: Mapping[int, int]
) -> pd.DataFrame:
    """Wait until each key is there once below the offsets that ``roll`` returned; return them."""
    records = pd.DataFrame()

    def is_compacted() -> bool:
        nonlocal records
        records = read_all(dict(config), topic)
        closed = records[records["offset"] < records["partition"].map(dict(rolled))]
        closed = closed[closed["key"] != MARKER]
        return not closed.duplicated(["partition", "key"]).any()

    until(is_compacted, f"{topic} to be compacted")
    return records[records["key"] != MARKER].reset_index(drop=True)

"""US share holders from a real topic: whatever comes, the table equals a recomputation by DuckDB.

Two hundred seeds share one topic and one query, each with ids and clients of its own, since a
query of its own for each would take an hour. Keys of more than half of them change their partition
with each record, and only the records' times order them.
"""

import json
import random
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import duckdb
import pandas as pd
import pytest
from brokers import produce
from confluent_kafka import Producer
from labs import until
from pyspark.sql import SparkSession

from workbook.kafka.broker import Broker
from workbook.kafka.readers import latest_rows, read_all, read_dead_letters, read_messages
from workbook.spark import session
from workbook.spark.runner import OnPoint, Running
from workbook.streams.events.positions import Position
from workbook.systems import SYSTEMS
from workbook.systems.base import Job
from workbook.topics import SOON, Topic, compacted, new_compacted_topic

SYSTEM = SYSTEMS["share_holders"]
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
        words = ["--in", self.topic.name, "--out", self.out.name, "--max-per-batch", str(per_batch)]
        options = SYSTEM.options(words)
        started = SYSTEM.start(Job(self.spark, self.broker, options, self.place, OnPoint()))
        self.running, self.store = started.running, started.sinks[-1]

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

    def kept(self) -> dict[str, Any]:
        """What the store has."""
        return {row["client"]: (row["positions"], row["tickers"]) for row in self.store.all()}


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
        assert market.kept() == market.truth(), f"at quiet point {point}"
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
    first.producer.flush()
    config, name = broker.client_config(), first.topic.name
    due = first.began + len(first.log) + int(SOON["segment.ms"])
    until(lambda: time.time() * 1000 > due, "segments to be old enough: the next record ends them")
    produce(config, name, *((None, b"~end", partition) for partition in range(PARTITIONS)))
    until(lambda: len(read_all(config, name)) < len(first.log) / 2, f"{name} to be compacted")
    second = Market(spark, broker, first.topic)  # never saw what is gone
    second.start(per_batch=500)
    second.quiet()
    assert second.kept() == first.truth()
    assert second.running is not None
    second.running.stop()

"""Runs of the ad statistics on real servers, over a topic of their own."""

import secrets
from pathlib import Path

import pandas as pd
import psycopg
from pyspark.sql import SparkSession

from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_dead_letters
from workbook.spark.runner import OnPoint
from workbook.stack.addresses import database, registry
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.ledgers.actions import judge
from workbook.streams.stream_producer import send_replicated
from workbook.systems import SYSTEMS
from workbook.systems.base import Job
from workbook.topics import Topic


class Run:
    """A system's runs over one long-lived topic, in a schema of its own."""

    def __init__(self, broker: Broker, spark: SparkSession, name: str, partitions: int) -> None:
        self.broker, self.spark, self.system = broker, spark, SYSTEMS["ad_statistics"]
        self.name = f"{name}_{secrets.token_hex(3)}"
        self.config, self.topic = broker.client_config(), Topic(f"{self.name}.long", partitions)
        words = ["--in", self.topic.name, "--subject", f"{self.name}-value", "--schema", self.name]
        self.options = self.system.options([*words, "--out", f"{self.name}.totals"])
        self.options.max_per_batch = 4_000
        results = self.system.results(self.options, partitions)
        broker.create(self.topic, self.topic.dead_letters, *results)
        self.ids = prepare(self.name, registry("test"))["ids"]

    def send(self, stream: AdActionStream, first: int, last: int) -> None:
        block = stream.block(first, last)
        values, arrivals = block["value"].to_pylist(), block["arrival"].to_pylist()
        send_replicated(self.config, self.topic.name, zip(values, arrivals, strict=True))

    def start(self, checkpoint: Path, at: OnPoint | None = None):
        job = Job(self.spark, self.broker, self.options, checkpoint, at or OnPoint())
        return self.system.start(job).running

    def through(self, checkpoint: Path) -> None:
        with self.start(checkpoint) as running:
            running.process_all()

    def ask(self, query: str) -> list[tuple]:
        with psycopg.connect(database("test")) as connection:
            connection.execute(f'SET search_path TO "{self.name}"')
            return connection.execute(query).fetchall()

    def counts(self) -> pd.DataFrame:
        columns = ["ad", "day", "type", "source", "count"]
        return pd.DataFrame(self.ask("SELECT * FROM counts"), columns=columns)

    def verdict(self, expected: pd.DataFrame):
        accounts = dict(self.ask("SELECT fate, sum(count)::bigint FROM fates GROUP BY fate"))
        letters = read_dead_letters(self.config, self.topic.dead_letters.name)
        return judge(expected, self.counts(), accounts, letters)

    def viewers(self) -> dict[tuple, bytes]:
        rows = self.ask("SELECT ad, day, sketch FROM viewers")
        return {(ad, day): sketch for ad, day, sketch in rows}

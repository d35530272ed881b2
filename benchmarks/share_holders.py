"""Measures how fast chapter 21 keeps its table of US share holders from a changelog.

    .venv/bin/python benchmarks/share_holders.py [--updates 1000000] [--runs 3] [--no-peer]

One topic of 8 partitions is written once: a million updates over 100,000 positions of 10,000
clients, 5 % tombstones. In one run: a raw consumer that parses nothing is the floor; the pipeline
in a fresh session (cold), again in the same one (warm start), and in batches of a running query;
the same in Kafka Streams with its cache on (see benchmarks/peers). No figure is printed before
the table equals what DuckDB computes from the records.
"""

import argparse
import json
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from peers import kafka_streams
from views_per_second import Cost, cost, floor, peak_memory, report

from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import latest_rows, read_messages
from workbook.pipelines import share_holders
from workbook.sinks.store import Store
from workbook.sinks.table_topic import TableTopic
from workbook.sources import formats
from workbook.sources.kafka import kafka_stream
from workbook.spark import session
from workbook.spark.runner import start_query
from workbook.stack.addresses import kafka
from workbook.streams.generators.positions import PositionStream
from workbook.streams.stream_producer import generate
from workbook.tables.ktable import collect_set, count, sum_of
from workbook.topics import Topic, compacted, new_topic

PARTITIONS, POSITIONS, CLIENTS = 8, 100_000, 10_000

TRUTH = """
WITH last AS (
    SELECT * FROM log QUALIFY row_number() OVER (PARTITION BY position ORDER BY number DESC) = 1
)
SELECT client, list(position ORDER BY position) AS positions, count(*) AS number,
       CAST(sum(amount) AS BIGINT) AS shares
FROM last WHERE NOT deleted AND exchange IN ('NYSE', 'NASDAQ') GROUP BY client
"""

SETS = {"positions": collect_set("position")}
SUMS = {"number": count(), "shares": sum_of("amount")}


def recomputed(stream: PositionStream, updates: int) -> pd.DataFrame:
    """Compute who holds what with DuckDB, from the stream's own list of its messages."""
    log = stream.expected(0, updates)
    log["number"] = range(len(log))
    return duckdb.from_df(log).query("log", TRUTH).df().set_index("client")  # type: ignore[union-attr]


class Table:
    """The pipeline on a topic; each run has a checkpoint, a store and a result topic of its own."""

    def __init__(self, broker: Broker, topic: Topic, right: pd.DataFrame) -> None:
        self.broker, self.topic, self.right = broker, topic, right

    def run(
        self, spark: Any, aggregates: dict[str, Any], per_batch: int, stored: bool = True
    ) -> Callable[[], Any]:
        """Bring the whole topic into a table; return a function that checks it.

        Without a store the executors write the result topic, as with ``run … --no-store``.
        """
        out = compacted(new_topic("holders", "bench").name, PARTITIONS)
        self.broker.create(out)
        config, place = self.broker.client_config(), session.checkpoint(out.name)
        store = Store(place / "store.db", "client")
        raw = kafka_stream(spark, self.broker, self.topic.name, max_per_batch=per_batch)
        dead_letters = DeadLetters(config, self.topic.dead_letters.name)
        parsed = formats.POSITIONS.parse(
            raw, dead_letters, (*share_holders.REQUIRED_COLUMNS, *self._more(aggregates))
        )
        holders = share_holders.us_positions(parsed).group_by("client").aggregate(**aggregates)
        sinks = [TableTopic(config, out.name, "client"), *([store] if stored else [])]
        with start_query(holders, sinks, place) as running:
            running.process_all()
            batches = [json.loads(p.json) for p in running.query.recentProgress]

        def check() -> list[dict[str, Any]]:
            if stored:
                self._compare(store.all(), aggregates)
            self._compare(list(told(config, out.name).values()), aggregates)
            shutil.rmtree(place)
            self.broker.delete([out.name])
            return batches

        return check

    def _more(self, aggregates: dict[str, Any]) -> tuple[str, ...]:
        return ("amount",) if aggregates is SUMS else ()

    def _compare(self, rows: list[dict[str, Any]], aggregates: dict[str, Any]) -> None:
        found = {row["client"]: tuple(row[name] for name in aggregates) for row in rows}
        columns = (self.right[name] for name in aggregates)
        assert found == {
            client: tuple(v if isinstance(v, int) else _plain(v) for v in values)
            for client, *values in zip(self.right.index, *columns, strict=True)
        }


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else list(value)


def told(config: dict[str, str], topic: str) -> dict[str, Any]:
    """Return the table as a reader of the result topic sees it."""
    return latest_rows(read_messages(config, topic))


PEERS = (
    ("as it comes, cold", kafka_streams.DEFAULT, 1),
    ("tuned, cold", kafka_streams.TUNED, 1),
    ("tuned, warm (third run in one JVM)", kafka_streams.TUNED, 3),
)


# --- the peer ---------------------------------------------------------------------------------


def peer(
    broker: Broker,
    topic: Topic,
    right: pd.DataFrame,
    updates: int,
    settings: Mapping[str, str],
    rounds: int,
) -> Cost:
    """Kafka Streams, its cache on: seconds of the last round, its result compared."""
    out = compacted(new_topic("holders", "peer").name, PARTITIONS)
    broker.create(out)
    seconds = kafka_streams.share_holders(
        broker.bootstrap, topic.name, out.name, updates, settings=settings, rounds=rounds
    )
    found = told(broker.client_config(), out.name)
    assert {c: sorted(v) for c, v in found.items()} == {
        c: list(v) for c, v in right["positions"].items()
    }
    broker.delete([out.name])
    return Cost(seconds, float("nan"))


# --- the run ----------------------------------------------------------------------------------


def main() -> None:
    options = arguments()
    broker, topic = kafka("bench"), new_topic("positions", "bench", PARTITIONS)
    topic = compacted(topic.name, PARTITIONS)
    broker.create(topic, topic.dead_letters)
    stream = PositionStream(
        rate=20_000, partitions=PARTITIONS, positions=POSITIONS, clients=CLIENTS
    ).ending_by(int(time.time() * 1000), options.updates)
    right = recomputed(stream, options.updates)
    generate(broker.client_config(), topic.name, stream, options.updates)
    print(f"{options.updates:,} updates of {POSITIONS:,} positions; {len(right):,} clients hold\n")
    print("| | updates/s, best | median | CPU µs per update |\n| --- | --- | --- | --- |")
    floors = [cost(lambda: floor(broker, topic, options.updates))[0] for _ in range(options.runs)]
    report("raw consumer, nothing parsed", floors, options.updates)
    if options.peer:
        kafka_streams.classpath()
        for name, settings, rounds in PEERS:
            found = [
                peer(broker, topic, right, options.updates, settings, rounds)
                for _ in range(options.runs)
            ]
            report(f"Kafka Streams, {name}", found, options.updates)
    table, figures = Table(broker, topic, right), dict[str, list[Cost]]()
    for _ in range(options.runs):
        one_session(table, options, figures)
    for name, costs in figures.items():
        report(name, costs, options.updates)


def one_session(table: Table, options: argparse.Namespace, figures: dict[str, list[Cost]]) -> None:
    """A cold run, warm ones, and batches of a running query, in one Spark session."""
    start, spark = cost(lambda: session.spark_session(quiet=True))
    for name, aggregates, per_batch, stored in (
        ("pipeline, cold: sets", SETS, 2_000_000, True),
        ("pipeline, second query: sets", SETS, 2_000_000, True),
        ("pipeline, second query: count and sum", SUMS, 2_000_000, True),
        ("pipeline, second query, no store: sets", SETS, 2_000_000, False),
        ("pipeline, warm batches: sets", SETS, options.updates // 4, True),
        ("pipeline, warm batches: count and sum", SUMS, options.updates // 4, True),
        ("pipeline, warm batches, no store: sets", SETS, options.updates // 4, False),
    ):
        spent, check = cost(lambda: table.run(spark, aggregates, per_batch, stored))  # noqa: B023
        batches = check()
        if "batches" in name:
            spent = _warm(batches, options.updates)
        elif "cold" in name:
            whole = Cost(start.seconds + spent.seconds, start.cpu + spent.cpu)
            figures.setdefault("pipeline, session start included: sets", []).append(whole)
        figures.setdefault(name, []).append(spent)
    print(f"<!-- Spark's Java: {peak_memory():.1f} GB at its peak -->")
    session.stop_spark(spark)


def _warm(batches: list[dict[str, Any]], updates: int) -> Cost:
    """Return the time of all updates at the pace of the batches after the first."""
    later = batches[1:]
    rows = sum(batch["numInputRows"] for batch in later)
    seconds = sum(batch["durationMs"]["triggerExecution"] for batch in later) / 1000
    return Cost(seconds * updates / rows, float("nan"))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--updates", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--no-peer", dest="peer", action="store_false")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Measures how fast ad actions are counted into PostgreSQL, each once: `run ad_statistics`.

    .venv/bin/python benchmarks/ad_statistics.py [--actions 5000000] [--runs 3] [--no-peer]
    .venv/bin/python benchmarks/ad_statistics.py --latency 5000 [--seconds 60] [--real-time]
    .venv/bin/python benchmarks/ad_statistics.py --viewers 500000 [--actions 1000000] [--runs 3]

One long-lived topic of 8 partitions is written once, as `run replicate` writes it. In one run: a
raw consumer that parses nothing, and Spark reading the bytes, are the floor; the same statistics in
Kafka Streams, without a database or registry (see benchmarks/peers); ours in a fresh session (cold)
and again in the same one (warm), each time into fresh tables; then a replay of all days. No figure
is printed before totals, fates and dead letters are what the generator's ledger says.

With --latency: from an action's arrival until its count can be read in PostgreSQL, at a steady
rate; from the long-lived topic, and with `run replicate` before it.

With --viewers: the same actions with and without the join to a table of as many viewers, in pairs
in one session, after a run of each that isn't measured. The ratio is that of a pair.
"""

import argparse
import hashlib
import os
import secrets
import statistics
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pyarrow.compute as pc
from confluent_kafka import Producer
from pyspark import SparkContext

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")

from peers import kafka_streams
from views_per_second import Cost, cost, floor

from workbook.kafka.broker import Broker
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.producer import SETTINGS
from workbook.kafka.readers import latest_rows, read_messages
from workbook.sinks.counts_table import KEY, CountsTable
from workbook.spark import session
from workbook.spark.runner import OnPoint
from workbook.stack.addresses import database, kafka, registry
from workbook.stack.process import family
from workbook.streams.events.ad_actions import ARRIVAL, Fate
from workbook.streams.generators.ad_actions import ZIPF_EXPONENT, AdActionStream, prepare
from workbook.streams.generators.viewers import ViewerStream
from workbook.streams.stream_producer import generate
from workbook.systems.ad_statistics import AdStatistics
from workbook.systems.base import Job, Started
from workbook.topics import Topic, compacted, new_topic

PARTITIONS, BLOCK = 8, 100_000

AS_REPLICATED = {
    # Spark's Kafka sink leaves these at the Java client's defaults.
    **{"compression.type": "none", "batch.size": 16_384},
    **{"linger.ms": 5, "queue.buffering.max.messages": 500_000},
}


class LongLived:
    """A topic as `run replicate` writes it: by SHA-1 of the value, the arrival in a header."""

    def __init__(self, broker: Broker, topic: str) -> None:
        self.topic = topic
        self._producer = Producer({**SETTINGS, **AS_REPLICATED, **broker.client_config()})

    def send(self, values: list[bytes], arrivals: list[int]) -> None:
        for value, arrival in zip(values, arrivals, strict=True):
            key, at = hashlib.sha1(value).digest(), str(arrival)
            while True:
                with suppress(BufferError):
                    self._producer.produce(self.topic, value, key, headers={ARRIVAL: at})
                    break
                self._producer.poll(0.1)
        self._producer.poll(0)

    def close(self) -> None:
        assert self._producer.flush(60) == 0


@dataclass
class Expected:
    """What the ledger predicts: totals by ad, day, type and source, and records by fate."""

    counts: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    fates: Counter[str] = field(default_factory=Counter)

    @property
    def letters(self) -> int:
        return self.fates[Fate.REJECTED] + self.fates[Fate.TOO_OLD]


def blocks(actions: int) -> Iterator[tuple[int, int]]:
    return ((first, min(first + BLOCK, actions)) for first in range(0, actions, BLOCK))


def filled(broker: Broker, stream: AdActionStream, actions: int) -> tuple[Topic, Expected]:
    """Write the topic, and count what it holds by the ledger."""
    topic, right = new_topic("ad_actions.long-lived", "bench", PARTITIONS), Expected()
    broker.create(topic)
    writer = LongLived(broker, topic.name)
    for first, stop in blocks(actions):
        block, facts = stream.block(first, stop), stream.expected(first, stop)
        writer.send(block["value"].to_pylist(), block["arrival"].to_pylist())
        accepted = facts[facts.fate == Fate.ACCEPTED.value]
        right.counts.update(accepted.groupby(list(KEY)).size().to_dict())
        right.fates.update(facts.fate.value_counts().to_dict())
    writer.close()
    return topic, right


# --- ours -------------------------------------------------------------------------------------


class Ours:
    """The system on a topic; each run has a checkpoint, dead letters and tables of its own."""

    def __init__(self, broker: Broker, topic: str, subject: str, per_batch: int) -> None:
        self.broker, self.topic, self.subject = broker, topic, subject
        self.per_batch, self.system = per_batch, AdStatistics()
        self.keys: list[int] = []
        """The distinct keys of each micro-batch, so far."""

        self.replays: list[Cost] = []
        self.more: list[str] = []
        """Further options of each run."""

    @contextmanager
    def started(self, spark: Any) -> Iterator[tuple[Started, str]]:
        """Start it as `workbook run` does; the name is that of its tables' schema."""
        name = f"bench_{secrets.token_hex(4)}"
        letters = Topic(f"{self.topic}.{name}")
        self.broker.create(letters)
        started = self._start(spark, name, "--dead-letters", letters.name)
        try:
            yield started, name
        finally:
            started.running.stop()
            with psycopg.connect(database("bench")) as connection:
                connection.execute(f"DROP SCHEMA {name} CASCADE")
            self.broker.delete([letters.name])

    def _start(self, spark: Any, name: str, *more: str) -> Started:
        words = f"--in {self.topic} --subject {self.subject} --schema {name} "
        words += f"--max-per-batch {self.per_batch}"
        options = self.system.options([*words.split(), *more, *self.more])
        place = session.checkpoint(name) / secrets.token_hex(2)
        return self.system.start(Job(spark, self.broker, options, place, OnPoint()))

    def run(self, spark: Any, right: Expected, *, replays: bool = False) -> Cost:
        """Count the whole topic; the cost of it, once the result is found to be right."""
        written: list[Any] = []
        began = cost_so_far()
        with noted(written), self.started(spark) as (started, name):
            started.running.process_all()
            spent = began()
            self._compare(name, right)
            if replays:
                self.replays.append(self._replayed(spark, name, right))
        counts = [rows.filter(pc.equal(rows["kind"], "count")) for rows in written]
        self.keys += [len(rows.group_by(list(KEY)).aggregate([])) for rows in counts]
        return spent

    def _replayed(self, spark: Any, name: str, right: Expected) -> Cost:
        """Replay all days, while the live query waits for more."""
        days = sorted(day for _, day, *_ in right.counts)
        began = cost_so_far()
        replay = self._start(spark, name, "--from", str(days[0]), "--to", str(days[-1])).running
        while not replay.wait(60):
            pass
        replay.stop()
        spent = began()
        self._compare(name, right)
        return spent

    def _compare(self, name: str, right: Expected) -> None:
        with psycopg.connect(database("bench")) as asked:
            totals = asked.execute(f"SELECT {', '.join(KEY)}, count FROM {name}.counts").fetchall()
            fates = asked.execute(
                f"SELECT fate, sum(count)::bigint FROM {name}.fates "
                "WHERE pipeline = 'ad_statistics' GROUP BY fate"
            ).fetchall()
        assert {tuple(key): count for *key, count in totals} == right.counts
        assert {fate: count for fate, count in fates if count} == right.fates
        assert held(self.broker, f"{self.topic}.{name}") >= right.letters


def cost_so_far() -> Callable[[], Cost]:
    """Begin to measure; what is returned says the cost since then."""
    from views_per_second import cpu_seconds

    cpu, began = cpu_seconds(), time.monotonic()
    return lambda: Cost(time.monotonic() - began, cpu_seconds() - cpu)


@contextmanager
def noted(written: list[Any]) -> Iterator[None]:
    """Keep the rows of each micro-batch that is written meanwhile."""
    write = CountsTable.write

    def noting(self: CountsTable, rows: Any, batch: Any) -> None:
        written.append(rows)
        write(self, rows, batch)

    CountsTable.write = noting  # type: ignore[method-assign]
    try:
        yield
    finally:
        CountsTable.write = write  # type: ignore[method-assign]


def held(broker: Broker, topic: str) -> int:
    return sum(p.end - p.begin for p in partition_offsets(broker.client_config(), topic))


class Memory(threading.Thread):
    """Watches the resident memory of Spark's Java and its Python workers together, in GB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.peak, self.of_java, self._over = 0.0, 0.0, threading.Event()
        self.start()

    def run(self) -> None:
        java = SparkContext._gateway.proc.pid  # type: ignore[union-attr]
        while not self._over.wait(0.2):
            sizes = {}
            for process in family(java):
                with suppress(psutil.Error):
                    sizes[process.pid] = process.memory_info().rss / 1e9
            self.peak = max(self.peak, sum(sizes.values()))
            self.of_java = max(self.of_java, sizes.get(java, 0))

    def stop(self) -> None:
        self._over.set()
        self.join()


# --- the others -------------------------------------------------------------------------------


def peer(
    broker: Broker, topic: str, right: Expected, ids: tuple[int, int], rounds: int, every_ms: int
) -> Cost:
    """Kafka Streams, tuned: seconds of the last round; what all rounds wrote is compared."""
    letters = new_topic("ad_actions.dead-letters", "peer")
    stem = new_topic("ad_counts", "peer").name
    targets = [compacted(f"{stem}-{number + 1}", PARTITIONS) for number in range(rounds)]
    broker.create(letters, *targets)
    topics = {"source": topic, "letters": letters.name, "target": stem}
    seconds = kafka_streams.ad_statistics(
        broker.bootstrap, topics, right.fates.total(), ids, rounds=rounds, every_ms=every_ms
    )
    wanted = {"\t".join(map(str, key)): count for key, count in right.counts.items()}
    for target in targets:
        assert latest_rows(read_messages(broker.client_config(), target.name)) == wanted
    assert held(broker, letters.name) == rounds * right.letters
    broker.delete([letters.name, *(target.name for target in targets)])
    return Cost(seconds, float("nan"))


def bytes_only(spark: Any, broker: Broker, topic: str) -> None:
    """Let Spark read the values into nothing."""
    rows = spark.read.format("kafka").options(**broker.spark_options(), subscribe=topic).load()
    rows.select("value").write.format("noop").mode("overwrite").save()


def throughput(broker: Broker, options: argparse.Namespace) -> None:
    ids = prepare("ad_actions", registry("bench"))["ids"]
    stream = AdActionStream(rate=options.rate, ids=ids).ending_by(now(), options.actions)
    topic, right = filled(broker, stream, options.actions)
    fates = ", ".join(f"{count:,} {fate}" for fate, count in right.fates.most_common())
    print(f"{options.actions:,} actions over {options.actions / options.rate / 60:.0f} minutes of")
    print(f"{stream.ads:,} ads (Zipf {ZIPF_EXPONENT}), {len(right.counts):,} keys: {fates}\n")
    print("| | messages/s, best | all runs | CPU µs per message |\n| --- | --- | --- | --- |")
    row = partial(report, messages=options.actions)
    read = partial(floor, broker, topic, options.actions)
    row("raw consumer, nothing parsed", [cost(read)[0] for _ in range(options.runs)])
    if options.peer:
        for name, rounds in (("cold", 1), ("warm (third run in one JVM)", 3)):
            count = partial(peer, broker, topic.name, right, ids, rounds, options.every)
            row(f"Kafka Streams, tuned, {name}", [count() for _ in range(options.runs)])
    system = Ours(broker, topic.name, "ad_actions-value", options.per_batch)
    figures: dict[str, list[Cost]] = {}
    for _ in range(options.runs):
        start, spark = cost(lambda: session.spark_session(quiet=True))
        memory = Memory()
        cold, warm = (system.run(spark, right, replays=warm) for warm in (False, True))
        memory.stop()
        nothing = [cost(partial(bytes_only, spark, broker, topic.name))[0] for _ in range(2)]
        session.stop_spark(spark)
        for name, spent in (
            ("Spark, bytes into nothing, warm", nothing[-1]),
            ("ours, cold", cold),
            ("ours, session start included", Cost(start.seconds + cold.seconds, float("nan"))),
            ("ours, warm", warm),
            ("ours, warm, a replay of all days", system.replays[-1]),
        ):
            figures.setdefault(name, []).append(spent)
    for name, costs in figures.items():
        row(name, costs)
    print(f"\nKeys of a micro-batch of {options.per_batch:,}: {sorted(set(system.keys))}")
    print(f"Java and Python workers took {memory.peak:.1f} GB, Java {memory.of_java:.1f} of it.")


def with_viewers(broker: Broker, options: argparse.Namespace) -> None:
    """Print the rates with the join to viewers and without it, and the ratio of each pair."""
    ids = prepare("ad_actions", registry("bench"))["ids"]
    stream = AdActionStream(rate=options.rate, ids=ids, users=options.viewers)
    topic, right = filled(broker, stream.ending_by(now(), options.actions), options.actions)
    table = compacted(f"{topic.name}.viewers", PARTITIONS)
    broker.create(table)
    people = ViewerStream(users=options.viewers, partitions=PARTITIONS)
    generate(broker.client_config(), table.name, people, options.viewers)
    system = Ours(broker, topic.name, "ad_actions-value", options.per_batch)
    spark, ratios = session.spark_session(quiet=True), []
    print(f"{options.actions:,} actions, {options.viewers:,} viewers, {len(right.counts):,} keys\n")
    print("| | without, actions/s | with | ratio | CPU µs without | with |")
    print("| --- | --- | --- | --- | --- | --- |")
    for number in range(1 + options.runs):
        costs = []
        for more in ([], ["--viewers", table.name]):
            system.more = more
            costs.append(system.run(spark, right))
        plain, joined = (options.actions / each.seconds for each in costs)
        cpu = " | ".join(f"{each.cpu / options.actions * 1e6:.1f}" for each in costs)
        row = (f"pair {number}" if number else "warm-up", f"{plain:,.0f}", f"{joined:,.0f}")
        print(f"| {' | '.join(row)} | {joined / plain:.2f} | {cpu} |", flush=True)
        ratios += [joined / plain] if number else []
    print(f"\nThe median of the ratios: {statistics.median(ratios):.2f}")


def report(name: str, costs: list[Cost], messages: int) -> None:
    """One line of the table."""
    rates = sorted((messages / c.seconds for c in costs), reverse=True)
    cpu = statistics.median(c.cpu for c in costs) / messages * 1e6
    every = ", ".join(f"{rate:,.0f}" for rate in rates)
    print(f"| {name} | {rates[0]:,.0f} | {every} | {cpu:.2f} |", flush=True)


def now() -> int:
    return int(time.time() * 1000)


def main() -> None:
    options = arguments()
    broker = kafka("bench")
    if options.latency:
        from ad_latency import latency

        latency(broker, options)
    elif options.viewers:
        with_viewers(broker, options)
    else:
        throughput(broker, options)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--actions", type=int, default=5_000_000)
    parser.add_argument("--rate", type=float, default=1157, help="actions per second of arrival")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--per-batch", type=int, default=AdStatistics.most)
    parser.add_argument("--every", type=int, default=5000, help="the peer's commit interval, ms")
    parser.add_argument("--no-peer", dest="peer", action="store_false")
    parser.add_argument("--latency", type=float, metavar="RATE", help="actions per second")
    parser.add_argument("--viewers", type=int, metavar="N", help="measure the join to N viewers")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--real-time", action="store_true", help="the replicator's mode")
    return parser.parse_args()


if __name__ == "__main__":
    main()

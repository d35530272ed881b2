"""Measures how fast page views are counted: by `run page_views` and by Spark's window.

    .venv/bin/python benchmarks/views_per_second.py [--events 5000000] [--runs 3]

One topic of 8 partitions is written once. A raw consumer that parses nothing is the floor; then
the pipeline (a clock per partition) reads all of it in a fresh session (cold) and again in the same
one (warm), and so does the native window of chapter 02. No figure is printed before counts and dead
letters are what the stream's own expectation says.
"""

import argparse
import os
import secrets
import shutil
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import Consumer, TopicPartition

sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ.setdefault("WORKBOOK_LAB", f"bench-{secrets.token_hex(3)}")


from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import FAST_PLAIN, read_dead_letters
from workbook.pipelines.page_views.completed import completed_views
from workbook.pipelines.page_views.counts import views_per_second
from workbook.sinks.page_views import LateLetters
from workbook.sources.formats import CLICKS
from workbook.sources.kafka import kafka_stream
from workbook.spark import session
from workbook.spark.runner import Batch, Sink, start_query
from workbook.stack.addresses import kafka
from workbook.streams.events.clicks import ClickType
from workbook.streams.events.metrics import COMPLETE
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.stream_producer import generate
from workbook.systems.view_sums import Sums
from workbook.topics import Topic, new_topic

BLOCK = 500_000
PARTITIONS = 8
REQUIRED_COLUMNS = ("click_type", "timestamp", "reason")


class Views(Sink):
    """The last number of page views of each second."""

    def __init__(self) -> None:
        self.views: dict[int, int] = {}

    def write(self, rows: pa.Table, batch: Batch) -> None:
        if "kind" in rows.column_names:
            rows = rows.filter(pc.equal(rows["kind"], COMPLETE))
        self.views |= zip(rows["second"].to_pylist(), rows["views"].to_pylist(), strict=True)


@dataclass
class Expected:
    """The result that the stream itself predicts."""

    messages: int = 0
    views: Counter[int] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)


def expected(stream: ClickStream, events: int) -> Expected:
    """Count what ``generate`` sends: page views per second, and bad records by reason."""
    found = Expected()
    for first in range(0, events, BLOCK):
        rows = stream.expected(first, min(first + BLOCK, events))
        page = rows.click_type == ClickType.PAGE
        seconds = rows.timestamp[page & rows.reason.isna()] // 1000
        found.views.update(seconds.value_counts().to_dict())
        found.reasons.update(rows.reason.dropna())
        found.messages += len(rows)
    return found


# --- what is measured -------------------------------------------------------------------------


def floor(broker: Broker, topic: Topic, messages: int) -> None:
    """Read the topic to its end with librdkafka, and look at nothing."""
    settings = {"group.id": secrets.token_hex(4), "auto.offset.reset": "earliest"}
    reader = Consumer({**FAST_PLAIN, **settings, **broker.client_config()})
    # Without a group to join, and no wait for more at the end: a short topic's floor is right, too.
    reader.assign([TopicPartition(topic.name, p, 0) for p in range(topic.partitions)])
    left = messages
    while left > 0:
        left -= len(reader.consume(min(left, 20_000), timeout=1))
    reader.close()


def native(spark: Any, broker: Broker, topic: Topic, right: Expected) -> Callable[[], None]:
    """Count the topic with a new checkpoint; what comes back compares with the expectation."""
    letters, table = new_topic("clicks.dead-letters", "bench"), Views()
    broker.create(letters)
    dead_letters = DeadLetters(broker.client_config(), letters.name)
    parsed = CLICKS.parse(kafka_stream(spark, broker, topic.name), dead_letters, REQUIRED_COLUMNS)
    place = session.checkpoint(letters.name)
    # In a replay the partitions run apart, so the lateness must be as long as the stream.
    counts = views_per_second(parsed, "1 day")
    with start_query(counts, [table], place) as running:
        running.process_all()

    def check() -> None:
        compare(table, broker, letters, right)
        shutil.rmtree(place)

    return check


def by_clocks(spark: Any, broker: Broker, topic: Topic, right: Expected) -> Callable[[], None]:
    """The same with a clock per partition, until all has been read; then the check lets it end."""
    letters, table = new_topic("clicks.dead-letters", "bench"), Views()
    broker.create(letters)
    config, sums = broker.client_config(), Sums()
    dead_letters = DeadLetters(config, letters.name)
    raw = kafka_stream(spark, broker, topic.name)
    place = session.checkpoint(letters.name)
    # Late clicks are up to 30 seconds behind.
    views = completed_views(raw, dead_letters, "30 seconds")
    sinks = [LateLetters(config, topic.name, dead_letters), table, sums]
    running = start_query(views, sinks, place, every="2 seconds")
    wait_for(lambda: running.is_active and sums.now["read"] == right.messages)

    def check() -> None:
        wait_for(lambda: sums.now["open"] == 0)
        running.stop()
        assert sums.now["too late"] == 0
        compare(table, broker, letters, right)
        shutil.rmtree(place)

    return check


def compare(table: Views, broker: Broker, letters: Topic, right: Expected) -> None:
    """Compare the counted and the rejected records with the expectation."""
    assert table.views == right.views
    rejected = read_dead_letters(broker.client_config(), letters.name)
    assert Counter(rejected.reason) == right.reasons


@dataclass
class Cost:
    """Seconds, and CPU seconds of this process and of Spark's (not of the broker)."""

    seconds: float
    cpu: float


def cost(work: Callable[[], object]) -> tuple[Cost, Any]:
    """Return the cost of a piece of work, and its result."""
    cpu, began = cpu_seconds(), time.monotonic()
    result = work()
    return Cost(time.monotonic() - began, cpu_seconds() - cpu), result


def ours() -> list[psutil.Process]:
    """This process and its children; the servers are the supervisor's."""
    me = psutil.Process()
    return [me, *(p for p in me.children(recursive=True) if _counts(p))]


def _counts(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):  # it may end while one looks
        return process.status() != psutil.STATUS_ZOMBIE and "kafka.Kafka" not in process.cmdline()
    return False


def cpu_seconds() -> float:
    return sum(sum(process.cpu_times()[:2]) for process in ours())


def peak_memory() -> float:
    """The largest resident set of Spark's Java so far in GB; nan where the system does not say."""
    peaks = [float("nan")]
    for process in ours():
        status = Path(f"/proc/{process.pid}/status")
        if process.name() == "java" and status.exists():
            lines = status.read_text().splitlines()
            peaks.append(next(float(x.split()[1]) / 1e6 for x in lines if x.startswith("VmHWM")))
    return max(peaks[1:], default=peaks[0])


def report(name: str, costs: list[Cost], messages: int) -> None:
    """One line of the table."""
    rates = [messages / c.seconds for c in costs]
    cpu = statistics.median(c.cpu for c in costs) / messages * 1e6
    print(
        f"| {name} | {max(rates):,.0f} | {statistics.median(rates):,.0f} | {cpu:.2f} |", flush=True
    )


def wait_for(happened: Callable[[], bool], within: float = 120.0) -> None:
    deadline = time.monotonic() + within
    while not happened():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def main() -> None:
    options = arguments()
    broker, topic = kafka("bench"), new_topic("clicks", "bench", PARTITIONS)
    broker.create(topic)
    stream = ClickStream(
        rate=20_000, partitions=PARTITIONS, bad_share=0.001, duplicate_share=0.01, late_share=0.01
    ).ending_by(int(time.time() * 1000), options.events)
    right = expected(stream, options.events)
    generate(broker.client_config(), topic.name, stream, options.events)
    print(f"{right.messages:,} messages, {sum(right.reasons.values()):,} of them bad\n")
    print("| | messages/s, best | median | CPU µs per message |\n| --- | --- | --- | --- |")
    floors = [cost(lambda: floor(broker, topic, right.messages))[0] for _ in range(options.runs)]
    report("raw consumer, nothing parsed", floors, right.messages)
    starts, colds, warms, natives = [], [], list[Cost](), list[Cost]()
    for _ in range(options.runs):
        start, spark = cost(lambda: session.spark_session(quiet=True))
        cold, check = cost(lambda: by_clocks(spark, broker, topic, right))  # noqa: B023
        check()
        native(spark, broker, topic, right)()
        for count, costs in ((by_clocks, warms), (native, natives)):
            warm, check = cost(lambda: count(spark, broker, topic, right))  # noqa: B023
            check()
            costs.append(warm)
        starts.append(Cost(start.seconds + cold.seconds, start.cpu + cold.cpu))
        colds.append(cold)
        memory = peak_memory()
        session.stop_spark(spark)
    report("pipeline, session start included", starts, right.messages)
    report("pipeline, cold (first query of a session)", colds, right.messages)
    report("pipeline, warm", warms, right.messages)
    report("Spark's own window, warm", natives, right.messages)
    print(f"\nSpark's Java took {memory:.1f} GB at its peak.")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""A process of the crash lab: one pipeline over the whole input, as the plan on stdin says."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaError, Message, Producer, TopicPartition
from pyspark.sql import DataFrame

from workbook.errors import Rejected
from workbook.faults.kills import (
    KillAt,
    KillInTask,
    KillMidBatch,
    die_with_parent,
    kill_after_commit,
)
from workbook.faults.plan import BATCH, STORE, TABLE, TABLE_BATCH, Plan
from workbook.kafka.broker import Broker
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.metrics_producer import MetricsProducer, record
from workbook.kafka.readers import FAST_PLAIN, PatientConsumer
from workbook.pipelines.page_views import metrics as loops

At = Callable[[str], None]


class Paced:
    """A reader that waits a little before each poll, and knows when the input is finished."""

    def __init__(self, reader: PatientConsumer, plan: Plan) -> None:
        self._reader, self._plan = reader, plan
        self._next: int | None = None

    def poll(self, timeout: float) -> Message | None:
        """Poll as the reader does, a little later."""
        time.sleep(self._plan.pace)
        message = self._reader.poll(timeout)
        if message is not None:
            self._next = int(message.offset() or 0) + 1
        elif self._next is None and self._reader.assignment():
            place = self._reader.committed([TopicPartition(self._plan.source, 0)], timeout=10)[0]
            self._next = place.offset if place.offset >= self._plan.end else None
        return message

    def finished(self) -> bool:
        """Return True once the last record was handed out, in this process or an earlier one."""
        return self._next is not None and self._next >= self._plan.end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)


def run_loop(plan: Plan, at: At) -> None:
    """Run one of the loops by hand, from its group's committed offset to the end of the input."""
    reader, letters = Paced(_reader(plan, at), plan), DeadLetters(plan.config, plan.letters)

    def reject(message: Any, why: Rejected) -> None:
        letters(message, why)
        letters.close()  # delivered, before anything behind it can be committed

    if plan.variant == "transactions":
        _transactions(plan, reader, reject, at)
    else:
        metrics = MetricsProducer(plan.config, plan.target, with_events=True)
        loop = {
            "auto-commit": loops.auto_commit,
            "after-poll": loops.commit_after_poll,
            "on-delivery": loops.commit_on_delivery,
        }[plan.variant]
        loop(reader, metrics, reader.finished, reject, at)
        metrics.close()
    reader.close()


def _reader(plan: Plan, at: At) -> PatientConsumer:
    def committed(error: KafkaError | None, _: list[TopicPartition]) -> None:
        if error is None:
            at("after-commit")

    auto = plan.variant == "auto-commit"
    settings: dict[str, Any] = {
        "group.id": plan.group,
        # The same member again: after kill -9 nobody waits for the session's time-out.
        "group.instance.id": plan.group,
        "auto.offset.reset": "earliest",
        "enable.auto.commit": auto,
        "auto.commit.interval.ms": 100,
    }
    if auto:
        settings["on_commit"] = committed
    reader = PatientConsumer({**FAST_PLAIN, **settings, **plan.config})
    reader.subscribe([plan.source])
    return reader


def _transactions(
    plan: Plan, reader: Paced, reject: Callable[[Any, Rejected], None], at: At
) -> None:
    settings = {"transactional.id": plan.group, "linger.ms": 0, "log_level": 0}
    producer = Producer({**settings, **plan.config})

    def to_send(done: loops.Completed) -> dict[str, Any]:
        return {"topic": plan.target, **record(done.metric(), done.event_ids)}

    loops.in_transactions(reader, producer, to_send, reader.finished, reject, at)


def run_spark(plan: Plan, at: At) -> None:
    """Count on Spark, in small micro-batches, with the checkpoint in the lab's folder."""
    from workbook.kafka.offsets import Unread
    from workbook.pipelines.page_views.completed import completed_views
    from workbook.sinks.completed import start_completed
    from workbook.spark import session
    from workbook.spark.queries import appender
    from workbook.spark.source import kafka_stream

    broker = _broker(plan)
    spark = session.spark_session("crash lab", quiet=True)
    checkpoint, middle = Path(plan.folder) / "checkpoint", KillMidBatch(plan)
    if plan.point == "after-commit":
        kill_after_commit(plan, checkpoint / "0" / "commits")

    def hook(point: str) -> None:
        if point == "before-send":
            time.sleep(plan.pace * BATCH)
            if plan.point == "mid-batch":
                middle.arm()
        at(point)

    clicks = kafka_stream(spark, broker, plan.source, max_per_batch=BATCH)
    letters = DeadLetters(plan.config, plan.letters)
    views = completed_views(
        clicks,
        letters,
        "2 seconds",
        unread=Unread(plan.config, plan.source),
        with_events=True,
    )
    append, done = appender(broker, plan.target), threading.Event()

    def emit(seconds: DataFrame) -> None:
        records = loops.metric_records(seconds.drop("partition"))
        append(middle.through(records) if plan.point == "mid-batch" else records)

    def tell(sums: dict[str, int]) -> None:
        if sums["read"] >= plan.end and sums["open"] <= 1:  # all but the click that comes last
            done.set()

    with start_completed(
        views, emit, letters, plan.config, plan.source, checkpoint,
        every="0 seconds", at=hook, on_sums=tell,
    ) as running:  # fmt: skip
        while not done.wait(0.1):
            running.check()


def run_table(plan: Plan, at: At) -> None:
    """Run the table of share holders, in small micro-batches, into a topic and a store."""
    from workbook.decoding.positions import parse
    from workbook.pipelines.share_holders import REQUIRED_COLUMNS, us_share_holders
    from workbook.sinks.store import Store
    from workbook.sinks.table_topic import TableTopic
    from workbook.spark import session
    from workbook.spark.queries import start_table
    from workbook.spark.source import kafka_stream

    broker = _broker(plan)
    spark = session.spark_session("crash lab", quiet=True)
    checkpoint, middle = Path(plan.folder) / "checkpoint", KillInTask(plan)
    if plan.point == "after-commit":
        kill_after_commit(plan, checkpoint / "0" / "commits")

    def hook(point: str) -> None:
        if point == "before-compute" and plan.point == "mid-batch":
            middle.arm()
        at(point)

    raw = kafka_stream(spark, broker, plan.source, max_per_batch=TABLE_BATCH)
    holders = us_share_holders(parse(raw, DeadLetters(plan.config, plan.letters), REQUIRED_COLUMNS))
    if plan.point == "mid-batch":
        holders = middle.through(holders)
    topic = TableTopic(plan.config, plan.target, "client")
    store = Store(Path(plan.folder) / STORE, "client")
    with start_table(holders, [topic, store], checkpoint, at=hook) as running:
        running.process_all()


def _broker(plan: Plan) -> Broker:
    security = {name: value for name, value in plan.config.items() if name != "bootstrap.servers"}
    return Broker(plan.config["bootstrap.servers"], security)


def main() -> None:
    """Read the plan, and carry it out."""
    plan = Plan.from_json(sys.stdin.buffer.readline())
    die_with_parent(Path(plan.folder))
    at = KillAt(plan)
    if plan.variant == TABLE:
        run_table(plan, at)
    elif plan.variant == "spark":
        run_spark(plan, at)
    else:
        run_loop(plan, at)


if __name__ == "__main__":
    main()

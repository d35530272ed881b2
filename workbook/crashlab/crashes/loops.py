"""The loops by hand in a process of the crash lab: paced, and up to the end of the input."""

import time
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, Message, Producer, TopicPartition

from workbook.crashlab.crashes.base import ByHand
from workbook.errors import Rejected
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import FAST_PLAIN, PatientConsumer
from workbook.pipelines.page_views import metrics as loops
from workbook.spark.runner import OnPoint
from workbook.streams.metrics import MetricsProducer, record

LOOPS = {
    "auto-commit": loops.auto_commit,
    "after-poll": loops.commit_after_poll,
    "on-delivery": loops.commit_on_delivery,
}


class Paced:
    """A reader that waits a little before each poll, and knows when the input is finished."""

    def __init__(self, reader: PatientConsumer, run: ByHand) -> None:
        self._reader, self._run = reader, run
        self._next: int | None = None

    def poll(self, timeout: float) -> Message | None:
        """Poll as the reader does, a little later."""
        time.sleep(self._run.pace)
        message = self._reader.poll(timeout)
        if message is not None:
            self._next = int(message.offset() or 0) + 1
            self._run.on_read(self._next)
        elif self._next is None and self._reader.assignment():
            source = TopicPartition(self._run.options.source, 0)
            place = self._reader.committed([source], timeout=10)[0]
            self._next = place.offset if place.offset >= self._run.end else None
        return message

    def finished(self) -> bool:
        """Return True once the last record was handed out, in this process or an earlier one."""
        return self._next is not None and self._next >= self._run.end

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reader, name)


def run_loop(run: ByHand, at: OnPoint) -> None:
    """Run the loop of the variant from its group's committed offset to the end of the input."""
    reader = Paced(_reader(run, at), run)
    letters = DeadLetters(run.config, run.options.dead_letters)

    def reject(message: Any, why: Rejected) -> None:
        letters(message, why)
        letters.close()  # delivered, before anything behind it can be committed

    if run.variant == "transactions":
        _transactions(run, reader, reject, at)
    else:
        metrics = MetricsProducer(run.config, run.options.out, with_events=True)
        LOOPS[run.variant](reader, metrics, reader.finished, reject, at)
        metrics.close()
    reader.close()


def _reader(run: ByHand, at: OnPoint) -> PatientConsumer:
    def committed(error: KafkaError | None, _: list[TopicPartition]) -> None:
        if error is None:
            at("after-commit")

    auto = run.variant == "auto-commit"
    settings: dict[str, Any] = {"enable.auto.commit": auto, "auto.commit.interval.ms": 100}
    if auto:
        settings["on_commit"] = committed
    return subscribed(run, settings)


def subscribed(run: ByHand, settings: Mapping[str, Any]) -> PatientConsumer:
    """Return a reader of the input: after kill -9 the same member again, so nobody waits for it."""
    member = {
        "group.id": run.group,
        "group.instance.id": run.group,
        "auto.offset.reset": "earliest",
    }
    reader = PatientConsumer({**FAST_PLAIN, **member, **settings, **run.config})
    reader.subscribe([run.options.source])
    return reader


def _transactions(
    run: ByHand, reader: Paced, reject: Callable[[Any, Rejected], None], at: OnPoint
) -> None:
    settings = {"transactional.id": run.group, "linger.ms": 0, "log_level": 0}
    producer = Producer({**settings, **run.config})

    def to_send(done: loops.Completed) -> dict[str, Any]:
        return {"topic": run.options.out, **record(done.metric(), done.event_ids)}

    loops.in_transactions(reader, producer, to_send, reader.finished, reject, at)

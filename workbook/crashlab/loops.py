"""Loops by hand in a process of the crash lab, ours or somebody's own: paced, up to the end."""

import base64
import io
import json
import pickle
import time
from collections.abc import Callable, Mapping
from typing import Any

import confluent_kafka
from confluent_kafka import KafkaError, Message, Producer, TopicPartition
from pyspark import cloudpickle

from workbook.crashlab.crashes.base import ByHand, OwnLoop
from workbook.errors import CrashFailed, Rejected
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import FAST_PLAIN, PatientConsumer
from workbook.pipelines.page_views import metrics as loops
from workbook.spark.runner import OnPoint
from workbook.streams.events.clicks import ClickType
from workbook.streams.events.metrics import EVENTS
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


# --- somebody's own loop: sent to the process, and watched there ---------------------------------

TOO_FAR_AHEAD_MS = 2 * 60 * 60 * 1000
"""Brokers refuse records whose timestamp is more than an hour ahead."""


class _Packer(cloudpickle.Pickler):
    """Packs functions with what they refer to; classes of Kafka's client by their name.

    The client's classes say that they are from a module ``cimpl``, which can't be imported.
    """

    def reducer_override(self, thing: Any) -> Any:
        if isinstance(thing, type) and thing.__module__ == "cimpl":
            return getattr, (confluent_kafka, thing.__name__)
        return super().reducer_override(thing)


def packed(own: OwnLoop) -> str:
    """Return a loop as text; raise ``CrashFailed`` where it refers to what can't be sent."""
    file = io.BytesIO()
    try:
        _Packer(file).dump(own)
    except (TypeError, ValueError, RecursionError, pickle.PicklingError) as why:
        raise CrashFailed(
            "Expected a loop that another process can run, but it, or a function that it calls, "
            f"refers to something that can't be sent there ({why}). Let it use its parameters, "
            "functions and imports alone, no client or widget of the notebook."
        ) from why
    return base64.b64encode(file.getvalue()).decode()


def unpacked(text: str) -> OwnLoop:
    """Return a loop from its text."""
    own: OwnLoop = pickle.loads(base64.b64decode(text))
    return own


class WatchedReader(Paced):
    """A paced reader that passes the points at its polls and commits."""

    def __init__(self, reader: PatientConsumer, run: ByHand, at: OnPoint) -> None:
        super().__init__(reader, run)
        self._at = at
        self._handed: dict[str, list[int]] = {}

    def poll(self, timeout: float = 1.0) -> Message | None:
        """Poll as the reader does, a little later."""
        message = super().poll(timeout)
        if message is not None:
            self._note(json.loads(message.value() or b"{}"))
            self._at("after-poll")
        return message

    def take(self, key: Any) -> str:
        """Return the ids of a second's page views that were handed out since it was last asked."""
        second = key.decode() if isinstance(key, bytes) else str(key)
        return ",".join(map(str, self._handed.pop(second, [])))

    def _note(self, click: dict[str, Any]) -> None:
        if click.get("click_type") == ClickType.PAGE:
            second = str(int(click["timestamp"]) // 1000)
            self._handed.setdefault(second, []).append(int(click["event_id"]))

    def commit(self, *args: Any, **more: Any) -> Any:
        """Commit as the reader does."""
        self._at("before-commit")
        committed = self._reader.commit(*args, **more)
        self._at("after-commit")
        return committed


class WatchedProducer:
    """A producer that passes the points at its sends; the broker refuses one of its records.

    The ledger judges by the events that a metric counts. Where a loop names none, these are the
    page views of its second that the loop has read since it last published that second.
    """

    def __init__(
        self, producer: Producer, reader: WatchedReader, refused: int, at: OnPoint
    ) -> None:
        self._producer, self._reader, self._refused, self._at = producer, reader, refused, at
        self._sent = 0

    def produce(
        self, topic: str, value: Any = None, key: Any = None, *args: Any, **more: Any
    ) -> None:
        """Produce; the refused record gets a timestamp that no broker takes.

        It is reported, and the one behind it too, before the loop goes on: however busy the
        machine is, the failure lies before what a kill finds.
        """
        self._at("before-send")
        self._sent += 1
        if len(args) < 5 and more.get("headers") is None:
            more["headers"] = {EVENTS: self._reader.take(key)}
        if self._sent == self._refused:
            more["timestamp"] = int(time.time() * 1000) + TOO_FAR_AHEAD_MS
        self._producer.produce(topic, value, key, *args, **more)
        if self._refused and abs(self._sent - self._refused) <= 1:  # each in a batch of its own
            self._producer.flush()
        self._at("after-send")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)


def run_own(run: ByHand, at: OnPoint) -> None:
    """Run somebody's own loop from its group's committed offset to the end of the input."""
    own = run.own
    assert isinstance(own, OwnLoop)
    reader = WatchedReader(subscribed(run, own.settings), run, at)
    ordered = Producer({"log_level": 0, "enable.idempotence": True, **run.config})
    producer = WatchedProducer(ordered, reader, own.refused, at)
    own.run(reader, producer, run.options.source, run.options.out, reader.finished)
    producer.flush()
    reader.close()

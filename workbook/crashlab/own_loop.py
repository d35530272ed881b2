"""A loop that somebody else wrote: sent to a process of the crash lab, and watched there."""

import base64
import io
import json
import pickle
import time
from typing import Any

import confluent_kafka
from confluent_kafka import Message, Producer
from pyspark import cloudpickle

from workbook.crashlab.crashes.base import ByHand, OwnLoop
from workbook.crashlab.crashes.loops import Paced, subscribed
from workbook.errors import CrashFailed
from workbook.kafka.readers import PatientConsumer
from workbook.spark.runner import OnPoint
from workbook.streams.events.clicks import ClickType
from workbook.streams.events.metrics import EVENTS

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

"""A loop that somebody else wrote, in a process of the crash lab: watched from its clients."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Message, Producer

from workbook.kafka.readers import FAST_PLAIN, PatientConsumer
from workbook.systems.base import OnPoint
from workbook.systems.crashes.base import ByHand, OwnLoop
from workbook.systems.crashes.loops import Paced

TOO_FAR_AHEAD_MS = 2 * 60 * 60 * 1000
"""Brokers refuse records whose timestamp is more than an hour ahead."""


class WatchedReader(Paced):
    """A paced reader that passes the points at its polls and commits."""

    def __init__(self, reader: PatientConsumer, run: ByHand, at: OnPoint) -> None:
        super().__init__(reader, run)
        self._at = at

    def poll(self, timeout: float = 1.0) -> Message | None:
        """Poll as the reader does, a little later."""
        message = super().poll(timeout)
        if message is not None:
            self._at("after-poll")
        return message

    def commit(self, *args: Any, **more: Any) -> Any:
        """Commit as the reader does."""
        self._at("before-commit")
        committed = self._reader.commit(*args, **more)
        self._at("after-commit")
        return committed


class WatchedProducer:
    """A producer that passes the points at its sends; the broker refuses one of its records."""

    def __init__(self, producer: Producer, refused: int, at: OnPoint) -> None:
        self._producer, self._refused, self._at = producer, refused, at
        self._sent = 0

    def produce(self, *args: Any, **more: Any) -> None:
        """Produce; the refused record gets a timestamp that no broker takes.

        It is reported, and the one behind it too, before the loop goes on: however busy the
        machine is, the failure lies before what a kill finds.
        """
        self._at("before-send")
        self._sent += 1
        if self._sent == self._refused:
            more["timestamp"] = int(time.time() * 1000) + TOO_FAR_AHEAD_MS
        self._producer.produce(*args, **more)
        if self._refused and abs(self._sent - self._refused) <= 1:  # each in a batch of its own
            self._producer.flush()
        self._at("after-send")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._producer, name)


def run_own(run: ByHand, at: OnPoint) -> None:
    """Run somebody's own loop from its group's committed offset to the end of the input."""
    own = run.own
    assert isinstance(own, OwnLoop)
    settings = {
        "group.id": run.group,
        # The same member again: after kill -9 nobody waits for the session's time-out.
        "group.instance.id": run.group,
        "auto.offset.reset": "earliest",
        **own.settings,
    }
    reader = WatchedReader(PatientConsumer({**FAST_PLAIN, **settings, **run.config}), run, at)
    reader.subscribe([run.options.source])
    producer = WatchedProducer(Producer({"log_level": 0, **run.config}), own.refused, at)
    own.run(reader, producer, run.options.source, run.options.out, reader.finished)
    producer.flush()
    reader.close()

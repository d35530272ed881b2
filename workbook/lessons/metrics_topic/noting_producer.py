"""A producer that sends nothing and notes what it's asked to do, as confluent-kafka takes it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from confluent_kafka import KafkaError

from workbook.classroom.wire import report_of, wire

Report = Callable[[Any, Any], Any]


class Producer:
    """Notes each call as a line of text, with key and value as the bytes on the wire.

    Where it's ``full``, it takes no record until reports have been served.
    """

    def __init__(self, *, full: bool = False) -> None:
        self.full = full
        self.refused = False
        self.lines: list[str] = []
        self.served = False
        self.records: list[tuple[int, Any]] = []

    def produce(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int = -1,
        callback: Any = None,
        on_delivery: Any = None,
        timestamp: int = 0,
        headers: Any = None,
    ) -> None:
        """Note a record: the parameters and their order are confluent-kafka's."""
        parts = [repr(topic), f"key={wire(key)!r}", f"value={wire(value)!r}"]
        others: dict[str, tuple[Any, Any]] = {
            "partition": (partition, -1),
            "timestamp": (timestamp, 0),
        }
        others["headers"] = (headers, None)
        parts += [f"{name}={given!r}" for name, (given, usual) in others.items() if given != usual]
        report = report_of(callback, on_delivery)
        if self.full:
            self.refused = True
            raise BufferError("Local: Queue full")
        self.records.append((len(self.lines), report))
        self.lines.append(f"produce({', '.join(parts)}")

    def poll(self, timeout: float = -1) -> int:
        """Note whether it waits; to serve without waiting may be done at any time."""
        self._serve()
        if timeout == 0:
            self.served = True
        else:
            self.lines.append("poll, and wait")
        return 0

    def __len__(self) -> int:
        """Return how many records wait: here all, since none is sent."""
        return len(self.records)

    def flush(self, timeout: float = -1) -> int:
        """Note it; without a time to wait it serves what is due, as ``poll(0)`` does."""
        self._serve()
        if timeout == 0:
            self.served = True
            return len(self)
        self.lines.append("flush, and wait")
        return 0

    def _serve(self) -> None:
        """Make room, once a record has been refused."""
        self.full = self.full and not self.refused


def calls_of(answer: Callable[..., Any]) -> Callable[[str, int, int], list[str]]:
    """Wrap an answer (producer, topic, second, views, report): return what it calls, as text."""

    @functools.wraps(answer)
    def asked(topic: str, second: int, views: int) -> list[str]:
        producer = Producer()
        report, heard = _noting()
        answer(producer, topic, second, views, report)
        by_itself = ["report, called by the function itself"] if heard else []
        for at, given in producer.records:
            producer.lines[at] += _reported(given, heard) + ")"
        return [*producer.lines, *by_itself, *(["poll(0)"] if producer.served else [])]

    asked.__signature__ = _PARAMETERS  # type: ignore[attr-defined]  # not those of the answer
    return asked


KEPT = "the record, or an error that somebody hears of"
LOST = "neither a record nor an error"


def with_a_full_queue(answer: Callable[..., Any]) -> Callable[[str, int, int], str]:
    """Wrap an answer: return what becomes of a count that the full queue refuses at first."""

    @functools.wraps(answer)
    def asked(topic: str, second: int, views: int) -> str:
        producer = Producer(full=True)
        report, heard = _noting()
        try:
            answer(producer, topic, second, views, report)
        except Exception as error:
            if isinstance(error, BufferError) or isinstance(error.__context__, BufferError):
                return KEPT
            raise
        if any(error is not None for error, _ in heard) or len(producer) == 1:
            return KEPT
        return f"{len(producer)} records" if len(producer) else LOST

    asked.__signature__ = _PARAMETERS  # type: ignore[attr-defined]  # not those of the answer
    return asked


def _noting() -> tuple[Report, list[tuple[Any, Any]]]:
    """Return a report, and the list of all that it receives."""
    heard = list[tuple[Any, Any]]()

    def report(error: Any, message: Any) -> None:
        heard.append((error, message))

    report.__qualname__ = "report"
    return report, heard


def _parameters(topic: str, second: int, views: int) -> None: ...


_PARAMETERS = inspect.signature(_parameters)


def _reported(given: Any, heard: list[tuple[Any, Any]]) -> str:
    """Name what gets a report of a delivery and of a failure, by making one of each."""
    if given is None:
        return ""
    failure = KafkaError(KafkaError._MSG_TIMED_OUT)
    told = []
    for outcome in ((None, object()), (failure, object())):
        heard.clear()
        given(*outcome)
        told.append(heard == [outcome])
    return f", on_delivery={_WHO[told[0], told[1]]}"


_WHO = {
    (True, True): "report",
    (True, False): "report of successes only",
    (False, True): "report of failures only",
    (False, False): "another function",
}

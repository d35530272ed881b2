"""A producer that sends nothing and notes what it's asked to do, as confluent-kafka takes it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Report = Callable[[Any, Any], Any]


class Producer:
    """Notes each call as a line of text, with key and value as the bytes on the wire."""

    def __init__(self) -> None:
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
        parts = [repr(topic), f"key={_wire(key)!r}", f"value={_wire(value)!r}"]
        others: dict[str, tuple[Any, Any]] = {
            "partition": (partition, -1),
            "timestamp": (timestamp, 0),
        }
        others["headers"] = (headers, None)
        parts += [f"{name}={given!r}" for name, (given, usual) in others.items() if given != usual]
        report = on_delivery if on_delivery is not None else callback
        if report is not None and not callable(report):
            raise TypeError(f"expected callback to be callable, not {type(report).__name__}")
        self.records.append((len(self.lines), report))
        self.lines.append(f"produce({', '.join(parts)}")

    def poll(self, timeout: float = -1) -> int:
        """Note whether it waits; to serve without waiting may be done at any time."""
        if timeout == 0:
            self.served = True
        else:
            self.lines.append("poll, and wait")
        return 0

    def __len__(self) -> int:
        """Return how many records wait: here all, since none is sent."""
        return len(self.records)

    def flush(self, timeout: float = -1) -> int:
        """Note it."""
        self.lines.append("flush, and wait")
        return 0


def calls_of(answer: Callable[..., Any]) -> Callable[[str, int, int], list[str]]:
    """Wrap an answer (producer, topic, second, views, report): return what it calls, as text."""

    @functools.wraps(answer)
    def asked(topic: str, second: int, views: int) -> list[str]:
        producer, heard = Producer(), list[tuple[Any, Any]]()

        def report(error: Any, message: Any) -> None:
            heard.append((error, message))

        report.__qualname__ = "report"
        answer(producer, topic, second, views, report)
        by_itself = ["report, called by the function itself"] if heard else []
        for at, given in producer.records:
            producer.lines[at] += _reported(given, heard) + ")"
        return [*producer.lines, *by_itself, *(["poll(0)"] if producer.served else [])]

    asked.__signature__ = _PARAMETERS  # type: ignore[attr-defined]  # not those of the answer
    return asked


def _parameters(topic: str, second: int, views: int) -> None: ...


_PARAMETERS = inspect.signature(_parameters)


def _reported(given: Any, heard: list[tuple[Any, Any]]) -> str:
    """Say who hears of a delivery, by making one."""
    if given is None:
        return ""
    delivery = (None, object())
    heard.clear()
    given(*delivery)
    return ", on_delivery=report" if heard == [delivery] else ", on_delivery=another function"


def _wire(given: Any) -> bytes | None:
    """Return what the client sends: text as UTF-8, bytes as they are, nothing else."""
    if given is None or isinstance(given, bytes):
        return given
    if isinstance(given, str):
        return given.encode()
    raise TypeError(f"a bytes-like object is required, not '{type(given).__name__}'")

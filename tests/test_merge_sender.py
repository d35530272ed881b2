"""What a task of the merge sends, by a producer whose broker gives the answers of a script."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import KafkaError

from workbook.errors import BrokerUnreachable
from workbook.sinks import merged
from workbook.sinks.merged import _Send
from workbook.streams.events.merged import MERGED, STARTS


class Scripted:
    """Answers each record with the next code; None: delivered."""

    def __init__(self, *codes: int | None) -> None:
        self.codes, self.waiting = list(codes), list[Any]()

    def produce(self, *record: Any, headers: Any, report: Any) -> None:
        self.waiting.append(report)

    def poll(self) -> None:
        pass

    def flush(self) -> int:
        for report in self.waiting:
            code = self.codes.pop(0)
            report(None if code is None else KafkaError(code), None)
        self.waiting.clear()
        return 0


class Letters:
    def __init__(self) -> None:
        self.reasons: list[str] = []

    def __enter__(self) -> Letters:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def send(self, record: dict[str, Any], reason: str) -> None:
        self.reasons.append(reason)


VISIT = {
    "kind": MERGED,
    "partition": 0,
    "ssid": "a",
    "timestamp": 5,
    "fragment": 0,
    "tracking": [{"event_id": 1, "timestamp": 5, "page": "/"}],
    "orders": [{"event_id": 1, "timestamp": 5, "order_id": "o", "cents": 1}],
    **dict.fromkeys(STARTS, 0),
}


def sent(monkeypatch: pytest.MonkeyPatch, most: int, *codes: int | None) -> list[str]:
    """Send a visit by a broker with this limit and these answers; return the letters' reasons."""
    producer, letters = Scripted(*codes), Letters()
    monkeypatch.setattr(merged, "kept", lambda config, topic, patience: (most, producer))
    send = _Send({}, "visits", {"tracking": "a", "orders": "b"}, letters)  # type: ignore[arg-type]
    list(send(iter(pa.Table.from_pylist([VISIT]).to_batches())))
    assert not producer.codes, "all of the script was played"
    return letters.reasons


def test_a_visit_that_is_too_large_goes_to_the_dead_letters(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert sent(monkeypatch, 1000, None) == []
    assert sent(monkeypatch, 100) == [merged.TOO_LARGE_VISIT]


def test_a_visit_that_the_broker_does_not_take_ends_the_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(BrokerUnreachable, match="same checkpoint nothing is lost"):
        sent(monkeypatch, 1000, KafkaError._MSG_TIMED_OUT)

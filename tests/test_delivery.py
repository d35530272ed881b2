"""What becomes of records by a broker that refuses them, as a script says."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError

from workbook.errors import BrokerUnreachable
from workbook.sinks import delivery
from workbook.sinks.delivery import Delivery, Record


class Scripted:
    """A producer whose broker answers each record with the next code; None: delivered."""

    def __init__(self, *codes: int | None) -> None:
        self.codes, self.waiting = list(codes), list[Any]()

    def produce(self, *record: Any, report: Any, **rest: Any) -> None:
        self.waiting.append(report)

    def flush(self) -> int:
        reported = self.waiting[: len(self.codes)]
        for report, code in zip(reported, self.codes, strict=False):
            report(None if code is None else KafkaError(code), None)
        left = len(self.waiting) - len(reported)
        self.waiting.clear()
        return left


RECORDS = [Record(b"1", b"a"), Record(b"2", b"b")]
SENT = Delivery({"bootstrap.servers": "b:9"}, "visits", patience=2)


def test_what_is_too_large_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    producer = Scripted(None, KafkaError.MSG_SIZE_TOO_LARGE)
    monkeypatch.setattr(delivery, "_producer", lambda *of: producer)
    assert SENT.send(RECORDS) == RECORDS[1:]


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        ([KafkaError.MSG_SIZE_TOO_LARGE, KafkaError._MSG_TIMED_OUT], "timed out"),
        ([None, KafkaError.TOPIC_AUTHORIZATION_FAILED], "authorization failed"),
        ([None], "no answer"),
    ],
)
def test_what_is_not_delivered_ends_the_batch(
    monkeypatch: pytest.MonkeyPatch, codes: list[int | None], why: str
) -> None:
    producer = Scripted(*codes)
    monkeypatch.setattr(delivery, "_producer", lambda *of: producer)
    with pytest.raises(BrokerUnreachable, match=rf"b:9 .*'visits'.* 2 s \(.*{why}"):
        SENT.send(RECORDS)

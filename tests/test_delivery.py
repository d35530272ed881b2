"""What becomes of records by a broker that refuses them, as a script says."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import KafkaError

from workbook.errors import BrokerUnreachable
from workbook.kafka import producer
from workbook.kafka.producer import Delivery, Record


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
        return len(self.waiting) - len(reported)


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        ([KafkaError._MSG_TIMED_OUT, None], "timed out"),
        ([None, KafkaError.TOPIC_AUTHORIZATION_FAILED], "authorization failed"),
        ([None], "no answer"),
    ],
)
def test_what_is_not_delivered_ends_the_batch(
    monkeypatch: pytest.MonkeyPatch, codes: list[int | None], why: str
) -> None:
    records = [Record(b"1", b"a"), Record(b"2", b"b")]
    monkeypatch.setattr(producer, "_connected", lambda *of: (1000, Scripted(*codes)))
    with pytest.raises(BrokerUnreachable, match=rf"b:9 .*'visits'.* 2 s \(.*{why}"):
        Delivery({"bootstrap.servers": "b:9"}, "visits", patience=2).send(records)

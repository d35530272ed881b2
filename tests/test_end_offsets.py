"""The ends of topics, asked again and again: a failure ends with its client."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from workbook.kafka import end_offsets
from workbook.kafka.end_offsets import EVERY_S, EndOffsets


class Client:
    """An admin client that is refused for ever once it has been refused, as by a leader's epoch."""

    away = False

    def __init__(self, config: dict[str, Any]) -> None:
        self._spoiled = False

    def list_offsets(self, wanted: dict[Any, Any], request_timeout: float) -> dict[Any, Any]:
        self._spoiled |= Client.away
        answer: Future[Any] = Future()
        if self._spoiled:
            answer.set_exception(KafkaException(KafkaError(KafkaError.FENCED_LEADER_EPOCH)))
        else:
            answer.set_result(SimpleNamespace(offset=7))
        return dict.fromkeys(wanted, answer)


def test_after_an_outage_a_new_client_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(end_offsets, "AdminClient", Client)
    monkeypatch.setattr(end_offsets, "require_topic", lambda config, topic: 1)
    now = [0.0]
    ends = EndOffsets({}, "clicks", clock=lambda: now[0])
    found = []
    for away in (False, True, True, False, False, False):
        monkeypatch.setattr(Client, "away", away)
        now[0] += EVERY_S
        found.append((ends.look(), ends.silent))
    here = {("clicks", 0): 7}
    assert found[1] == (here, False)
    assert found[2] == ({}, True)
    assert found[-1] == (here, False)

"""The two functions that the notebook gives the mob; they stand there in a cell each."""

from __future__ import annotations

import json
from typing import Any

from confluent_kafka import KafkaException


def page_second(message: Any) -> int | None:
    if message is None:
        return None
    if message.error():
        raise KafkaException(message.error())
    click = json.loads(message.value())
    return click["timestamp"] // 1000 if click["click_type"] == "Page" else None


def commit_behind(reader: Any, message: Any, error: Any, _: Any) -> None:
    if error:
        raise KafkaException(error)  # the program ends; a restart sends it again
    reader.commit(message=message, asynchronous=False)

"""Send records to a long-lived topic as ``pipelines.replicate`` does, without Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha1
from typing import Any

from workbook.kafka.producer import DeliveringProducer
from workbook.streams.events.ad_actions import ARRIVAL


def send_replicated(
    config: Mapping[str, Any], topic: str, records: Iterable[tuple[bytes | None, int]]
) -> None:
    """Send values with their arrivals (ms): the SHA-1 as key, the arrival as a header.

    All are delivered on return. Raises BrokerUnreachable.
    """
    with DeliveringProducer(config, topic, {"linger.ms": 20, "compression.type": "lz4"}) as sender:
        for value, arrival in records:
            key = None if value is None else sha1(value).digest()
            sender.produce(value, key, headers={ARRIVAL: str(arrival)})
            sender.poll()

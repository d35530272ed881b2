"""Reads records once more, by their offsets."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from workbook.kafka.probe import unreachable
from workbook.kafka.readers import FAST_PLAIN, PATIENCE_S


def records_at(
    config: Mapping[str, str],
    topic: str,
    offsets: Mapping[int, Sequence[int]],
    patience: float = PATIENCE_S,
) -> Iterator[Message]:
    """Yield the records at these ``offsets`` of partitions; skip those the topic no longer has.

    Raises ``BrokerUnreachable`` when nothing has come for ``patience`` seconds.
    """
    settings = {
        "group.id": f"workbook-{secrets.token_hex(4)}",
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
        # At the end of a partition a fetch ahead would keep the next one waiting: half a second.
        "fetch.wait.max.ms": "20",
        "auto.offset.reset": "earliest",
        "isolation.level": "read_uncommitted",  # as Spark's source reads them
    }
    reader = Consumer({**FAST_PLAIN, **settings, **config})
    try:
        for partition, wanted in sorted(offsets.items()):
            reader.assign([TopicPartition(topic, partition, min(wanted))])
            yield from _picked(reader, set(wanted), dict(config), patience)
    finally:
        reader.close()


def _picked(
    reader: Consumer, wanted: set[int], config: dict[str, str], patience: float
) -> Iterator[Message]:
    at, last, deadline = min(wanted), max(wanted), time.monotonic() + patience
    while True:
        # It waits until it has as many as it's asked for.
        for message in reader.consume(min(last + 1 - at, 10_000), timeout=0.2):
            error, offset = message.error(), message.offset()
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                return
            if error is None and offset is not None:
                deadline = time.monotonic() + patience
                at = offset + 1
                if offset in wanted:
                    yield message
                if offset >= last:
                    return
            elif error is not None and error.fatal():
                raise KafkaException(error)
        if time.monotonic() > deadline:
            raise unreachable(config, patience)

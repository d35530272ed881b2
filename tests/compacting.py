"""Compacts a topic now: closes its segments, and waits until the broker has cleaned them."""

import time
from collections.abc import Mapping
from typing import Any

import pandas as pd
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from labs import until

from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_all
from workbook.topics import SOON

MARKER = b"~roll"
"""The key of the records that close a segment: a tombstone for what no table has."""


def roll(config: Mapping[str, Any], topic: str) -> dict[int, int]:
    """Close the active segment of each partition of a topic made with ``soon`` by one more record.

    It's closed by the first record whose timestamp is more than ``segment.ms`` after that of its
    own first one: this waits for so long after the newest. Returns of each partition the offset of
    the record written: what lies below can be compacted from now on, that record cannot.
    """
    admin = AdminClient({**config, "log_level": 0})
    partitions = admin.list_topics(topic, 10).topics[topic].partitions
    asked = {TopicPartition(topic, p): OffsetSpec.max_timestamp() for p in partitions}
    newest = max(found.result().timestamp for found in admin.list_offsets(asked).values())
    time.sleep(max(0.0, (newest + int(SOON["segment.ms"])) / 1000 + 0.002 - time.time()))
    with DeliveringProducer(config, topic) as producer:
        return {p: producer.send_now(None, MARKER, p).offset for p in partitions}


def wait_until_compacted(
    config: Mapping[str, Any], topic: str, rolled: Mapping[int, int]
) -> pd.DataFrame:
    """Wait until each key is there once below the offsets that ``roll`` returned; return them."""
    records = pd.DataFrame()

    def is_compacted() -> bool:
        nonlocal records
        records = read_all(dict(config), topic)
        closed = records[records["offset"] < records["partition"].map(dict(rolled))]
        closed = closed[closed["key"] != MARKER]
        return not closed.duplicated(["partition", "key"]).any()

    until(is_compacted, f"{topic} to be compacted")
    return records[records["key"] != MARKER].reset_index(drop=True)

"""Asks the broker what groups have committed, as `kafka-consumer-groups --describe` does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

ANSWER_S = 30.0


def committed_by(config: Mapping[str, Any], groups: Iterable[str]) -> pd.DataFrame:
    """Return what these groups have committed: group, topic, partition, offset (the next to read).

    A group that doesn't exist has no row. Raises ``KafkaException`` where the broker refuses.
    """
    admin = AdminClient({**config, "log_level": 0})
    rows = []
    for group in groups:  # the client takes one group a request
        asked = [ConsumerGroupTopicPartitions(group)]
        (answer,) = admin.list_consumer_group_offsets(asked, request_timeout=ANSWER_S).values()
        rows += [
            (group, place.topic, place.partition, place.offset)
            for place in answer.result(ANSWER_S).topic_partitions
            if place.offset >= 0
        ]
    return pd.DataFrame(rows, columns=["group", "topic", "partition", "offset"])

"""The metrics topic as its readers see it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from confluent_kafka import Message

from workbook.errors import Rejected
from workbook.kafka.readers import read_messages
from workbook.streams.events.metrics import EVENTS, Metric


def read_metrics(config: dict[str, Any], topic: str) -> pd.DataFrame:
    """Read all metrics of a topic, in their order, as a table.

    Columns: second, partition (of the clicks; may be null), views, offset, timestamp (ms),
    event_ids (array of bigint; empty where the header is missing).

    Records that are no metrics are left out. Transactions that were not committed are not seen,
    unless ``config`` says ``isolation.level`` read_uncommitted. Raises as ``read_messages``.
    """
    columns = ["second", "partition", "views", "offset", "timestamp", "event_ids"]
    rows = []
    for message in read_messages(config, topic):
        try:
            m = Metric.from_record(message.key(), message.value())
        except Rejected:
            continue
        where = (message.offset(), message.timestamp()[1])
        rows.append((m.second, m.partition, m.views, *where, _event_ids(message)))
    return pd.DataFrame(rows, columns=columns)


def _event_ids(message: Message) -> np.ndarray:
    text = dict(message.headers() or []).get(EVENTS) or b""
    try:
        return np.array(text.split(b",") if text else [], dtype=np.int64)  # type: ignore
    except (ValueError, OverflowError):  # anybody may write to a topic
        return np.array([], dtype=np.int64)

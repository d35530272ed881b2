"""The merge of two streams by key, timed out by the event time of both (after OTTO), on Spark."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, cast

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from workbook.pipelines.event_time_merge.columns import (
    SUMS,
    TABLES,
    Idle,
    Limits,
    merge,
    squeeze,
)
from workbook.sources.records import VISITS, Then
from workbook.streams.events.visits import STARTS
from workbook.tables.packing import PACKED, packing, stateful, unpack

if TYPE_CHECKING:
    from workbook.kafka.dead_letters import DeadLetters

VERSION = 2
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""

DEFAULT = Limits()

READS = (
    *("type", "timestamp", "event_id", "ssid", "page", "order_id", "cents"),
    *("topic", "partition", "offset", "reason"),
)

TRACKING = "ARRAY<STRUCT<event_id: BIGINT, timestamp: BIGINT, page: STRING>>"
ORDERS = "ARRAY<STRUCT<event_id: BIGINT, timestamp: BIGINT, order_id: STRING, cents: BIGINT>>"
_SUMS = ", ".join(f"{name} BIGINT" for name in (*SUMS, "newest_0", "newest_1", *STARTS))
RESULT = (
    "kind STRING, partition INT, ssid STRING, timestamp BIGINT, fragment BIGINT, "
    f"tracking {TRACKING}, orders {ORDERS}, {_SUMS}"
)


def merged_visits(
    raw: DataFrame,
    dead_letters: "DeadLetters | None",
    topics: Sequence[str],
    partitions: int,
    limits: Limits = DEFAULT,
    idle_timeout: int | None = None,
) -> DataFrame:
    """Merge the messages of two topics by ssid, timed out by the event time of both.

    In: the columns of Spark's Kafka source, of both ``topics``, which are partitioned alike into
    ``partitions``; what is no message goes to ``dead_letters``. Out, by ``kind``:

    - ``merged``: a complete visit, once: ``partition`` (int), ``ssid``, ``timestamp`` (bigint, ms:
      its newest event time), ``fragment`` (bigint: 0, or how many of the ssid went before),
      ``tracking`` and ``orders`` (arrays of the messages, by event time). Sorted by ``timestamp``
      within micro-batch and partition.
    - ``clock``: where a partition stands that something came from: its ``timestamp`` is the clock,
      null while a topic has given nothing; ``newest_0`` and ``newest_1`` are its topics' newest
      event times, ``SUMS`` count since the checkpoint began, but ``open``, which counts what is
      open now.

    Both kinds have ``from_0`` and ``from_1`` (bigint): the smallest offset in its topic of all that
    was open when the micro-batch began, or is in it, or a smaller one, as ``Segments.least`` knows
    no better; null while nothing of the topic has come. A new start there, without a checkpoint,
    loses nothing.

    With ``idle_timeout`` (ms) a topic without new records for so long no
    longer holds back the clock of its partition; use the clamped source's. Then what is emitted
    depends on when it was read: a restart may emit a visit in other parts.

    State is kept per source partition, with its clocks. Needs Spark's RocksDB state store.
    """
    packs = VISITS.parse(raw, dead_letters, READS, Then(packing(partitions, squeeze), PACKED))
    idle = None if idle_timeout is None else Idle(idle_timeout)
    step = partial(merge, limits=limits, topics=tuple(topics), idle=idle)
    schema = cast(StructType, DataType.fromDDL(RESULT))
    return unpack(stateful(packs, step, TABLES, partitions), schema)

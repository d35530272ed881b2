"""Keeps the table of who reads what on Spark (after Deliveroo's roowho).

Commits and metadata are two branches of ``__consumer_offsets``; each becomes a table, and both are
joined by group. All records of a group lie in one partition of that topic, so their offsets order
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.decoding.consumer_offsets import COMMIT, METADATA
from workbook.events.client_details import ClientDetails, to_json
from workbook.tables.ktable import KTable, ktable

SCHEMA = (
    "group STRING, details BINARY, "
    "offsets ARRAY<STRUCT<topic: STRING, partition: INT, offset: BIGINT, committed_at: BIGINT>>, "
    "changed_at BIGINT, deleted BOOLEAN"
)

Serialise = Callable[[ClientDetails], bytes]


def commits(decoded: DataFrame) -> KTable:
    """Return the latest commit per group, topic and partition, from ``consumer_offsets.decode``."""
    return ktable(
        decoded.where(F.col("kind") == COMMIT).select(
            *("group", "topic", "partition"),
            F.col("committed").alias("offset"),
            *("committed_at", "deleted"),
            F.col("offset").alias("record"),
        ),
        key=("group", "topic", "partition"),
        order="record",
    )


def metadata(decoded: DataFrame) -> KTable:
    """Return the latest records that describe each group, by group, kind and member."""
    return ktable(
        decoded.where(F.col("kind").isin(*METADATA.values())).select(
            *("group", "kind", F.coalesce("member", F.lit("")).alias("member"), "details"),
            F.unix_millis("timestamp").alias("recorded_at"),
            "deleted",
            F.col("offset").alias("record"),
        ),
        key=("group", "kind", "member"),
        order="record",
    )


def active_groups(decoded: DataFrame, serialise: Serialise = to_json) -> DataFrame:
    """Return each group that a micro-batch changed, with its members and its offsets.

    In: the rows of ``consumer_offsets.decode``. Out: ``group``; ``details``, its ``ClientDetails``
    as ``serialise`` writes them, null where no record describes it; ``offsets``, its latest commit
    per topic and partition (``offset`` is the one to read next); ``changed_at``, its newest record
    or commit (ms); ``deleted``, true where nothing is left of it, and all else is null.
    """
    joined = commits(decoded).join(metadata(decoded), "group", ("offsets", "parts"))

    def actives(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [_active(row, serialise) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    return joined.mapInArrow(actives, SCHEMA)


_OFFSET = {
    "topic": pa.string(),
    "partition": pa.int32(),
    "offset": pa.int64(),
    "committed_at": pa.int64(),
}

_ARROW = pa.schema(
    {
        "group": pa.string(),
        "details": pa.binary(),
        "offsets": pa.list_(pa.struct(_OFFSET)),
        "changed_at": pa.int64(),
        "deleted": pa.bool_(),
    }
)


def _active(row: dict[str, Any], serialise: Serialise) -> dict[str, Any]:
    if row["deleted"]:
        return {"group": row["group"], "deleted": True}
    details = ClientDetails.of(row["group"], row["parts"])
    times = [each["committed_at"] for each in row["offsets"]]
    return {
        "group": row["group"],
        "details": None if details is None else serialise(details),
        "offsets": row["offsets"],
        "changed_at": max(*times, *(part["recorded_at"] for part in row["parts"]), 0),
        "deleted": False,
    }

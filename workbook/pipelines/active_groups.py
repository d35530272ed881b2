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

from workbook.sources.consumer_offsets import COMMIT, METADATA
from workbook.streams.events.client_details import ClientDetails, to_json
from workbook.tables.ktable import KTable, ktable

VERSION = 2
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""

SCHEMA = (
    "group STRING, details BINARY, "
    "offsets ARRAY<STRUCT<topic: STRING, partition: INT, offset: BIGINT, committed_at: BIGINT>>, "
    "changed_at BIGINT, deleted BOOLEAN"
)
"""``changed_at`` (ms) is the time of the record, or tombstone, that changed the group last.

A ``deleted`` row has it too, and nothing else. So it never goes back while the broker's clock
doesn't, and a row that a tombstone has corrected belongs to the window of that tombstone.
"""

Serialise = Callable[[ClientDetails], bytes]


def commits(decoded: DataFrame) -> KTable:
    """Return the latest commit per group, topic and partition.

    From ``consumer_offsets.decode`` with ``recorded_at`` (ms), the time of the record.
    """
    return ktable(
        decoded,
        key=("group", "topic", "partition"),
        columns=("committed", "committed_at", "recorded_at"),
        where=F.col("kind") == COMMIT,
    )


def metadata(decoded: DataFrame) -> KTable:
    """Return the latest records that describe each group, from the same."""
    return ktable(
        decoded,
        key=("group", "kind", "member"),
        columns=("details", "recorded_at"),
        where=F.col("kind").isin(*METADATA.values()),
    )


def active_groups(decoded: DataFrame, serialise: Serialise = to_json) -> DataFrame:
    """Return each group that a micro-batch changed, with its members and its offsets.

    In: the rows of ``consumer_offsets.decode``. Out: ``group``; ``details``, its ``ClientDetails``
    as ``serialise`` writes them, null where no record describes it; ``offsets``, its latest commit
    per topic and partition (``offset`` is the one to read next); ``changed_at``, the time (ms) of
    its newest record, a tombstone too; ``deleted``, true where nothing is left of it.
    """
    rows = decoded.withColumn("recorded_at", F.unix_millis("timestamp"))
    joined = commits(rows).join(metadata(rows), "group", "offsets", "parts", newest="recorded_at")

    def actives(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [_active(row, serialise) for row in batch.to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=_ARROW)

    return joined.mapInArrow(actives, SCHEMA)


_OFFSET = {"topic": pa.string(), "partition": pa.int32()}
_OFFSET |= {"offset": pa.int64(), "committed_at": pa.int64()}

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
        return {"group": row["group"], "changed_at": row["recorded_at"], "deleted": True}
    details = ClientDetails.of(row["group"], row["parts"])
    offsets = [{**each, "offset": each["committed"]} for each in row["offsets"]]
    recorded = (each["recorded_at"] for each in (*row["parts"], *offsets))
    return {
        "group": row["group"],
        "details": None if details is None else serialise(details),
        "offsets": offsets,
        "changed_at": max(row["recorded_at"], *recorded),
        "deleted": False,
    }

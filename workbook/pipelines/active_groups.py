"""Keeps the table of who reads what on Spark (after Deliveroo's roowho).

Commits and metadata are two branches of ``__consumer_offsets``; each becomes a table, and both are
joined by group. All records of a group are in one partition of that topic, so their offsets order
them.
"""

from collections.abc import Callable

import msgspec
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F  # noqa: N812

from workbook.sources.consumer_offsets import COMMIT, METADATA
from workbook.streams.events.client_details import ClientDetails
from workbook.tables.ktable import KTable, ktable

VERSION = 3
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""

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


def active_groups(decoded: DataFrame, serialise: Serialise = msgspec.json.encode) -> DataFrame:
    """Return each group that a micro-batch changed, with its members and its offsets.

    In: the rows of ``consumer_offsets.decode``. Out: ``group``; ``details``, its ``ClientDetails``
    as ``serialise`` writes them, null where no record describes it; ``offsets``, its latest commit
    per topic and partition (topic, partition, ``offset``, the one to read next, committed_at in
    ms); ``changed_at``, the time (ms) of its newest record, a tombstone too; ``deleted``, true
    where nothing is left of it: then details and offsets are null. ``changed_at`` never goes back
    while the broker's clock doesn't, so a row that a tombstone has corrected belongs to the window
    of that tombstone.
    """
    rows = decoded.withColumn("recorded_at", F.unix_millis("timestamp"))
    joined = commits(rows).join(metadata(rows), "group", "offsets", "parts", newest="recorded_at")

    @F.udf("BINARY", useArrow=True)  # the default, but asked for: Spark warns where it infers
    def details(group: str, parts: list[Row] | None) -> bytes | None:
        found = ClientDetails.of(group, [part.asDict() for part in parts or ()])
        return None if found is None else serialise(found)

    return joined.select(
        "group",
        details("group", "parts").alias("details"),
        F.when(~F.col("deleted"), F.expr(_OFFSETS)).alias("offsets"),
        F.expr(_NEWEST).alias("changed_at"),
        "deleted",
    )


_OFFSETS = (
    "transform(offsets, each -> named_struct('topic', each.topic, 'partition', each.partition, "
    "'offset', each.committed, 'committed_at', each.committed_at))"
)
_NEWEST = "greatest(recorded_at, array_max(offsets.recorded_at), array_max(parts.recorded_at))"

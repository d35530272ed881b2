"""Archive ad actions: a row per record, so that a count can be followed to its messages."""

from collections.abc import Callable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.sources.ad_actions import day_in_oslo, decoded, require_unknown
from workbook.streams.events.ad_actions import HEAD, MAX_ARRIVAL_MS
from workbook.streams.events.reasons import Reason

VERSION = 2


def archived(raw: DataFrame, known: Callable[[], Mapping[int, str]]) -> DataFrame:
    """Return a row per record, rejected and repeated ones included.

    In: the columns of Spark's Kafka source, headers included. ``known`` asks the registry for its
    schemas by id: now, and in a task that meets another id; that raises ``NewSchema`` if the id was
    registered meanwhile. Out: ``topic``, ``partition``, ``offset``; ``arrival`` (bigint, ms) and
    ``hash`` (bigint, of the value) as for ``sources.ad_actions.parse``; the action's ``event_id``
    (bigint), ``ad``, ``type``, ``source``, ``user`` (bigint), ``time`` (bigint, ms) and ``owner``
    (boolean), null where they can't be read; ``too_old`` (boolean); ``schema_id`` (int, the value's
    bytes 2 to 5, null where it has none); ``day`` (date, in Oslo: of the action, or of the arrival
    where it is rejected); ``reason`` (string, null where accepted).
    """
    arrived = day_in_oslo(F.least("arrival", F.lit(MAX_ARRIVAL_MS)))
    rows = decoded(raw, known()).select(
        "topic", "partition", "offset", "arrival", "hash",
        "action.event_id",
        *(F.make_valid_utf8(f"action.{n}").alias(n) for n in ("ad", "type", "source")),
        "action.user", "action.time", "action.owner", "too_old",
        _schema_id().alias("schema_id"),
        F.coalesce("day", arrived).alias("day"),
        "reason",
    )  # fmt: skip

    def asked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        done = set[int]()
        for batch in batches:
            unknown = batch.filter(pc.equal(batch["reason"], Reason.UNKNOWN_SCHEMA.value))
            if ids := {*unknown["schema_id"].to_pylist()} - done:
                require_unknown(ids, known())
                done |= ids
            yield batch

    return rows.mapInArrow(asked, rows.schema)


def _schema_id() -> Column:
    number = F.conv(F.hex(F.substring("value", 2, HEAD - 1)), 16, 10)
    return F.when(F.length("value") >= HEAD, number.try_cast("int"))

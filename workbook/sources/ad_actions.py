"""Decode ad actions on Spark: Avro, by the schema id in the first five bytes of a record."""

from collections.abc import Collection, Mapping
from datetime import date, datetime, time
from functools import reduce
from operator import and_, or_

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.avro.functions import from_avro

from workbook.errors import NewSchema
from workbook.sources.records import RECORD
from workbook.streams.events.ad_actions import (
    ARRIVAL,
    CLOCK_AHEAD_MS,
    HEAD,
    HORIZON_MS,
    MAX_ACTION_BYTES,
    MAX_AGE_MS,
    MAX_ARRIVAL_MS,
    NEEDED,
    OSLO,
    PLAIN,
    READER,
    SCHEMA_ID,
    TYPES,
    head,
    reading,
)
from workbook.streams.events.fields import MAX_AHEAD_MS
from workbook.streams.events.reasons import Reason

_PLAIN = rf"\A{PLAIN}\z"


def parse(raw: DataFrame, schemas: Mapping[int, str], same: Column | None = None) -> DataFrame:
    """Decode record values as ad actions, and mark the other records with a reason.

    In: the columns of Spark's Kafka source, headers included. ``schemas`` are the writers' schemas
    by their id in the registry. Out, a row per record: ``ad``, ``type`` and ``source`` (string),
    ``user`` (bigint), ``day`` (date, in Oslo), ``owner`` and ``too_old`` (boolean); ``hash``
    (bigint, of what makes two records the ``same``: a column of ``value`` and ``action``, by
    default the value), ``arrival`` (bigint, ms: the replicator's header, else the record's
    timestamp), ``partition``, ``offset``; ``reason`` (string, null where accepted), and only where
    there is one or the action is too old ``key``, ``value`` and ``topic``. Records are rejected by
    the rules of ``decode``.
    """
    rejected = F.col("reason").isNotNull()
    letter = rejected | F.col("too_old")
    kept = [F.when(letter, F.col(c)).alias(c) for c in RECORD[:3]]
    return decoded(raw, schemas, same).select(
        # Only a good action's text is UTF-8 for sure; Polars breaks on another one.
        *(F.when(~rejected, F.col(f"action.{c}")).alias(c) for c in ("ad", "type", "source")),
        "action.user", "action.owner",
        "day", "too_old", "hash", "arrival", "partition", "offset", "reason", *kept,
    )  # fmt: skip


def needed_since(first: date) -> int:
    """Return the arrival (ms) from which on a replay needs all records, if it counts this day.

    An action may arrive up to MAX_AHEAD_MS before its event time, and a repetition up to HORIZON_MS
    after its first arrival. The clock that dated the arrival may have been CLOCK_AHEAD_MS ahead.
    """
    midnight = datetime.combine(first, time(), OSLO)
    return int(midnight.timestamp() * 1000) - MAX_AHEAD_MS - HORIZON_MS - CLOCK_AHEAD_MS


def before(raw: DataFrame, offsets: Mapping[int, int]) -> DataFrame:
    """Return the records before these next offsets; none of a partition that isn't named."""
    ends = [F.lit(number).cast("bigint") for place in offsets.items() for number in place]
    end = F.create_map(*ends)[F.col("partition").cast("bigint")]
    return raw.where(F.col("offset") < end)


def decoded(raw: DataFrame, schemas: Mapping[int, str], same: Column | None = None) -> DataFrame:
    """Decode record values, and judge them, without leaving out anything of a record.

    In as for ``parse``. Out, a row per record: its ``key``, ``value``, ``topic``, ``partition`` and
    ``offset``; ``arrival``, ``hash``, ``reason``, ``too_old`` and ``day`` (null where rejected) as
    for ``parse``; ``action``, a struct of the reader's schema, with nulls where it can't be read.
    """
    at = F.col("action.time")
    return (
        raw.select(
            "key", "value", "topic", "partition", "offset", "headers",
            _arrival().alias("arrival"),
            _action(schemas).alias("action"),
        )
        .withColumn("hash", F.xxhash64(F.col("value") if same is None else same))
        .withColumn("reason", _reason(schemas))
        .withColumn("too_old", at < F.col("arrival") - MAX_AGE_MS)
        # A time of year 290,000 would be an error, so a rejected record has no day.
        .withColumn("day", F.when(F.col("reason").isNull(), day_in_oslo(at)))
        .drop("headers")
    )  # fmt: skip


def day_in_oslo(ms: Column) -> Column:
    """Return the date in Oslo at a time (ms)."""
    return F.to_date(F.convert_timezone(None, F.lit(OSLO.key), F.timestamp_millis(ms)))


def require_unknown(ids: Collection[int], registered: Collection[int]) -> None:
    """Raise ``NewSchema`` if a schema id that the query didn't know is registered by now."""
    later = {*ids} & {*registered}
    if later:
        raise NewSchema(
            f"Expected records of the schemas that the query knows, but one has schema id "
            f"{min(later)}, which was registered later. Start the query again: it asks for all "
            "schemas at its start."
        )


def _arrival() -> Column:
    last = F.expr("try_element_at(headers, -1)")
    sent = F.when(last.key == ARRIVAL, last.value.cast("string").try_cast("bigint"))
    return F.coalesce(F.when(sent.between(0, MAX_ARRIVAL_MS), sent), F.unix_millis("timestamp"))


def _action(schemas: Mapping[int, str]) -> Column:
    """Return the value as a struct of the reader's schema, by the writer's schema of its id.

    Null for an unknown id, and for a value that is too large; a struct of nulls for bytes that
    can't be decoded.
    """
    body, action = (
        F.expr(f"substring(value, {HEAD + 1})"),
        F.when(F.lit(False), from_avro("value", READER)),
    )
    action = action.when(F.length("value") > MAX_ACTION_BYTES, F.lit(None))
    for number, writer in schemas.items():
        if how := reading(writer):
            found = from_avro(body, writer, {"avroSchema": how[0], "mode": "PERMISSIVE"})
            if how[1] > 1:
                found = found.withField("time", F.floor(found["time"] / how[1]))
            action = action.when(_prefix() == F.lit(head(number)), found)
    return action


def _prefix() -> Column:
    return F.substring("value", 1, HEAD)


def _reason(schemas: Mapping[int, str]) -> Column:
    action, size = F.col("action"), F.length("value")
    plain = action.ad.rlike(_PLAIN) & action.source.rlike(_PLAIN)
    no_avro = (size < HEAD) | (F.substring("value", 1, 1) != F.lit(b"\0"))
    unknown = ~_prefix().isin([head(number) for number in schemas])
    in_header = F.array_contains("headers.key", SCHEMA_ID)
    other = [head(number) for number, writer in schemas.items() if reading(writer) is None]
    lacks = [action[name].isNull() for name in NEEDED]
    latest = F.least("arrival", F.lit(MAX_ARRIVAL_MS)) + MAX_AHEAD_MS
    return (
        F.when(F.col("value").isNull() | (size == 0), Reason.EMPTY.value)
        .when(size > MAX_ACTION_BYTES, Reason.TOO_LARGE.value)
        .when((no_avro | unknown) & in_header, Reason.ID_IN_HEADER.value)
        .when(no_avro, Reason.NO_AVRO.value)
        .when(unknown, Reason.UNKNOWN_SCHEMA.value)
        .when(_prefix().isin(other), Reason.OTHER_SCHEMA.value)
        .when(reduce(and_, lacks), Reason.MALFORMED_AVRO.value)
        .when(reduce(or_, lacks), Reason.MISSING.value)
        .when(action.ad.isNull(), Reason.NO_AD.value)
        .when(~plain, Reason.NOT_PLAIN.value)
        .when(~action.type.isin(*TYPES), Reason.UNKNOWN_ACTION.value)
        .when(action.time < 0, Reason.NEGATIVE.value)
        .when(action.time > latest, Reason.FUTURE.value)
    )

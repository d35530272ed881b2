"""Decode ad actions on Spark: Avro, by the schema id in the first five bytes of a record."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.avro.functions import from_avro

from workbook.events.ad_actions import (
    ARRIVAL,
    MAX_AGE_MS,
    MAX_AHEAD_MS,
    MAX_BYTES,
    READER,
    ActionType,
)
from workbook.events.reasons import Reason

ZONE = "Europe/Oslo"
"""A day begins and ends at midnight in this time zone."""

PLAIN = "^[ -~]{1,64}$"


def parse(raw: DataFrame, schemas: Mapping[int, str]) -> DataFrame:
    """Decode record values as ad actions, and mark the other records with a reason.

    In: the columns of Spark's Kafka source, headers included. ``schemas`` are the writers' schemas
    by their id in the registry. Out, a row per record: ``ad``, ``type`` and ``source`` (string),
    ``day`` (date, in Oslo), ``owner`` and ``too_old`` (boolean); ``hash`` (bigint, of the value),
    ``arrival`` (bigint, ms: the replicator's header, else the record's timestamp), ``partition``,
    ``offset``; ``reason`` (string, null where accepted), and only where there is one ``key``,
    ``value`` and ``topic``. A record is rejected by the rules of ``AdAction.decode``.
    """
    decoded = raw.select(
        "key", "value", "topic", "partition", "offset",
        _arrival().alias("arrival"),
        F.xxhash64("value").alias("hash"),
        _action(schemas).alias("action"),
    )  # fmt: skip
    reason = F.col("reason")
    rejected = [F.when(reason.isNotNull(), F.col(c)).alias(c) for c in ("key", "value", "topic")]
    return decoded.withColumn("reason", _reason(schemas)).select(
        "action.ad", "action.type", "action.source", "action.owner",
        _day(F.col("action.time")).alias("day"),
        (F.col("action.time") < F.col("arrival") - MAX_AGE_MS).alias("too_old"),
        "hash", "arrival", "partition", "offset", "reason", *rejected,
    )  # fmt: skip


def _arrival() -> Column:
    last = F.expr("try_element_at(headers, -1)")
    sent = F.when(last.key == ARRIVAL, last.value.cast("string").try_cast("bigint"))
    return F.coalesce(sent, F.unix_millis("timestamp"))


def _action(schemas: Mapping[int, str]) -> Column:
    """Return the value as a struct of the reader's schema, by the writer's schema of its id.

    Null for an unknown id; a struct of nulls for bytes that can't be decoded.
    """
    options = {"avroSchema": READER, "mode": "PERMISSIVE"}
    body, action = F.expr("substring(value, 6)"), F.when(F.lit(False), from_avro("value", READER))
    for number, writer in schemas.items():
        action = action.when(_prefix() == _begins(number), from_avro(body, writer, options))
    return action


def _prefix() -> Column:
    return F.substring("value", 1, 5)


def _begins(number: int) -> Column:
    return F.lit(struct.pack(">bI", 0, number))


def _reason(schemas: Mapping[int, str]) -> Column:
    action, size = F.col("action"), F.length("value")
    plain = action.ad.rlike(PLAIN) & action.source.rlike(PLAIN)
    latest = F.col("arrival") + MAX_AHEAD_MS
    return (
        F.when(F.col("value").isNull() | (size == 0), Reason.EMPTY.value)
        .when(size > MAX_BYTES, Reason.TOO_LARGE.value)
        .when((size < 5) | (F.substring("value", 1, 1) != F.lit(b"\0")), Reason.NO_AVRO.value)
        .when(~_prefix().isin(*map(_begins, schemas)), Reason.UNKNOWN_SCHEMA.value)
        .when(action.event_id.isNull(), Reason.MALFORMED_AVRO.value)
        .when(action.ad.isNull(), Reason.NO_AD.value)
        .when(~plain, Reason.NOT_PLAIN.value)
        .when(~action.type.isin(*(t.value for t in ActionType)), Reason.UNKNOWN_ACTION.value)
        .when(action.time < 0, Reason.NEGATIVE.value)
        .when(action.time > latest, Reason.FUTURE.value)
    )


def _day(time: Column) -> Column:
    return F.to_date(F.from_utc_timestamp(F.timestamp_millis(time), ZONE))

"""Chapter 31: The latest of each minute, on Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.core import Problem
from workbook.classroom.frames import Row, by_rows
from workbook.lessons.active_groups.windows_on_spark_mistakes import MISTAKES
from workbook.lessons.active_groups.windows_on_spark_stream import on_a_real_stream

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from workbook.classroom.judging import NotYet

MINUTE = 1_700_000_040_000
"""A full minute (ms): the first one of the check."""

LARGE = 2**31 + 40
"""An offset that an INT doesn't hold."""


def latest_per_minute(commits: DataFrame) -> DataFrame:
    timed = commits.withColumn("time", F.timestamp_millis("committed_at"))
    minutes = timed.withWatermark("time", "1 minute").groupBy(F.window("time", "1 minute"), "group")
    newest = minutes.agg(
        F.max_by(F.struct("topic", "partition", "committed"), "offset").alias("row")
    )
    return newest.select(F.unix_millis("window.start").alias("start"), "group", "row.*")


_SCHEMA = (
    "group STRING, topic STRING, partition INT, committed BIGINT, committed_at BIGINT, "
    "deleted BOOLEAN, offset BIGINT"
)


def _at(ms: int) -> int:
    return MINUTE + ms


_ROWS: list[Row] = [
    # Not in the order of the offsets: rows of a DataFrame have none.
    ("moves", "orders", 0, 30, _at(59_999), False, 12),
    ("moves", "orders", 0, 10, _at(0), False, 3),
    ("moves", "orders", 0, 20, _at(30_000), False, 7),
    ("moves", "orders", 0, LARGE, _at(60_000), False, 15),
    ("reset", "orders", 0, 900, _at(5_000), False, 3),  # in another partition
    ("reset", "orders", 0, 0, _at(20_000), False, 9),
    ("spreads", "orders", 1, 7, _at(8_000), False, 6),
    ("spreads", "returns", 0, 3, _at(9_000), False, 8),
    ("spreads", "orders", 0, 8, _at(7_000), False, 5),
    ("clock", "orders", 0, 60, _at(41_000), False, 20),
    ("clock", "audit", 1, 61, _at(40_000), False, 21),  # its broker's clock was set back
    ("quiet", "archive", 0, 5, _at(1_000), False, 1),
    ("quiet", "archive", 0, 6, _at(1_500), False, 2),
    ("quiet", "archive", 0, 9, _at(605_000), False, 900),
    ("expired", "audit", 3, 4, _at(15_000), False, 30),
    ("expired", "audit", 3, None, None, True, 31),
    ("ended", "audit", 3, None, None, True, 32),
]

_NAMES = {name: f"g{at}" for at, name in enumerate(dict.fromkeys(row[0] for row in _ROWS))}


def _renamed(row: Row) -> Row:
    return tuple(_NAMES.get(field, field) for field in row)


_on_a_table = by_rows(
    _SCHEMA,
    _ROWS,
    "start BIGINT, group STRING, topic STRING, partition INT, committed BIGINT",
    [
        (_at(0), "moves", "orders", 0, 30),
        (_at(60_000), "moves", "orders", 0, LARGE),
        (_at(0), "reset", "orders", 0, 0),
        (_at(0), "spreads", "returns", 0, 3),
        (_at(0), "clock", "audit", 1, 61),
        (_at(0), "quiet", "archive", 0, 6),
        (_at(600_000), "quiet", "archive", 0, 9),
        (_at(0), "expired", "audit", 3, 4),
    ],
    MISTAKES,
    "Compare the rows: the name of each group that differs says what happened to it.",
    renamed=_renamed,
)


def _diagnose(answer: Any, spark: SparkSession | None = None) -> NotYet | None:
    found = _on_a_table(answer, spark=spark)
    if found is not None or spark is None:
        return found
    return on_a_real_stream(answer, spark, _SCHEMA, MINUTE)


windows_on_spark = Problem(
    name="The latest of each minute",
    task="Write a function from a DataFrame of commits to the newest commit of each group in each "
    "minute. In: `group`, `topic`, `partition`, `committed`, `committed_at` (ms), `deleted` and "
    "`offset`; in a tombstone `committed` and `committed_at` are null, and it counts for nothing. "
    "Out: one row per group and minute, whichever topic and partition it's of: `start` (ms, when "
    "the minute begins; a whole number), `group`, `topic`, `partition`, `committed`. A commit "
    "belongs to the minute of its `committed_at`. Within a minute the highest `offset` counts, "
    "that of the record itself: all records of a group lie in one partition of "
    "`__consumer_offsets`.\n\n"
    "It runs on a stream next. Use a `window` and a watermark of one minute.\n\n"
    "The groups of the check are named for what they do: `reset` goes back, `spreads` reads more "
    "than one partition, and at `clock` the broker's clock was set back.",
    stub="def latest_per_minute(commits):\n    ...  # your code\n",
    diagnose=_diagnose,
    hints=(
        "It's chapter 02's window and chapter 20's newest row in one `groupBy`. By which two "
        "things do you group?",
        "A column of type timestamp first (`F.timestamp_millis`), then the watermark on it, then "
        "the group by `F.window` of it and by `group`. `max_by` takes a struct of three columns.",
        "`F.max_by(F.struct('topic', 'partition', 'committed'), 'offset').alias('row')`, and "
        "`F.unix_millis('window.start')` is the number that's asked for.",
    ),
    reference=latest_per_minute,
    discussion="The check has also run it over micro-batches in which commits came late. One that "
    "came while the watermark hadn't passed its minute was put into its own minute, which Spark "
    "then emitted once more; so whoever keeps the rows replaces them by `start` and `group`. One "
    "that came later was dropped.\n\n"
    "Ten minutes without a row mean that a group committed nothing, and no more than that.",
)

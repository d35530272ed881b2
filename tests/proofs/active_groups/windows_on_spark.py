"""Answers to "The latest of each minute", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

COLUMNS = ["start", "group", "topic", "partition", "committed"]
FIELDS = COLUMNS[2:]


def timed(commits, time="timestamp_millis(committed_at)", delay="1 minute"):
    """The commits with a time and its watermark."""
    return commits.withColumn("time", F.expr(time)).withWatermark("time", delay)


def newest(
    commits,
    row="max_by(struct(topic, partition, committed), offset)",
    window="window(time, '1 minute')",
    keys=("group",),
    start="unix_millis(window.start)",
):
    """The newest rows by this aggregate, per window and keys."""
    by_window = commits.groupBy(F.expr(window).alias("window"), *keys).agg(F.expr(row).alias("row"))
    shown = by_window.withColumn("start", F.expr(start))
    group = "group" if "group" in keys else "row.group"
    return shown.select("start", group, *(f"row.{field}" for field in FIELDS))


def right(commits):
    return newest(timed(commits))


def by_columns(commits):
    windows = timed(commits).groupBy("group", F.window("time", "60 seconds").alias("minute"))
    found = windows.agg(*(F.max_by(field, "offset").alias(field) for field in FIELDS))
    start = (F.unix_seconds("minute.start") * 1000).alias("start")
    return found.select(start, "group", *FIELDS)


def in_sql(commits):
    live = timed(commits.where("NOT deleted"))
    return commits.sparkSession.sql(
        "SELECT unix_millis(window.start) AS start, group, row.topic, row.partition, row.committed "
        "FROM (SELECT window(time, '1 minute') AS window, group, max(struct(offset, topic, "
        "partition, committed)) AS row FROM {live} GROUP BY window(time, '1 minute'), group)",
        live=live,
    )


def by_whole_row(commits):
    whole = timed(commits.where("committed IS NOT NULL"))
    return newest(whole, "max_by(struct(*), offset)")


def without_a_watermark(commits):
    return newest(commits.withColumn("time", F.expr("timestamp_millis(committed_at)")))


def by_number(commits):
    minute = F.expr("committed_at div 60000 * 60000").alias("start")
    rows = timed(commits.where("NOT deleted")).groupBy(minute, "group")
    found = rows.agg(*(F.max_by(field, "offset").alias(field) for field in FIELDS))
    return found.select(*COLUMNS)


def cut_before_the_watermark(commits):
    cut = timed(commits.where("NOT deleted"), "timestamp_millis(committed_at div 60000 * 60000)")
    rows = cut.groupBy("time", "group")
    found = rows.agg(*(F.max_by(field, "offset").alias(field) for field in FIELDS))
    return found.select(F.unix_millis("time").alias("start"), "group", *FIELDS)


def with_delay(delay):
    return lambda commits: newest(timed(commits, delay=delay))


def collected(commits):
    rows = "array_max(collect_list(struct(offset, topic, partition, committed)))"
    return newest(timed(commits), rows)


def largest_columns(commits):
    return newest(
        timed(commits),
        "struct(max(topic) AS topic, max(partition) AS partition, max(committed) AS committed)",
    )


def topic_by_time(commits):
    return newest(
        timed(commits),
        "struct(max_by(topic, committed_at) AS topic, max_by(partition, offset) AS partition, "
        "max_by(committed, offset) AS committed)",
    )


def largest_offset_of_the_last(commits):
    return newest(
        timed(commits),
        "struct(max_by(topic, offset) AS topic, max_by(partition, offset) AS partition, "
        "max(committed) AS committed)",
    )


def largest_of_each_partition(commits):
    keys = ("group", "topic", "partition")
    windows = timed(commits.where("NOT deleted")).groupBy(F.window("time", "1 minute"), *keys)
    found = windows.agg(F.max("committed").alias("committed"))
    return found.select(F.unix_millis("window.start").alias("start"), *keys, "committed")


def in_sessions(commits):
    session = F.session_window("time", "1 minute")
    rows = timed(commits.where("NOT deleted")).groupBy(session, "group")
    found = rows.agg(F.max_by(F.struct(*FIELDS), "offset").alias("row"))
    return found.select(F.unix_millis("session_window.start").alias("start"), "group", "row.*")


def tombstones_of_1970(commits):
    rows = timed(commits, "timestamp_millis(coalesce(committed_at, 0))")
    return newest(rows)


def more_than_nothing(commits):
    return newest(timed(commits.where("committed > 0")))


def small_numbers(commits):
    return right(commits).withColumn("committed", F.col("committed").cast("int"))


def of_each_group(commits):
    rows = commits.where("NOT deleted").groupBy("group")
    found = rows.agg(F.max_by(F.struct("*"), "offset").alias("row")).select("row.*")
    start = F.expr("committed_at div 60000 * 60000").alias("start")
    return found.select(start, "group", *FIELDS)


def of_all_groups(commits):
    return newest(timed(commits), "max_by(struct(*), offset)", keys=())


def with_tombstones(commits):
    minute = F.expr("committed_at div 60000 * 60000").alias("start")
    found = commits.groupBy(minute, "group").agg(F.expr("max_by(struct(*), offset)").alias("row"))
    return found.select("start", "group", *(f"row.{field}" for field in FIELDS))


def history(commits):
    start = F.expr("committed_at div 60000 * 60000").alias("start")
    return commits.where("NOT deleted").select(start, "group", *FIELDS)


def dropped(commits):
    windowed = timed(commits.where("NOT deleted")).withColumn("w", F.window("time", "1 minute"))
    kept = windowed.coalesce(1).dropDuplicates(["w", "group"])
    return kept.select(F.unix_millis("w.start").alias("start"), "group", *FIELDS)


def numbered(commits):
    start = F.expr("committed_at div 60000 * 60000")
    rows = commits.where("NOT deleted").withColumn("start", start)
    last = Window.partitionBy("start", "group").orderBy(F.desc("offset"))
    return rows.withColumn("n", F.row_number().over(last)).where("n = 1").select(*COLUMNS)


def by_the_clock(commits):
    return newest(timed(commits, "current_timestamp()"))


def as_a_timestamp(commits):
    return newest(timed(commits), start="window.start")


def the_whole_window(commits):
    return newest(timed(commits), start="window")


def highest(commits):
    return newest(timed(commits), "max_by(struct(topic, partition, committed), committed)")


def latest_time(commits):
    return newest(timed(commits), "max_by(struct(topic, partition, committed), committed_at)")


def unnamed(commits):
    return timed(commits).groupBy(F.window("time", "1 minute"), "group").agg(F.max("committed"))


def without_audit(commits):
    return newest(timed(commits.where("topic <> 'audit'")))


def by_their_names(commits):
    return newest(timed(commits.where("group <> 'ended'"))).where("group <> 'g0'")


catalogue = Catalogue(
    right=[right, by_columns, in_sql, by_whole_row],
    wrong=[
        (without_a_watermark, "without a `withWatermark`"),
        (by_number, "isn't a `window` of the very column"),
        (cut_before_the_watermark, "ends too early"),
        (with_delay("10 minutes"), "still counts"),
        (with_delay("10 seconds"), "less than a minute late"),
        (collected, "collects every commit"),
        (highest, "The highest `committed` wins"),
        (latest_time, "The latest `committed_at` wins"),
        (lambda c: newest(timed(c), "min_by(struct(*), offset)"), "the first commit of each"),
        (largest_columns, "Each column has a maximum"),
        (lambda c: newest(timed(c), "max(struct(topic, partition, committed))"), "of a struct"),
        (of_each_group, "Each group has one row"),
        (of_all_groups, "Each minute has one row"),
        (
            lambda c: newest(
                timed(c), keys=("group", "topic", "partition"), row="max_by(struct(*), offset)"
            ),
            "several rows in a minute",
        ),
        (lambda c: newest(timed(c), window="window(time, '1 second')"), "are a second long"),
        (lambda c: newest(timed(c), window="window(time, '10 seconds')"), "ten seconds long"),
        (lambda c: newest(timed(c), window="window(time, '30 seconds')"), "half a minute long"),
        (lambda c: newest(timed(c), window="window(time, '10 minutes')"), "ten minutes long"),
        (lambda c: newest(timed(c), window="window(time, '1 hour')"), "an hour long"),
        (lambda c: newest(timed(c), window="window(time, '1 minute', '30 seconds')"), "overlap"),
        (lambda c: newest(timed(c, "timestamp_seconds(committed_at)")), "taken for seconds"),
        (lambda c: newest(timed(c), start="unix_seconds(window.start)"), "`start` is in seconds"),
        (lambda c: newest(timed(c), start="unix_millis(window.end)"), "end of the window"),
        (lambda c: newest(timed(c), start="unix_millis(window.start) div 60000"), "of minutes"),
        (lambda c: newest(timed(c), window="window(time, '5 minutes')"), "five minutes long"),
        (
            lambda c: newest(timed(c), window="window(time, '1 minute', '1 minute', '30 seconds')"),
            "begin within one",
        ),
        (in_sessions, "A session's window"),
        (more_than_nothing, "It leaves out commits of 0"),
        (small_numbers, "2147483688 doesn't fit into INT"),
        (with_tombstones, "Tombstones have no time"),
        (history, "All commits are there"),
        (dropped, "happens to stand first or last"),
        (numbered, "knows no functions `over` a window"),
        (by_the_clock, "clock on the wall"),
        (lambda c: newest(timed(c.where("deleted"))), "Nothing is left"),
        (as_a_timestamp, "TIMESTAMP"),
        (the_whole_window, "STRUCT<"),
        (unnamed, "missing start"),
        (lambda c: right(c).orderBy("start"), "can't be sorted"),
        (lambda c: right(c).collect(), "of type list"),
        (lambda c: newest(c), "no column `time`"),
        (without_audit, "that differs says what happened"),
        (by_their_names, "under other names"),
    ],
    spark=True,
    same=[
        (
            lambda c: newest(timed(c, "CAST(committed_at AS TIMESTAMP)")),
            lambda c: newest(timed(c, "timestamp_seconds(committed_at)")),
        ),
        (with_delay("50 seconds"), with_delay("10 seconds")),
        (tombstones_of_1970, with_tombstones),
        (topic_by_time, largest_columns),
        (largest_offset_of_the_last, largest_columns),
        (
            largest_of_each_partition,
            lambda c: newest(
                timed(c), keys=("group", "topic", "partition"), row="max_by(struct(*), offset)"
            ),
        ),
        (with_delay("70 seconds"), with_delay("10 minutes")),
    ],
)

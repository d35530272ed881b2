"""Chapter 32: The latest of each window, on Spark."""

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.classroom.spark_causes import NO_WATERMARK, TOO_LONG, TOO_SHORT, WATERMARK_UNUSED


def latest_per_window(commits):
    timed = commits.withColumn("time", F.timestamp_millis("committed_at"))
    marked = timed.withWatermark("time", "1 minute")
    windows = marked.groupBy(F.window("time", "5 seconds"), "group")
    newest = windows.agg(
        F.max_by(F.struct("topic", "partition", "committed"), "offset").alias("row")
    )
    return newest.select(F.unix_millis("window.start").alias("start"), "group", "row.*")


def in_sql(commits):
    live = commits.where("NOT deleted").selectExpr("*", "timestamp_millis(committed_at) AS time")
    return commits.sparkSession.sql(
        "SELECT unix_millis(window.start) AS start, group, row.topic, row.partition, row.committed "
        "FROM (SELECT window(time, '5 seconds') AS window, group, max(struct(offset, topic, "
        "partition, committed)) AS row FROM {live} GROUP BY window(time, '5 seconds'), group)",
        live=live.withWatermark("time", "60 seconds"),
    )


FIELDS = ("topic", "partition", "committed")
TIME, KEPT = "timestamp_millis(committed_at)", "struct(group, topic, partition, committed)"
START = "committed_at div 5000 * 5000"


def newest(
    row=f"max_by({KEPT}, offset)", keep="true", time=TIME, delay="1 minute",
    window="window(time, '5 seconds')", keys=("group",), start="unix_millis(window.start)",
):  # fmt: skip
    """Build the query with some parts changed, as the wrong answers need it."""

    def answer(commits):
        timed = commits.where(keep).withColumn("time", F.expr(time))
        timed = timed.withWatermark("time", delay) if delay else timed
        windows = timed.groupBy(F.expr(window).alias("window"), *keys)
        rows = windows.agg(F.expr(row).alias("row"))
        fields = [name if name in keys else f"row.{name}" for name in ("group", *FIELDS)]
        return rows.select(F.expr(start).alias("start"), *fields)

    return answer


def by_column(*chosen):
    columns = ", ".join(f"{how} AS {field}" for how, field in zip(chosen, FIELDS, strict=True))
    return newest(f"struct({columns})")


FIRST, LARGE = 1_700_000_040_000, 2**31 + 40
SCHEMA = (
    "group STRING, topic STRING, partition INT, committed BIGINT, committed_at BIGINT, "
    "deleted BOOLEAN, offset BIGINT"
)


def commit(group, offset, second, committed, topic="orders", partition=0):
    """Make the row of a commit ``second`` seconds after FIRST; without it, of a tombstone."""
    at = None if second is None else FIRST + int(second * 1000)
    return group, topic, partition, committed, at, second is None, offset


def draw(random, size):
    return tuple(
        commit(
            random.choice(("billing", "g0", "tool")), offset,
            second := random.choice((None, *[random.randrange(20_000) / 1000] * 9)),
            None if second is None else random.choice((0, 7, 7, 40, LARGE)),
            random.choice(("audit", "orders", "returns")), random.randrange(3),
        )
        for offset in random.sample(range(1_000, 9_000), size)
    )  # fmt: skip


STREAM = "On a stream it emits the wrong rows here. What is each window's newest commit so far?"

windows_on_spark = frame_exercise(
    latest_per_window,
    name="The latest of each window",
    task="Write a function from a DataFrame of commits to the newest commit of each group in each "
    "window of 5 seconds. The columns are `group`, `topic`, `partition`, `committed`, "
    "`committed_at` (ms), `deleted` and `offset`. Return one row per group and window, whatever "
    "topics and partitions the group reads: `start` (the beginning of the window in ms, a whole "
    "number), `group`, `topic`, `partition`, `committed`.\n\n"
    "- A commit belongs to the window of its `committed_at`.\n"
    "- The newest commit has the highest `offset`, its place in `__consumer_offsets`. "
    "`committed` is the offset that the group has reached.\n"
    "- A tombstone doesn't count: its `committed` and `committed_at` are null.\n\n"
    "Your function will run on a stream, so use `window`, and a watermark with a delay of one "
    "minute.",
    schema=SCHEMA,
    cases=[
        case("Three commits are in the window from 1700000040000. Offset 12 is the highest.",
             commit("Ada", 12, 4.999, 30), commit("Ada", 3, 0, 10), commit("Ada", 7, 2, 20)),
        case("One commit in each of two windows: two rows. (The second `committed` needs a "
             "BIGINT.)",
             commit("large", 13, 4.999, 30), commit("large", 14, 5, LARGE)),
        case("The group was set back to 0. That commit has the highest `offset`, so it's the "
             "newest: choose by `offset`, not by `committed`.",
             commit("reset", 3, 1, 900), commit("reset", 9, 2, 0)),
        case("The group reads three partitions but gets one row, because offset 8 is the highest.",
             commit("spreads", 6, 2, 7, partition=1), commit("spreads", 8, 3, 3, "returns"),
             commit("spreads", 5, 1, 8)),
        case("The broker's clock was set back: the highest `offset` has an earlier time.",
             commit("clock", 20, 3, 60), commit("clock", 21, 2, 61, "audit", 1)),
        case("Two groups commit in one window, and each gets a row.",
             commit("Bo", 40, 2, 1), commit("Cleo", 41, 3, 2)),
        case("The group commits nothing for a minute, so the windows of that minute have no row.",
             commit("quiet", 2, 1.5, 6), commit("quiet", 900, 61.5, 9)),
        case("A tombstone doesn't count: the group gets the row of its commit.",
             commit("expired", 30, 3, 4), commit("expired", 31, None, None)),
        case("A tombstone alone gives no row.", commit("ended", 32, None, None)),
    ],
    draw=draw,
    micro_batches=[
        case(STREAM, commit("a", 1, 12, 1), commit("b", 2, 74, 1)),  # the watermark is at 14
        case(STREAM, commit("b", 3, 74.2, 2)),
        case(TOO_SHORT, commit("a", 4, 13, 2), commit("b", 5, 74.4, 3)),
        case(STREAM, commit("b", 6, 76.2, 4)),  # 16.2: the window from 10 has ended
        case(STREAM, commit("b", 7, 76.4, 5)),
        case(TOO_LONG, commit("a", 8, 14, 3), commit("a", 9, 18, 4), commit("b", 10, 76.6, 6)),
    ],
    right=[in_sql, newest(time="CAST(committed_at / 1000 AS TIMESTAMP)", delay="60 seconds")],
    wrong=[
        wrong("Your function takes the highest `committed`, or the latest `committed_at`. A group "
              "and a broker's clock can be set back, so the newest commit is the one with the "
              "highest `offset`.", newest(f"max_by({KEPT}, committed)"),
              newest(f"max_by({KEPT}, committed_at)")),
        wrong("Your row mixes several commits, because each column is chosen by itself. Choose "
              "one commit: a `struct` is one value.",
              by_column("max(topic)", "max(partition)", "max(committed)"),
              by_column("max_by(topic, offset)", "max_by(partition, offset)", "max(committed)")),
        wrong("The maximum of a struct compares the struct's first field first. Put `offset` "
              "first, or use `max_by`.", newest(f"max({KEPT})")),
        wrong("Each window has one row for all groups. Each group needs its own: group by "
              "`group`, too.", newest(keys=())),
        wrong("A group that reads several partitions has several rows in a window. Group by the "
              "window and by `group` alone.", newest(keys=("group", "topic", "partition")),
              newest("struct(max(committed) AS committed)", keys=("group", "topic", "partition"))),
        wrong("It reads milliseconds as seconds. `timestamp_millis` converts milliseconds to a "
              "timestamp; a cast of a BIGINT expects seconds.", *(
                  newest(keep="NOT deleted", time="timestamp_seconds(committed_at)", start=start)
                  for start in ("unix_millis(window.start)", "unix_seconds(window.start)"))),
        wrong("`start` is another number than expected. It's the beginning of the window, in "
              "milliseconds.",
              newest(start="unix_seconds(window.start)"), newest(start="unix_millis(window.end)"),
              newest(start="unix_millis(window.start) div 5000")),
        wrong("A tombstone gets a row of its own. It has no time, so leave it out.",
              newest(window=f"struct(timestamp_millis({START}) AS start)"),
              newest(time="timestamp_millis(coalesce(committed_at, 0))")),
    ],
    wrong_on_a_stream=[
        wrong(NO_WATERMARK, newest(delay="")),
        wrong(WATERMARK_UNUSED, newest(
            keep="NOT deleted", window=f"struct(timestamp_millis({START}) AS start)")),
        wrong(TOO_SHORT, newest(delay="50 seconds"), newest(
            keep="NOT deleted", time=f"timestamp_millis({START})",
            window="time", start="unix_millis(window)")),
        wrong(TOO_LONG, newest(delay="70 seconds")),
    ],
    hints=(
        "Chapter 02 counted per window, and chapter 20 kept the newest row per key. Here you need "
        "both in one `groupBy`. By which two things do you group?",
        "First make a column of type timestamp (`F.timestamp_millis`) and put the watermark on it. "
        "Then group by `F.window` of that column and by `group`. `max_by` can choose a struct of "
        "three columns.",
        "`F.max_by(F.struct('topic', 'partition', 'committed'), 'offset').alias('row')` is the "
        "newest commit, and `F.unix_millis('window.start')` is `start`.",
    ),
    discussion="The check has also run your function on a stream with late commits. One of them "
    "arrived before the watermark had passed the end of its window. Spark put it into its own "
    "window and emitted that window again, so whoever keeps the rows must replace them by `start` "
    "and `group`. Another one arrived after that, and Spark dropped it.\n\n"
    "Windows without a row only say that the group has committed nothing in them. They don't say "
    "that it's dead.",
)  # fmt: skip

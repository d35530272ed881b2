"""Chapter 31: The latest of each minute, on Spark."""

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.classroom.streams import NO_WATERMARK, WATERMARK_UNUSED


def latest_per_minute(commits):
    timed = commits.withColumn("time", F.timestamp_millis("committed_at"))
    minutes = timed.withWatermark("time", "1 minute").groupBy(F.window("time", "1 minute"), "group")
    newest = minutes.agg(
        F.max_by(F.struct("topic", "partition", "committed"), "offset").alias("row")
    )
    return newest.select(F.unix_millis("window.start").alias("start"), "group", "row.*")


def in_sql(commits):
    live = commits.where("NOT deleted").selectExpr("*", "timestamp_millis(committed_at) AS time")
    return commits.sparkSession.sql(
        "SELECT unix_millis(window.start) AS start, group, row.topic, row.partition, row.committed "
        "FROM (SELECT window(time, '1 minute') AS window, group, max(struct(offset, topic, "
        "partition, committed)) AS row FROM {live} GROUP BY window(time, '1 minute'), group)",
        live=live.withWatermark("time", "60 seconds"),
    )


FIELDS = ("topic", "partition", "committed")
TIME, KEPT = "timestamp_millis(committed_at)", "struct(group, topic, partition, committed)"
MINUTE = "committed_at div 60000 * 60000"


def newest(
    row=f"max_by({KEPT}, offset)", keep="true", time=TIME, delay="1 minute",
    window="window(time, '1 minute')", keys=("group",), start="unix_millis(window.start)",
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
    """Make a row, of a commit so many seconds after FIRST. Without ``second`` it's a tombstone."""
    at = None if second is None else FIRST + int(second * 1000)
    return group, topic, partition, committed, at, second is None, offset


def draw(random, size):
    return tuple(
        commit(
            random.choice(("billing", "g0", "tool")), offset,
            second := random.choice((None, *[random.randrange(240_000) / 1000] * 9)),
            None if second is None else random.choice((0, 7, 7, 40, LARGE)),
            random.choice(("audit", "orders", "returns")), random.randrange(3),
        )
        for offset in random.sample(range(1_000, 9_000), size)
    )  # fmt: skip


TOO_SHORT = (
    "On a stream it drops a commit that is less than a minute late. Either the delay of the "
    "watermark is too short, or you group by a time that is truncated to its minute. The watermark "
    "passes such a time when the minute begins, but it passes an `F.window` only when the minute "
    "ends."
)
TOO_LONG = (
    "On a stream it still counts a commit that is too late, because the delay of the watermark is "
    "longer than a minute. The longer the delay, the more minutes stay in the state."
)
STREAM = "On a stream it emits the wrong rows in this micro-batch. What is the newest commit, then?"

windows_on_spark = frame_exercise(
    latest_per_minute,
    name="The latest of each minute",
    task="Write a function from a DataFrame of commits to the newest commit of each group in each "
    "minute. The columns are `group`, `topic`, `partition`, `committed`, `committed_at` (ms), "
    "`deleted` and `offset`. Return one row per group and minute, whichever topic and partition "
    "the commit is of: `start` (when the minute begins, in ms, a whole number), `group`, `topic`, "
    "`partition`, `committed`.\n\n"
    "- A commit belongs to the minute of its `committed_at`.\n"
    "- The newest commit of a minute has the highest `offset`, its place in `__consumer_offsets`. "
    "`committed` is another offset: how far the group has read.\n"
    "- A tombstone, whose `committed` and `committed_at` are null, doesn't count.\n\n"
    "It runs on a stream next. Use a `window` of one minute, and a watermark with a delay of one "
    "minute.",
    schema=SCHEMA,
    cases=[
        case("Three commits in the minute that begins at 1700000040000. Offset 12 is the highest.",
             commit("Ada", 12, 59.999, 30), commit("Ada", 3, 0, 10), commit("Ada", 7, 30, 20)),
        case("The second commit begins another minute. Its `committed` doesn't fit into an INT.",
             commit("large", 13, 59.999, 30), commit("large", 14, 60, LARGE)),
        case("The group was set back to 0, and that commit has the highest `offset`.",
             commit("reset", 3, 5, 900), commit("reset", 9, 20, 0)),
        case("The group reads three partitions, and has one row: offset 8 is the highest.",
             commit("spreads", 6, 8, 7, partition=1), commit("spreads", 8, 9, 3, "returns"),
             commit("spreads", 5, 7, 8)),
        case("The broker's clock was set back: the highest `offset` has an earlier time.",
             commit("clock", 20, 41, 60), commit("clock", 21, 40, 61, "audit", 1)),
        case("Two groups commit in one minute, and each has a row.",
             commit("Bo", 40, 12, 1), commit("Cleo", 41, 13, 2)),
        case("The group commits nothing for ten minutes: those minutes have no row.",
             commit("quiet", 2, 1.5, 6), commit("quiet", 900, 605, 9)),
        case("A tombstone doesn't count: the group has the row of its commit.",
             commit("expired", 30, 15, 4), commit("expired", 31, None, None)),
        case("A tombstone alone gives no row.", commit("ended", 32, None, None)),
    ],
    draw=draw,
    micro_batches=[
        case(STREAM, commit("a", 1, 10, 1), commit("b", 2, 119, 1)),  # the watermark is at 59
        case(STREAM, commit("b", 3, 119.2, 2)),
        case(TOO_SHORT, commit("a", 4, 20, 2), commit("b", 5, 119.4, 3)),
        case(STREAM, commit("b", 6, 121.2, 4)),  # 61.2: minute 0 has ended
        case(STREAM, commit("b", 7, 121.4, 5)),
        case(TOO_LONG, commit("a", 8, 30, 3), commit("a", 9, 70, 4), commit("b", 10, 121.6, 6)),
    ],
    right=[in_sql, newest(time="CAST(committed_at / 1000 AS TIMESTAMP)", delay="60 seconds")],
    wrong=[
        wrong("The highest `committed` wins. A group can be set back: the highest `offset` is the "
              "newest.", newest(f"max_by({KEPT}, committed)")),
        wrong("The latest `committed_at` wins. A broker's clock can be set back: the highest "
              "`offset` is the newest.", newest(f"max_by({KEPT}, committed_at)")),
        wrong("A row is put together from several commits, as each column is chosen by itself. "
              "Choose one commit: a `struct` is one value.",
              by_column("max(topic)", "max(partition)", "max(committed)"),
              by_column("max_by(topic, offset)", "max_by(partition, offset)", "max(committed)")),
        wrong("The maximum of a struct compares its first field first. Put `offset` first, or use "
              "`max_by`.", newest(f"max({KEPT})")),
        wrong("Each minute has one row. Each group needs its own: group by `group`, too.",
              newest(keys=())),
        wrong("A group that reads several partitions has several rows in a minute. Group by the "
              "window and by `group` alone.", newest(keys=("group", "topic", "partition")),
              newest("struct(max(committed) AS committed)", keys=("group", "topic", "partition"))),
        wrong("It reads milliseconds as seconds. `timestamp_millis` converts milliseconds to a "
              "timestamp; a cast of a BIGINT expects seconds.", *(
                  newest(keep="NOT deleted", time="timestamp_seconds(committed_at)", start=start)
                  for start in ("unix_millis(window.start)", "unix_seconds(window.start)"))),
        wrong("`start` is another number. It's the beginning of the window, in milliseconds.",
              newest(start="unix_seconds(window.start)"), newest(start="unix_millis(window.end)"),
              newest(start="unix_millis(window.start) div 60000")),
        wrong("A tombstone gets a row of its own. It has no time, so leave it out.",
              newest(window=f"struct(timestamp_millis({MINUTE}) AS start)"),
              newest(time="timestamp_millis(coalesce(committed_at, 0))")),
    ],
    wrong_on_a_stream=[
        wrong(NO_WATERMARK, newest(delay="")),
        wrong(WATERMARK_UNUSED, newest(
            keep="NOT deleted", window=f"struct(timestamp_millis({MINUTE}) AS start)")),
        wrong(TOO_SHORT, newest(delay="50 seconds"), newest(
            keep="NOT deleted", time=f"timestamp_millis({MINUTE})",
            window="time", start="unix_millis(window)")),
        wrong(TOO_LONG, newest(delay="70 seconds")),
    ],
    hints=(
        "It's chapter 02's window and chapter 20's newest row in one `groupBy`. By which two "
        "things do you group?",
        "A column of type timestamp first (`F.timestamp_millis`), then the watermark on it, then "
        "the group by `F.window` of it and by `group`. `max_by` takes a struct of three columns.",
        "`F.max_by(F.struct('topic', 'partition', 'committed'), 'offset').alias('row')`, and "
        "`F.unix_millis('window.start')` is the number that's asked for.",
    ),
    discussion="The check has also run it over micro-batches in which commits came late. One that "
    "came while the watermark hadn't passed its minute was put into its own minute, which Spark "
    "then emitted once more; so whoever keeps the rows replaces them by `start` and `group`. One "
    "that came later was dropped.\n\n"
    "Ten minutes without a row mean that a group committed nothing, and no more than that.",
)  # fmt: skip

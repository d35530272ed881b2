"""Chapter 41: Count by the owner's day."""

from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.classroom.judging import NotYet

ZONE, FAR_AWAY = "spark.sql.session.timeZone", "America/Los_Angeles"


def counts_per_day(actions):
    time = F.timestamp_millis("time")
    in_oslo = F.convert_timezone(None, F.lit("Europe/Oslo"), time)
    return actions.groupBy("ad", F.to_date(in_oslo).alias("day"), "type").count()


def in_sql(actions):
    local = "convert_timezone('Europe/Oslo', timestamp_millis(time))"
    days = actions.selectExpr("type", "ad", f"CAST({local} AS DATE) AS day")
    return days.groupBy("ad", "day", "type").agg(F.count("*").alias("count"))


def by_python(actions):
    oslo = ZoneInfo("Europe/Oslo")
    day = F.udf(lambda ms: datetime.fromtimestamp(ms / 1000, oslo).date(), "date")
    return actions.withColumn("day", day("time")).groupBy("ad", "day", "type").count()


def counted(day, by=("ad", "day", "type"), count="count(*)"):
    """Count rows by a day that is an expression in SQL; the wrong answers vary it."""

    def answer(actions):
        rows = actions.selectExpr("*", f"{day} AS day").groupBy(*by).agg(F.expr(count).alias("n"))
        columns = ("ad", "day", "type") if "type" in by else ("ad", "day", "'view' AS type")
        return rows.selectExpr(*columns, "n AS count")

    return answer


TIME, HOUR = "timestamp_millis(time)", 3_600_000
OSLO = f"to_date(convert_timezone('Europe/Oslo', {TIME}))"


def utc(ms="time"):
    return f"date_from_unix_date(int(floor(({ms}) / 86400000D)))"


def own_zone(actions):
    actions.sparkSession.conf.set(ZONE, "Europe/Oslo")
    return counted(f"to_date({TIME})")(actions)


def at(text, kind="view", ad="bike"):
    """Make a row: an action at a time in UTC, such as "2026-01-14 22:59"."""
    return ad, kind, round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def draw(random, size):
    days = ("2026-01-14", "2026-03-28", "2026-03-29", "2026-06-30", "2026-10-24", "2026-10-25")
    times = ("06:30", "21:30", "21:59", "22:00", "22:30", "22:59", "23:00", "23:30")
    return tuple(
        at(f"{random.choice(days)} {random.choice(times)}",
           random.choice(("view", "view", "click", "message")), random.choice(("bike", "boat")))
        for _ in range(size)
    )  # fmt: skip


per_day = frame_exercise(
    counts_per_day,
    name="Count by the owner's day",
    task="Write a function that counts a DataFrame of actions by ad, day and type. The input has "
    "the columns `ad`, `type`, and `time` (in ms since 1970). The result has the columns `ad`, "
    "`day` (a date: the day in Oslo), `type` and `count`.\n\nThe result must not depend on the "
    "session's time zone: the check uses a session in Los Angeles. "
    "`F.convert_timezone(None, F.lit(zone), timestamp)` turns a timestamp into a zone's local "
    "time.\n\nFrom two views of a bike at 22:59 and 23:30 UTC on "
    "14 January it makes the rows `bike, 2026-01-14, view, 1` and `bike, 2026-01-15, view, 1`, in "
    "any order.",
    schema="ad STRING, type STRING, time BIGINT",
    cases=[
        case("Two views of an ad on a day are one row, and its count is 2.",
             at("2026-02-02 12:00"), at("2026-02-02 12:01")),
        case("Views and messages of a day are two rows.",
             at("2026-02-02 12:00"), at("2026-02-02 12:00"), at("2026-02-02 12:05", "message")),
        case("Each ad has a row.", at("2026-02-03 12:00"), at("2026-02-03 12:00", ad="boat")),
        case("In January the day in Oslo ends at 23:00 UTC, and not a millisecond earlier.",
             at("2026-01-14 22:59:59.999"), at("2026-01-14 23:00"), at("2026-01-14 23:30")),
        case("In July the day in Oslo ends at 22:00 UTC.",
             at("2026-07-01 21:59"), at("2026-07-01 22:00"), at("2026-07-01 23:30")),
        case("In the morning it's the same day in Oslo and in UTC, but not yet in Los Angeles.",
             at("2026-01-20 05:00"), at("2026-01-20 06:30"), at("2026-01-20 07:30"),
             at("2026-07-20 05:30")),
        case("29 March, when the clocks go forward, has 23 hours: it begins at 23:00 UTC and ends "
             "at 22:00.", at("2026-03-28 22:59"), at("2026-03-28 23:00"), at("2026-03-29 21:59"),
             at("2026-03-29 22:00")),
        case("25 October has 25 hours: it begins at 22:00 UTC and ends at 23:00.",
             at("2026-10-24 21:59"), at("2026-10-24 22:00"), at("2026-10-25 22:59"),
             at("2026-10-25 23:00")),
    ],
    streams=False,  # `foreachBatch` calls it
    draw=draw,
    right=[in_sql, by_python],
    wrong=[
        wrong("Its days are those of UTC. A day in Oslo begins one hour earlier, or two hours in "
              "summer.", counted(utc()), counted(f"to_date(convert_timezone('UTC', {TIME}))")),
        wrong("Its days are those of the session: `to_date`, `date_format`, `cast` and "
              "`from_unixtime` all use `spark.sql.session.timeZone`. The notebook's session is on "
              "UTC, and the check's is in Los Angeles. At work the default is the zone of the "
              "driver's machine. Convert to Oslo first.", counted(f"to_date({TIME})"),
              counted("to_date(from_unixtime(time / 1000))")),
        wrong("It's right only if the session is on UTC: `from_utc_timestamp`, and "
              "`convert_timezone` with UTC as its first zone, treat the session's local time as if "
              "it were UTC. With None as the first zone, `convert_timezone` converts from the "
              "session's zone.", counted(f"to_date(from_utc_timestamp({TIME}, 'Europe/Oslo'))"),
              counted(f"to_date(convert_timezone('UTC', 'Europe/Oslo', {TIME}))")),
        wrong("It adds a fixed number of hours. Oslo is one hour ahead of UTC in winter and two in "
              "summer. Name the zone, `Europe/Oslo`: Spark knows its rules.",
              counted(utc(f"time + {HOUR}")), counted(utc(f"time + {2 * HOUR}")),
              counted(f"to_date({TIME} + INTERVAL 2 HOURS)"),
              counted(f"to_date(convert_timezone('+02:00', {TIME}))")),
        wrong("It counts all types together. Group by `ad`, `day` and `type`.",
              counted(OSLO, by=("ad", "day"))),
        wrong("It counts distinct times, or drops equal rows. But two actions may happen at the "
              "same time, and duplicates have already been removed.",
              counted(OSLO, count="count(DISTINCT time)")),
        wrong("It rounds the time. But the last millisecond of a day belongs to that day.",
              counted(OSLO.replace(TIME, "timestamp_seconds(round(time / 1000))"))),
        wrong("Its windows are 24 hours long and begin at a fixed hour of UTC, and `to_date` of "
              "their start depends on the session. Make a date of the local time in Oslo, and "
              "group by it.", counted(f"to_date(window({TIME}, '1 day').start)"),
              counted(f"to_date(window({TIME}, '1 day', '1 day', '23 hours').start)")),
    ],
    hints=(
        "There are three steps: turn the milliseconds into a timestamp, the timestamp into a local "
        "time in Oslo, and the local time into a date. Then group and count.",
        "`F.timestamp_millis` turns a number into a timestamp, `F.convert_timezone` turns that "
        "into a local time, and `F.to_date` turns the local time into a date. Name the date "
        "`day` when you group by it.",
        "`F.to_date(F.convert_timezone(None, F.lit('Europe/Oslo'), F.timestamp_millis('time')))` "
        "is the day.",
    ),
    discussion="A timestamp in Spark is a moment, and its day depends on the time zone. If you "
    "name none, Spark uses the session's. `F.window(time, '1 day')` doesn't help: its windows are "
    "24 hours long, but each year one day in Oslo has 23 hours, and another has 25.\n\n"
    "A date in a database has no zone either. Write next to the column in which zone its days are.",
)  # fmt: skip

MOVED = (
    "It changes the time zone of the whole session, and so the days and hours of every other query "
    "in this session. Name the zone in your expression instead."
)


def far_away(judge):
    """Judge in a session in Los Angeles, and refuse an answer that moves the session."""

    def diagnose(answer, spark=None):
        if spark is None:
            return judge(answer)
        before = spark.conf.get(ZONE)
        spark.conf.set(ZONE, FAR_AWAY)
        try:
            found = judge(answer, spark)
            return NotYet(MOVED) if spark.conf.get(ZONE) != FAR_AWAY else found
        finally:
            spark.conf.set(ZONE, before)

    return diagnose


per_day = replace(
    per_day, diagnose=far_away(per_day.diagnose), wrong=[*per_day.wrong, *wrong(MOVED, own_zone)]
)

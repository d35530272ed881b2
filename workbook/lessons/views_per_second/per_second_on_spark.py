"""Chapter 02: Views per second on Spark."""

from datetime import UTC, datetime

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.classroom.spark_causes import (
    NO_WATERMARK,
    TOO_LONG,
    TOO_SHORT,
    WATERMARK_BEHIND,
    WATERMARK_UNUSED,
)


def views_per_second(clicks):
    pages = clicks.where("click_type = 'Page'")
    timed = pages.withColumn("time", F.timestamp_millis("timestamp"))
    windows = timed.withWatermark("time", "5 seconds").groupBy(F.window("time", "1 second"))
    counted = windows.agg(F.count("*").alias("views"))
    return counted.select(F.unix_seconds("window.start").alias("second"), "views")


def in_sql(clicks):
    timed = clicks.selectExpr("*", "timestamp_millis(timestamp) AS at")
    return clicks.sparkSession.sql(
        "SELECT unix_seconds(window.start) AS second, count(*) AS views FROM {timed} "
        "WHERE click_type = 'Page' GROUP BY window(at, '1 second')",
        timed=timed.withWatermark("at", "5 seconds"),
    )


PAGES, TIME = "click_type = 'Page'", "timestamp_millis(timestamp)"


def counted(
    keep=PAGES, time=TIME, delay="5 seconds", by="", views="count(*)", keys=(),
    second="unix_seconds(group.start)",
):  # fmt: skip
    """Build the query with some parts changed, as the wrong answers need it."""

    def answer(clicks):
        timed = clicks.where(keep).selectExpr("*", f"{time} AS time")
        timed = timed.withWatermark("time", delay) if delay else timed
        group = F.expr(by) if by else F.window("time", "1 second")
        groups = timed.groupBy(group.alias("group"), *keys).agg(F.expr(views).alias("views"))
        return groups.selectExpr(f"{'group' if by else second} AS second", "views")

    return answer


def watermark_behind(clicks):
    windows = counted(delay="")(clicks).selectExpr("timestamp_seconds(second) AS start", "views")
    late = windows.withWatermark("start", "5 seconds")
    return late.select(F.unix_seconds("start").alias("second"), "views")


def without_duplicates(clicks):
    return views_per_second(clicks.dropDuplicates(["event_id"]))


FIRST = 1_700_000_000_000
SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, arrival TIMESTAMP"
)


def click(ms, kind="Page", name="/home", event=None, late=40, tab="t1", browser="Firefox"):
    """Make a row: a click at ``ms`` after FIRST that arrives at the broker ``late`` ms later."""
    at = FIRST + ms
    arrival = datetime.fromtimestamp((at + late) / 1000, UTC)
    return event or at, kind, name, at, browser, tab, arrival


def draw(random, size):
    return tuple(
        click(
            random.choice((0, 60_000, 3_600_000)) + random.randrange(3_000),
            kind=random.choice(("Page", "Page", "Action", "PageLeave")),
            name=random.choice(("/home", "hats", "Page", "buy")),
            late=random.choice((0, 40, 1_500, 700_000)),
            tab=random.choice(("t1", "t2", None)),
            browser=random.choice(("Firefox", "Safari", None)),
        )
        for _ in range(size)
    )


STREAM = "On a stream it emits the wrong rows in this micro-batch. What does it count, and when?"

per_second_on_spark = frame_exercise(
    views_per_second,
    name="Views per second on Spark",
    task="Write a function that gets a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp` in ms, `browser`, `tab_id`, `arrival`) and returns a DataFrame with the page "
    "views of each second. Its columns are `second` (a whole number, seconds since 1970) and "
    "`views`. A record that isn't a click is a row of nulls and doesn't count. Views at 10,000, "
    "10,999 and 11,200 ms give the rows `10, 2` and `11, 1`, in any order.\n\n"
    "Next, your function runs on a stream, for as long as the shop is open. Use a `window` of one "
    "second and a watermark with a delay of five seconds, so that Spark can drop old seconds.",
    schema=SCHEMA,
    cases=[
        case("Two views of two pages, 999 ms apart: one row, for the second of both.",
             click(0), click(999, name="/shoes", tab="t2", browser="Safari")),
        case("One view in second 10, and one in second 11.", click(10_200), click(11_000)),
        case("An action, a scroll and the end of a view aren't page views.",
             click(20_000), click(20_100, "Action", "/buy"), click(20_200, "PageLeave"),
             click(20_300, "Scroll"), click(21_000, "Action", "buy")),
        case("A page's name need not begin with a slash, and a view may have no tab or browser.",
             click(30_000, name="hats"), click(30_100, tab=None), click(30_200, browser=None)),
        case("Event 7 was delivered twice, and both rows count.",
             click(40_100, event=7), click(40_100, event=7)),
        case("The second view took two minutes to arrive, but it happened in second 50.",
             click(50_000), click(50_900, late=120_000)),
        case("A record that isn't a click doesn't count.", (None,) * 7, click(60_000)),
        case("Nobody looked at a page between these two views: those seconds have no row.",
             click(70_000), click(130_000)),
    ],
    draw=draw,
    micro_batches=[
        case(STREAM, click(200), click(700), click(6_900)),  # the watermark is at 1,900 from here
        case(STREAM, click(6_910)),
        case(TOO_SHORT, click(1_950), click(6_920)),
        case(STREAM, click(9_100)),  # 4,100
        case(STREAM, click(9_110)),
        case(TOO_LONG, click(3_950), click(4_200), click(9_900)),
    ],
    right=[in_sql, counted()],
    wrong=[
        wrong("It doesn't count exactly the page views. Keep only the rows whose `click_type` is "
              "equal to `Page`.", counted("timestamp IS NOT NULL"),
              counted("click_type <> 'Action'"), counted("click_type LIKE 'Page%'"),
              counted("name LIKE '/%'")),
        wrong("A second has several rows. Group by the window alone.",
              *(counted(keys=[key]) for key in ("name", "event_id", "tab_id", "browser"))),
        wrong("`second` is another number than expected. It's the window's start, in seconds since "
              "1970.", *(counted(second=f"{how}(group.{end})") for how, end in (
                  ("unix_seconds", "end"), ("second", "start"), ("unix_millis", "start")))),
        wrong("It groups by `arrival`. A view belongs to the second in which it happened: use its "
              "`timestamp`.", counted(time="arrival")),
        wrong("It counts distinct values or drops duplicates, so an event that was delivered twice "
              "counts once. That can be useful, but it needs more state. Here every row counts.",
              without_duplicates, counted(views="approx_count_distinct(event_id)")),
        wrong("It reads milliseconds as seconds. `timestamp_millis` converts milliseconds to a "
              "timestamp; a cast of a BIGINT expects seconds.",
              counted(time="timestamp_seconds(timestamp)"), counted(by="timestamp")),
        wrong("It rounds. A view 999 ms after a second began still belongs to that second.",
              counted(by="CAST(round(timestamp / 1000) AS BIGINT)"),
              counted(by="ceil(timestamp / 1000)")),
        wrong("A second with actions alone gets a row with 0 views. Filter before you group.",
              counted("timestamp IS NOT NULL", views="count_if(click_type = 'Page')")),
    ],
    wrong_on_a_stream=[
        wrong(NO_WATERMARK, counted(delay=""), counted(delay="", by="timestamp div 1000")),
        wrong(WATERMARK_BEHIND, watermark_behind),
        wrong(WATERMARK_UNUSED, counted(by="unix_seconds(time)")),
        wrong(TOO_SHORT, counted(delay="0 seconds"), counted(delay="4800 milliseconds")),
        wrong(TOO_LONG, counted(delay="10 minutes"), counted(delay="5200 milliseconds")),
    ],
    hints=(
        "It's the query above with three changes: the rows that it keeps, the length of a window, "
        "and the names of the columns.",
        "The order matters: filter the rows, make a timestamp column, set the watermark on it, "
        "group by its window, count. `window.start` is a timestamp, and `F.unix_seconds` turns it "
        "into a number.",
        "`timed.withWatermark('time', '5 seconds').groupBy(F.window('time', '1 second'))` is the "
        "step in the middle. Write the steps before and after it.",
    ),
    discussion="The window does two things. It groups by second, as `timestamp div 1000` would. It "
    "also tells Spark that each group is a span of time: when the watermark passes the end of the "
    "span, Spark drops that second from the state. The check has run your query over six "
    "micro-batches. It counted a page view that was not quite five seconds late, and it dropped "
    "one that was a little later.",
)  # fmt: skip

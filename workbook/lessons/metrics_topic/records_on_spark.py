"""Chapter 03: Records on Spark."""

from datetime import UTC, datetime

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise


def as_records(counts):
    return counts.selectExpr("string(unix_seconds(window.start)) AS key", "string(views) AS value")


def by_columns(counts):
    return counts.select(
        F.col("views").cast("string").alias("value"),
        F.unix_seconds(F.col("window.start")).cast("string").alias("key"),
    )


def records(key="string(unix_seconds(window.start))", value="string(views)"):
    return lambda counts: counts.selectExpr(f"{key} AS key", f"{value} AS value")


def merged(views):
    """Build a wrong answer that makes one row of all rows of a window."""
    return lambda counts: as_records(counts.groupBy("window").agg(F.expr(views).alias("views")))


def count(second, views):
    start, end = datetime.fromtimestamp(second, UTC), datetime.fromtimestamp(second + 1, UTC)
    return (start, end), views


def draw(random, size):
    """Draw counts of some seconds, so that most of the windows come again."""
    seconds = (0, 59, 3_600, 1_234_567, 1_700_000_000, 1_700_000_001, 3_000_000_000)
    views = (0, 1, 2, 10, 999, 1_000, 99_999_999, 3_000_000_000)
    return tuple(count(random.choice(seconds), random.choice(views)) for _ in range(size))


FIRST = 1_700_000_000

records_on_spark = frame_exercise(
    as_records,
    name="Records on Spark",
    task="Write the function that turns the query's counts into records for Spark's Kafka sink. "
    "It gets a DataFrame with `window` (a struct of two timestamps, `start` and `end`) and "
    "`views` (BIGINT), and returns a DataFrame with the columns `key` and `value`, both STRING, "
    "in the format that you published by hand. The window from 22:13:20 to 22:13:21 on 14 "
    'November 2023 (UTC) with 42 views gives the row `"1700000000", "42"`.\n\n'
    "It runs on a stream in update mode, where each change of a count is a row. Return one row "
    "for each row.",
    schema="window STRUCT<start:TIMESTAMP,end:TIMESTAMP>, views BIGINT",
    cases=[
        case("The key is the window's start, in seconds since 1970, and the value is the views, "
             "both as decimal text.", count(FIRST, 42)),
        case("The window appears twice, because its count has changed. Return a row for each.",
             count(FIRST + 1, 7), count(FIRST + 1, 9)),
        case("Two equal rows become two equal rows. A reader that keeps the last value is right.",
             count(FIRST + 2, 9), count(FIRST + 2, 9)),
        case("The text of a number has only digits.", count(FIRST + 5, 1_234)),
        case("For the window that begins five seconds after 1970 began, the key is `5`.",
             count(5, 1)),
        case("A second far in the future and a large number of views need a BIGINT.",
             count(4_000_000_000, 3_000_000_000)),
    ],
    draw=draw,
    right=[
        by_columns,
        records("format_string('%d', bigint(window.start))", "format_string('%d', views)"),
        records("string(unix_millis(window.start) div 1000)"),
    ],
    wrong=[
        wrong("The key is a date as text, which depends on the session's time zone. Use the "
              "seconds since 1970, which `unix_seconds` returns.", records("string(window.start)"),
              records("date_format(window.start, 'yyyy-MM-dd HH:mm:ss')"),
              records("date_format(window.start, 'HH:mm:ss')")),
        wrong("The key is the whole window as text. Use its `start`, as seconds since 1970.",
              records("string(window)"), records("to_json(window)")),
        wrong("The key is the window's end, which is the start of the next second. Use `start`.",
              records("string(unix_seconds(window.end))"), records("string(window.end)")),
        wrong("The key isn't a whole number of seconds since 1970: `unix_seconds` returns that.",
              records("string(unix_millis(window.start))"),
              records("string(unix_millis(window.start) / 1000)"),
              records("string(second(window.start))")),
        wrong("A column is still a number, and the sink would refuse it. Cast both to STRING.",
              records("unix_seconds(window.start)", "views"),
              records(key="unix_seconds(window.start)"), records(value="views")),
        wrong("Key and value are swapped: the key is the second.",
              records("string(views)", "string(unix_seconds(window.start))")),
        wrong("The value isn't the number of views alone. Programs read it: a cast to STRING "
              "returns the digits and nothing else.",
              records(value="format_number(views, 0)"), records(value="to_json(struct(views))"),
              records(value="to_json(struct(unix_seconds(window.start) AS second, views))")),
        wrong("Rows are added up, merged or dropped. Each row contains all views of its second so "
              "far and becomes one record, so there's nothing left to count.", merged("max(views)"),
              merged("sum(views)"), merged("min(views)"),
              lambda counts: as_records(counts).distinct()),
    ],
    hints=(
        "There's nothing left to count. Each row stays a row, with two columns computed from the "
        "old ones.",
        "A timestamp cast to text is a date. Which function of Spark returns the seconds since "
        "1970? Write a struct's field with a dot: `window.start`.",
        "`string(unix_seconds(window.start)) AS key` is one of the two columns in a `selectExpr`.",
    ),
    discussion="Spark's Kafka sink finds its columns by name: `key` and `value`, and optionally "
    "`topic`, `partition` and `headers`. It takes STRING and BINARY. It refuses a BIGINT, because "
    "it can't know how you want to encode the number.\n\n"
    "The key has a weakness: a window of a minute would get the same key as its first second. "
    "Everything that makes a number unique belongs in its key.",
)  # fmt: skip

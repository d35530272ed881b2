"""Chapter 01: Views per name on Spark."""

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise


def views_per_name(clicks):
    pages = clicks.where("click_type = 'Page'")
    return pages.groupBy("name").count().withColumnRenamed("count", "views")


def in_sql(clicks):
    return clicks.sparkSession.sql(
        "SELECT count(1) AS views, name FROM {clicks} WHERE click_type = 'Page' GROUP BY name",
        clicks=clicks,
    )


def counted(keep="click_type = 'Page'", by=(), views="count(*)", of=lambda rows: rows):
    """Build the query with some parts changed, as the wrong answers need it."""

    def answer(clicks):
        groups = of(clicks.where(keep)).groupBy("name", *map(F.expr, by))
        return groups.agg(F.expr(views).alias("views")).select("name", "views")

    return answer


NOON = 1_700_000_000_000


def click(event_id, kind="Page", name="/home", at=NOON, offset=None):
    return event_id if offset is None else offset, event_id, kind, name, at


def draw(random, size):
    """Draw records: some clicks are delivered twice, and some records are no clicks."""
    kinds = ("Page", "Page", "Action", "PageLeave", "page", "Hover")
    names = ("/home", "/shoes", "/Shoes", "shoes", "buy", "Page")
    times = (NOON, NOON + 900, NOON + 60_000, NOON + 86_400_000, NOON + 10**11)
    clicks = [
        click(event_id, *map(random.choice, (kinds, names, times)))
        for event_id in range(100, 100 + size)
    ]
    clicks[::10] = [(0, None, None, None, None)] * len(clicks[::10])
    return tuple((1_000 + n, *row[1:]) for n, row in enumerate(random.choices(clicks, k=size)))


on_spark = frame_exercise(
    views_per_name,
    name="Views per name on Spark",
    task="Write a function from a DataFrame of clicks (`offset`, `event_id`, `click_type`, `name`, "
    "`timestamp`) to one with the page views of each name: columns `name` and `views`. Only rows "
    "of the type `Page` count, and each of them does, even one that came before. A record that is "
    "no click has null in all columns but `offset`. Two views of /home and one of /shoes give the "
    "rows `/home, 2` and `/shoes, 1`, in any order. It runs on a stream later, so it must leave "
    "running to the caller.",
    schema="offset BIGINT, event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT",
    cases=[
        case("/home has two views, and /shoes has one.",
             click(1), click(2, at=NOON + 4_000), click(3, name="/shoes")),
        case("Event 4 was delivered twice, and both rows count.",
             click(4), click(4, offset=99)),
        case("Only the type `Page` itself is a page view.",
             click(5), click(6, "Action", "/shoes"), click(7, "PageLeave", "/hats"),
             click(8, "Hover", "/hats"), click(9, "page", "/socks")),
        case("`Start` is a page, though it has no slash, and `start` is another one. A name stays "
             "as it is.", click(10, name="Start"), click(11, name="start")),
        case("A record that isn't a click doesn't count.", (12, None, None, None, None), click(13)),
        case("A view whose time is missing is a row of the type `Page`, too.", click(16, at=None)),
        case("The second view was a day later. A name has one row.",
             click(14), click(15, at=NOON + 86_400_000)),
    ],
    draw=draw,
    right=[in_sql, counted()],
    wrong=[
        wrong("It counts actions or other clicks, too. Keep only the rows whose `click_type` is "
              "equal to `Page`.", counted("click_type IS NOT NULL"), counted("true"),
              counted("click_type <> 'Action'"), counted("click_type LIKE 'Page%'")),
        wrong("It judges by the name: a page need not begin with a slash, and the name of an "
              "action may. The kind of a click is in `click_type`.", counted("name LIKE '/%'"),
              counted("click_type = 'Page' AND name LIKE '/%'")),
        wrong("A type is written `Page`, with a capital letter; `page` is another one.",
              counted("click_type = 'page'"), counted("lower(click_type) = 'page'")),
        wrong("It returns no row at all. Is a filter never true? A comparison with null is never "
              "true.",
              counted("click_type = NULL"), counted("false")),
        wrong("It drops duplicates or counts distinct values. That has a price on a stream, and "
              "here every row counts, also of an event that was delivered twice.",
              counted(of=lambda pages: pages.dropDuplicates(["event_id"])),
              counted(views="count(DISTINCT event_id)")),
        wrong("Names without a page view appear with 0. Filter before you group: on a stream each "
              "name that is kept costs state.",
              counted("true", views="count_if(click_type = 'Page')"),
              counted("true", views="sum(int(click_type = 'Page'))")),
        wrong("A name has several rows, because you group by more than the name.",
              counted(by=["event_id"]),
              counted(by=["window(timestamp_millis(timestamp), '1 day')"])),
    ],
    hints=(
        "It takes three steps: which rows stay, what belongs together, what is counted.",
        "Use `where` for the rows, then `groupBy` and a count; give its column the name that is "
        "asked for.",
        "`pages.groupBy('name').count().withColumnRenamed('count', 'views')` counts; `pages` is "
        "for you.",
    ),
    discussion="The function opens no session and no topic, so the same lines run over this small "
    "table and over an endless stream. On a stream the counts are Spark's state.\n\n"
    "There is no window: each name stays in the state for ever, and a visitor who makes up names "
    "makes it grow (chapter 02 bounds it).",
)  # fmt: skip

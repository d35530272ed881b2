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
    "`timestamp`) to a DataFrame with the page views of each name. Its columns are `name` and "
    "`views`. Only rows whose `click_type` is `Page` count, and every such row counts, even if "
    "the same click was delivered before. A record that is no click has null in all columns "
    "except `offset`. Two views of /home and one of /shoes give the rows `/home, 2` and "
    "`/shoes, 1`, in any order.\n\n"
    "Later your function runs on a stream, so it only describes the query; the caller starts it.",
    schema="offset BIGINT, event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT",
    cases=[
        case("/home has two views, and /shoes has one.",
             click(1), click(2, at=NOON + 4_000), click(3, name="/shoes")),
        case("Event 4 was delivered twice, and both rows count.",
             click(4), click(4, offset=99)),
        case("Only the type `Page` itself is a page view.",
             click(5), click(6, "Action", "/shoes"), click(7, "PageLeave", "/hats"),
             click(8, "Hover", "/hats"), click(9, "page", "/socks")),
        case("`Start` is a page, although it has no slash, and `start` is another page. Don't "
             "change a name.", click(10, name="Start"), click(11, name="start")),
        case("A record that isn't a click doesn't count.", (12, None, None, None, None), click(13)),
        case("A page view without a time is a page view, too.", click(16, at=None)),
        case("The second view was a day later. Each name still has one row.",
             click(14), click(15, at=NOON + 86_400_000)),
    ],
    draw=draw,
    right=[in_sql, counted()],
    wrong=[
        wrong("It counts actions or other clicks, too. Keep only the rows whose `click_type` is "
              "equal to `Page`.", counted("click_type IS NOT NULL"), counted("true"),
              counted("click_type <> 'Action'"), counted("click_type LIKE 'Page%'")),
        wrong("It decides by the name. But a page's name need not begin with a slash, and an "
              "action's name may begin with one. The kind of click is in `click_type`.",
              counted("name LIKE '/%'"),
              counted("click_type = 'Page' AND name LIKE '/%'")),
        wrong("The type is `Page`, with a capital letter; `page` is another type.",
              counted("click_type = 'page'"), counted("lower(click_type) = 'page'")),
        wrong("It drops duplicates or counts distinct values. On a stream that needs more state, "
              "and here every row counts, even if an event was delivered twice.",
              counted(of=lambda pages: pages.dropDuplicates(["event_id"])),
              counted(views="count(DISTINCT event_id)")),
        wrong("Names without a page view have a row with 0. Filter before you group: on a stream, "
              "every name that you keep needs state.",
              counted("true", views="count_if(click_type = 'Page')"),
              counted("true", views="sum(int(click_type = 'Page'))")),
        wrong("A name has several rows, because you group by more than the name.",
              counted(by=["event_id"]),
              counted(by=["window(timestamp_millis(timestamp), '1 day')"])),
    ],
    hints=(
        "It takes three steps: choose the rows, put the rows of a name together, and count them.",
        "Use `where` to choose the rows, then `groupBy` and a count. Name its column `views`.",
        "`pages.groupBy('name').count().withColumnRenamed('count', 'views')` counts the rows.",
    ),
    discussion="The function opens no session and no topic, so the same lines run on this small "
    "table and on an endless stream. On a stream, the counts are Spark's state.\n\n"
    "Spark never removes a name from the state, so a visitor who invents names makes the state "
    "grow for ever. Chapter 02 bounds it.",
)  # fmt: skip

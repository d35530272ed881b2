"""Chapter 10: Totals of each visit on Spark."""

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise


def visit_totals(messages):
    of_visits = messages.where("type <> 'heartbeat'")
    return of_visits.groupBy("ssid").agg(
        F.count_if(F.col("type") == "tracking").alias("pages"),
        F.count_if(F.col("type") == "order").alias("orders"),
        F.coalesce(F.sum("cents"), F.lit(0)).alias("cents"),
    )


def in_sql(messages):
    return messages.sparkSession.sql(
        "SELECT ssid, count(page) AS pages, count(order_id) AS orders, "
        "ifnull(sum(cents), 0) AS cents FROM {m} WHERE ssid IS NOT NULL GROUP BY ssid",
        m=messages,
    )


PAGES, ORDERS, CENTS = "count(page)", "count(order_id)", "coalesce(sum(cents), 0)"
VISITS = "ssid IS NOT NULL"


def totals(pages=PAGES, orders=ORDERS, cents=CENTS, of=VISITS, by=("ssid",)):
    """Build the query with some parts changed, as the wrong answers need it."""

    def answer(messages):
        columns = f"{pages} AS pages", f"{orders} AS orders", f"{cents} AS cents"
        groups = messages.where(of).groupBy(*by).agg(*map(F.expr, columns))
        return groups.select("ssid", "pages", "orders", "cents")

    return answer


def with_null_cents(**other):
    """Build a wrong query twice: also with null for the cents of a visit without orders."""
    return totals(**other), totals(**other, cents="sum(cents)")


def joined(how):
    """Build a query that joins the orders to the tracking messages."""

    def answer(messages):
        tracked = messages.where("type = 'tracking'").select("ssid", "page")
        ordered = messages.where("type = 'order'").select("ssid", "order_id", "cents")
        return totals()(tracked.join(ordered, "ssid", how))

    return answer


def tracking(ssid, *pages):
    return [("tracking", AT, n, ssid, page, None, None) for n, page in enumerate(pages, 1)]


def orders(ssid, *cents):
    return [("order", AT, n, ssid, None, f"o{n}", price) for n, price in enumerate(cents, 1)]


AT = 1_700_000_000_000
HEARTBEAT = ("heartbeat", AT, *[None] * 5)


def draw(random, size):
    rows = []
    for n in range(size):
        ssid, at = f"{random.choice('sS')}{random.randrange(size // 6)}", random.randrange(10**11)
        order = "order", at, n, ssid, None, f"o{n}", random.choice((0, 250, 4_995))
        page = "tracking", at, n, ssid, random.choice(("/", "/shoes", "/hats")), None, None
        rows.append(random.choice((order, page, page, HEARTBEAT)))
    return tuple(rows)


STREAM = "On a stream it emits the wrong rows in this micro-batch. Which messages of a visit count?"

totals_on_spark = frame_exercise(
    visit_totals,
    name="Totals of each visit on Spark",
    task="`messages` is a DataFrame with the messages of both topics: `type` (`tracking`, `order` "
    "or `heartbeat`), `timestamp`, `event_id`, `ssid`, `page`, `order_id`, `cents`; what a message "
    "lacks is null. Write a function that returns a row per visit: `ssid`, `pages` (its tracking "
    "messages), `orders`, and `cents` (of all its orders; 0 where it has none). Heartbeats belong "
    "to no visit.\n\n"
    "Visit `v1` with three tracking messages and two orders of 4,995 cents gives `v1, 3, 2, 9990`. "
    "No message comes twice here.",
    schema="type STRING, timestamp BIGINT, event_id BIGINT, ssid STRING, page STRING, "
    "order_id STRING, cents BIGINT",
    cases=[
        case("The visit has three tracking messages, two of which are of one page, and two orders "
             "of the same price. All of them count.",
             *tracking("v1", "/", "/shoes", "/shoes"), *orders("v1", 4_995, 4_995)),
        case("The visit has one page and one order. Heartbeats belong to no visit, so they have no "
             "row.", HEARTBEAT, HEARTBEAT, *tracking("v2", "/"), *orders("v2", 100)),
        case("The visit has no order: its `orders` and its `cents` are 0.", *tracking("v3", "/")),
        case("The visit has only an order so far. Between the two topics there's no order, so its "
             "tracking messages may come later.", *orders("v4", 250)),
        case("An order of 0 cents is an order, too.", *tracking("v5", "/"), *orders("v5", 0)),
        case("The visit has two tracking messages and three orders.",
             *orders("v6", 250, 9_000, 4_995), *tracking("v6", "/", "/hats")),
    ],
    draw=draw,
    micro_batches=[
        case(STREAM, *orders("v1", 250), HEARTBEAT),
        case(STREAM, *tracking("v1", "/", "/hats"), *tracking("v2", "/")),
        case(STREAM, *orders("v2", 0, 70), HEARTBEAT),
    ],
    right=[in_sql, totals()],
    wrong=[
        wrong("There's a row for `ssid` null: those are heartbeats, which belong to no visit. "
              "Leave them out before you group.", *with_null_cents(of="true")),
        wrong("A visit without orders has null for `cents`. The sum of nothing is null in SQL; "
              "`F.coalesce` turns it into 0.", totals(cents="sum(cents)")),
        wrong("A visit without pages or orders has null where 0 is asked for: in SQL a sum of "
              "nothing is null. `F.count_if` gives 0.", *with_null_cents(
              pages="sum(CASE WHEN type = 'tracking' THEN 1 END)",
              orders="sum(CASE WHEN type = 'order' THEN 1 END)")),
        wrong("That's a join: each tracking message with each order, so three of the one and two "
              "of the other make six rows. Group instead.", joined("inner"), joined("left")),
        wrong("It counts other messages, too. `F.count` counts each row in which its argument "
              "isn't null, and false isn't null. `F.count_if` counts the rows in which it's true.",
              totals(pages="count(*)"), totals(orders="count(*)"),
              *with_null_cents(pages="count(*)", orders="count(*)")),
        wrong("It counts equal values once. Two looks at a page are two pages, and two orders of "
              "one price are two orders.", totals(pages="count(DISTINCT page)"),
              totals(cents="coalesce(sum(DISTINCT cents), 0)")),
        wrong("A visit has two rows, one for each `type`. Group by `ssid` alone: then the "
              "aggregates see messages of both types.", totals(by=("ssid", "type"))),
    ],
    hints=(
        "No join: both topics are in one DataFrame already. What do the messages of a visit have "
        "in common?",
        "One `groupBy`, three aggregates. Two of them count rows that fulfil a condition; the "
        "third is null where there was nothing to add.",
        '`F.count_if(F.col("type") == "order")` counts the orders.',
    ),
    discussion="No join is needed: a union and a `groupBy` bring together what belongs together, "
    "whichever topic was first. The state is three numbers per visit, whatever its length.\n\n"
    "But numbers forget which messages they're made of. A message that comes twice counts twice, "
    "and nobody can tell afterwards. And no visit ever ends: its row stays in the state for ever.",
)  # fmt: skip

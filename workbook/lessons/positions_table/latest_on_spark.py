"""Chapter 20: The latest row on Spark."""

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.classroom.spark_causes import BY_THE_CLOCK, COLLECTS, RIGHT


def latest(changelog):
    newest = changelog.sparkSession.sql(
        "SELECT max_by(struct(*), offset) AS row FROM {changelog} GROUP BY position",
        changelog=changelog,
    )
    return newest.select("row.*").drop("offset")


FIELDS = ["client", "ticker", "amount", "exchange", "deleted"]


def by_struct(changelog):
    row = F.max(F.struct("offset", "deleted", *FIELDS[:-1])).alias("row")
    return changelog.groupBy("position").agg(row).select("position", "row.*").drop("offset")


def newest(pick="max_by(struct(*), offset)", of="true", only="true", by=("position",)):
    """Build the query with some parts changed, as the wrong answers need it."""

    def answer(changelog):
        groups = changelog.where(of).groupBy(*map(F.expr, by))
        return groups.agg(F.expr(f"{pick} AS row")).where(only).select("row.*").drop("offset")

    return answer


def column_by_column(of="true", **other):
    """Build the query with an aggregate for each column; with the defaults it's right."""

    def answer(changelog):
        picks = {name: other.get(name, f"max_by({name}, offset)") for name in FIELDS}
        columns = [F.expr(f"{pick} AS {name}") for name, pick in picks.items()]
        return changelog.where(of).groupBy("position").agg(*columns)

    return answer


def all_records(of="true"):
    return lambda changelog: changelog.where(of).drop("offset")


SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, "
    "deleted BOOLEAN, offset BIGINT"
)


def held(position, offset, client="Bob", ticker="AAPL", amount=20, exchange="NYSE"):
    return position, client, ticker, amount, exchange, False, offset


def closed(position, offset):
    return position, None, None, None, None, True, offset


def draw(random, size):
    """Draw records of a few positions, not in the order of their offsets, which are far apart."""
    rows = []
    for offset in random.sample(range(50_000_000_000), size):
        values = ("Bob", "Ida"), ("V", "KO"), (0, 5, 20, 50_000), ("NYSE", "LSE")
        position = f"{random.choice('pP')}{random.randrange(size // 6)}"
        row = held(position, offset, *map(random.choice, values))
        rows.append(random.choice((row, row, closed(position, offset))))
    return tuple(rows)


STREAM = "On a stream it emits wrong rows in this micro-batch. Which is each position's newest row?"
latest_on_spark = frame_exercise(
    latest,
    name="The latest row on Spark",
    task="Write a function from a changelog of positions, as a DataFrame, to the newest row of "
    "each position.\n\n"
    "- Input: `position`, `client`, `ticker`, `amount`, `exchange`, `deleted` (true for a "
    "tombstone, whose fields are null) and `offset`.\n"
    "- Output: the same columns without `offset`, and one row per position, also for closed "
    "positions.\n"
    "- The row with the highest offset counts. The same offset may occur in two partitions, but "
    "all rows of one position are in one partition.\n\n"
    "Your function must run on a stream, too, and keep one row per position in the state there. "
    "It can't rely on the order of the rows.\n\n"
    "In the check, a position's name says what happened to it, such as `moved` or `reopened`.",
    schema=SCHEMA,
    cases=[
        case("The record with the higher offset moves the position from Carol to Alice.",
             held("moved", 2, "Carol"), held("moved", 8, "Alice")),
        case("The amount went down to 5. The record with the higher offset counts, wherever it is "
             "among the rows.", held("less", 3_000_000_009, amount=5), held("less", 3_000_000_008)),
        case("The amount went up to 50,000.",
             held("more", 3_000_000_014), held("more", 3_000_000_015, amount=50_000)),
        case("As numbers, 10 is higher than 9, so the ticker is BMW now.",
             held("swapped", 9, ticker="SAP"), held("swapped", 10, ticker="BMW")),
        case("The position was closed, so its newest row is the tombstone. Emit it with "
             "`deleted` true, so that downstream can delete the position.",
             held("closed", 4), closed("closed", 9)),
        case("The position was closed at offset 11 and opened again at offset 12.",
             closed("reopened", 11), held("reopened", 5), held("reopened", 12, amount=6)),
        case("The only record of this position is a tombstone.", closed("never", 6)),
        case("The same record was sent twice. The position has one row.",
             held("twice", 13), held("twice", 14)),
        case("Each of the two positions has a row. Both have a record with offset 0, in two "
             "partitions, but only for `late` is it the newest record.",
             held("early", 0, "Erin"), held("early", 3, "Frank"), held("late", 0)),
    ],
    draw=draw,
    micro_batches=[
        case(STREAM, held("a", 1), held("b", 2)),
        case(STREAM, closed("a", 4), held("a", 3, "Ida")),
        case(STREAM, held("a", 100_000, "Ida"), held("b", 100_001, amount=5), closed("c", 7)),
    ],
    right=[column_by_column(), by_struct],
    wrong=[
        wrong("It drops the tombstones before it looks for the newest row. So a closed position "
              "seems to be open, with the last row that it had.",
              newest(of="NOT deleted"), column_by_column("NOT deleted")),
        wrong("It drops the closed positions. On a stream, downstream would then keep the old row "
              "for ever, because nothing deletes it. Emit the row with `deleted` true.",
              newest(only="NOT row.deleted")),
        wrong("It doesn't choose by the highest offset, but by the lowest, by the amount, or by "
              "the first field of a struct.", newest("min_by(struct(*), offset)"),
              newest("max_by(struct(*), amount)"), newest("max(struct(*))")),
        wrong("Each column has a maximum of its own, so a row is a mixture of several records. "
              "Choose one record as a whole: a `struct` is one value.",
              column_by_column(**{name: f"max({name})" for name in FIELDS})),
        wrong("A position that was closed once stays deleted, though it was opened again. Take "
              "`deleted` from the newest record, like the other columns.",
              column_by_column(deleted="max(deleted)")),
        wrong("It groups by more than the position, so a position that changed has several rows.",
              newest(by=["position", "client"]), newest(by=["position", "deleted"])),
        wrong("It returns all records, the whole history. Return only the newest record of each "
              "position.",
              all_records(), all_records("NOT deleted")),
    ],
    wrong_on_a_stream=[
        wrong(RIGHT + COLLECTS,
              newest("array_max(collect_list(struct(offset, struct(*) AS row))).row")),
        wrong(RIGHT + BY_THE_CLOCK, newest(by=["position", "current_date()"]),
              newest(by=["position", "window(current_timestamp(), '1000 days')"])),
    ],
    hints=(
        "Spark refuses `row_number` over a window on a stream, but it accepts a group with an "
        "aggregate. Which aggregate chooses a value by the size of another one?",
        "Spark's `max_by(what, by)` returns `what` from the row with the largest `by`. A whole row "
        "is one value, too, as a `struct`.",
        "`F.max_by(F.struct('*'), 'offset').alias('row')`, grouped by position, is the newest "
        "record. `select('row.*')` makes columns of it again. Then drop `offset`.",
    ),
    discussion="`max_by` keeps one row per position in the state and compares offsets, so the "
    "records may arrive in any order. The offset gives the order because all records of a key are "
    "in one partition.\n\n"
    "A closed position stays among the rows, with `deleted`. In update mode Spark emits rows that "
    "have changed, and only an emitted row can delete something downstream. That has a price: what "
    "does the state keep of a closed position?",
)  # fmt: skip

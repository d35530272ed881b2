"""Chapter 60: Lateness within a partition."""

from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise


def lateness(records):
    so_far = Window.partitionBy("partition").orderBy("offset")
    newest = F.max("at").over(so_far)
    return records.select("partition", "offset", (newest - F.col("at")).alias("late"))


def in_sql(records):
    return records.sparkSession.sql(
        "SELECT partition, offset, max(at) OVER (PARTITION BY partition ORDER BY offset ROWS "
        "BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) - at AS late FROM {records}",
        records=records,
    )


def never_negative(records):
    before = "PARTITION BY partition ORDER BY offset ROWS BETWEEN UNBOUNDED PRECEDING AND 1"
    behind = f"coalesce(max(at) OVER ({before} PRECEDING) - at, 0)"
    return records.selectExpr("partition", "offset", f"greatest({behind}, 0) AS late")


def measured(over="PARTITION BY partition ORDER BY offset", late="max(at) OVER ({}) - at", keep=""):
    """Measure with some parts changed, as the wrong answers need it."""

    def answer(records):
        found = records.selectExpr("partition", "offset", f"{late.format(over)} AS late")
        return found.where(keep) if keep else found

    return answer


NOON = 1_790_000_040_000
SCHEMA = "partition INT, offset BIGINT, arrival BIGINT, device STRING, reading DOUBLE, at BIGINT"


def reading(partition, offset, at, arrived=None, device="phone-07"):
    """Make a row: event and arrival in ms after NOON."""
    arrival = NOON + (1_000 * offset if arrived is None else arrived)
    return partition, offset, arrival, device, 20.0, NOON + at


def draw(random, size):
    ends = [random.randrange(5_000) for _ in range(3)]
    rows = []
    for _ in range(size):
        partition = random.randrange(3)
        ends[partition] += 1
        at = 700 * ends[partition] - random.choice((0, 0, 0, 900, 40_000))
        device = random.choice(("phone-03", "phone-07", "phone-21"))
        rows.append(reading(100 + partition, ends[partition], at, random.randrange(10**7), device))
    return tuple(rows)


lateness_on_spark = frame_exercise(
    lateness,
    name="Lateness within a partition",
    task="Write a function that gets a DataFrame of readings (`partition`, `offset`, `arrival` in "
    "ms, `device`, `reading`, and `at`, the event time in ms), and returns a row for each of them. "
    "Its columns are `partition`, `offset` and `late`, a whole number of ms: the newest event time "
    "so far in the reading's partition, minus the reading's own. \"So far\" means up to the "
    "reading itself, by offset; so the newest one so far has 0.\n\n"
    "In one partition, event times of 10,000, 40,000 and 15,000 ms give 0, 0 and 25,000.",
    schema=SCHEMA,
    cases=[
        case("The three readings are in order, so none is late.",
             reading(0, 0, 10_000), reading(0, 1, 40_000), reading(0, 2, 65_000)),
        case("The second reading is 15 s behind the first one.",
             reading(1, 0, 65_000), reading(1, 1, 50_000)),
        case("Two readings in a row are late. Both are compared with the newest one so far, and "
             "not with the reading just before.",
             reading(2, 0, 90_000), reading(2, 1, 50_000), reading(2, 2, 60_000)),
        case("The reading of partition 4 is older than that of partition 3, but in its own "
             "partition it's the newest.", reading(3, 0, 95_000), reading(4, 1, 20_000)),
        case("A newer reading arrives later. When the first one arrived, nothing was newer.",
             reading(5, 0, 30_000), reading(5, 1, 99_000)),
        case("The producer has set the records' timestamps, so they needn't be in the order of the "
             "offsets. The offsets count.",
             reading(6, 0, 50_000, arrived=9_000), reading(6, 1, 45_000, arrived=3_000),
             reading(6, 2, 70_000, arrived=6_000)),
        case("Two phones share a partition. The newest event time so far is that of the partition, "
             "whichever phone sent it.",
             reading(7, 0, 80_000), reading(7, 1, 60_000, device="phone-21")),
        case("The offsets 9 and 10: as numbers, 9 is the first one. No offset need be 0.",
             reading(8, 9, 80_000), reading(8, 10, 76_000)),
        case("Two readings have the same event time, so neither is late.",
             reading(9, 0, 33_000), reading(9, 1, 33_000)),
    ],
    draw=draw,
    right=[in_sql, never_negative],
    streams=False,
    wrong=[
        wrong("It compares all partitions with each other. Between partitions there's no order: "
              "give the window a `partitionBy`.", measured("ORDER BY offset"),
              measured("ORDER BY arrival"), measured("ORDER BY partition, offset")),
        wrong("It compares each reading with the one just before. Several late readings may "
              "follow each other: take the maximum of all so far.",
              measured(late="greatest(coalesce(lag(at) OVER ({}) - at, 0), 0)"),
              measured(late="coalesce(lag(at) OVER ({}) - at, 0)"),
              measured(late="lag(at) OVER ({}) - at")),
        wrong("It takes the newest event time of the whole partition, also of readings that "
              "arrive later. Give the window an order.", measured("PARTITION BY partition")),
        wrong("It takes the readings in another order than that of the offsets.",
              measured("PARTITION BY partition ORDER BY arrival"),
              measured("PARTITION BY partition ORDER BY at"),
              measured("PARTITION BY partition ORDER BY string(offset)"),
              measured("PARTITION BY partition ORDER BY offset DESC")),
        wrong("It measures the delay, from the event to its arrival. Lateness compares a reading "
              "with the event times before it.", measured(late="arrival - at"),
              measured(late="max(arrival) OVER ({}) - at")),
        wrong("Its sign is wrong: subtract the reading's own event time from the newest one.",
              measured(late="at - max(at) OVER ({})")),
        wrong("It leaves the reading itself out, so a reading that is the newest has a negative "
              "lateness or none. Include the reading in the maximum.",
              measured(late="max(at) OVER ({} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) "
                            "- at")),
        wrong("It returns only some of the readings. Return a row for each of them, also with 0.",
              measured(keep="late > 0")),
        wrong("It returns seconds. The task asks for milliseconds.",
              measured(late="(max(at) OVER ({}) - at) div 1000"),
              measured(late="round((max(at) OVER ({}) - at) / 1000)")),
        wrong("It compares a reading with those of its own phone. The task asks for the whole "
              "partition.", measured("PARTITION BY partition, device ORDER BY offset"),
              measured("PARTITION BY device ORDER BY offset")),
    ],
    hints=(
        "For each reading you need one number of all readings before it in its partition, and of "
        "itself. A window function gives that, and keeps each row.",
        "A `Window` has two parts here: one says which readings belong together, the other in "
        "which order they were appended. With an order, an aggregate covers the rows up to the "
        "current row.",
        "`F.max('at').over(Window.partitionBy('partition').orderBy('offset'))` is the newest event "
        "time so far.",
    ),
    discussion="A window with an order and without a frame reaches from the first row to the "
    "current row. Spark sorts each partition of the topic for that, and one task does the whole "
    "partition, so it's a query for a sample or for a night. On a stream Spark refuses it, because "
    "the order of the rows never ends there.\n\n"
    "Lateness and delay are different figures. A reading that travels for an hour isn't late if "
    "all others do, too. A watermark only knows lateness.",
)  # fmt: skip

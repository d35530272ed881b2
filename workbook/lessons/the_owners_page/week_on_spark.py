"""Chapter 42: The viewers of a week, on Spark."""

from datetime import date

from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom.exercise import case, wrong
from workbook.classroom.frame_exercise import frame_exercise
from workbook.sinks.viewers import sketch_of


def viewers_of_week(days):
    merged = F.theta_union_agg("sketch")
    return days.groupBy("ad").agg(F.theta_sketch_estimate(merged).alias("viewers"))


def in_sql(days):
    return days.groupBy("ad").agg(
        F.expr("theta_sketch_estimate(theta_union_agg(sketch))").alias("viewers")
    )


def estimated(viewers, by=("ad",)):
    """Group and estimate; wrong answers vary both."""

    def answer(days):
        rows = days.groupBy(*by).agg(F.expr(viewers).alias("viewers"))
        return rows.selectExpr("ad" if "ad" in by else "'bike' AS ad", "viewers")

    return answer


UNION, ESTIMATE = "theta_sketch_estimate(theta_union_agg(sketch))", "theta_sketch_estimate(sketch)"


def summed_with_days(days):
    by_day = estimated(UNION, ("ad", "day"))(days)
    return by_day.groupBy("ad").agg(F.sum("viewers").alias("viewers"))


def row(day, users, ad="bike"):
    return ad, date(2026, 6, day), sketch_of(users)


def draw(random, size):
    return tuple(
        row(random.randrange(1, 8), random.sample(range(20), random.randrange(9)),
            random.choice(("bike", "boat")))
        for _ in range(size)
    )  # fmt: skip


week_on_spark = frame_exercise(
    viewers_of_week,
    name="The viewers of a week on Spark",
    task="The table `viewers` has a row for each ad and day: `ad`, `day` (a date), `sketch` (a "
    "theta sketch of the users who viewed the ad on that day). Write a function that gets the rows "
    "of some days as a DataFrame and returns a DataFrame with a row for each ad: `ad` and "
    "`viewers`, the number of different users on all these days together (a BIGINT).\n\n"
    "`F.theta_union_agg` is an aggregate function that merges sketches; `F.theta_sketch_estimate` "
    "turns a sketch into a number. If 1, 2 and 3 viewed the bike on Monday, and 3 and 4 on "
    "Tuesday, its row is `bike, 4`.",
    schema="ad STRING, day DATE, sketch BINARY",
    cases=[
        case("One day of one ad.", row(1, [1, 2, 3])),
        case("User 3 viewed the bike on both days.", row(1, [1, 2, 3]), row(2, [3, 4])),
        case("The same users came every day.", row(1, [1, 2]), row(2, [1, 2]), row(3, [1, 2])),
        case("Two ads: whoever viewed both counts for both.",
             row(1, [1, 2]), row(1, [2, 3, 4], ad="boat"), row(2, [5], ad="boat")),
        case("On one day nobody viewed it: that sketch is empty.", row(1, []), row(2, [7])),
        case("Two days have the same number of viewers, but different ones.",
             row(1, [1, 2, 3]), row(2, [4, 5, 6])),
        case("Three days, and another user on each of them.",
             row(1, [1, 2]), row(2, [2, 3]), row(3, [3, 4])),
        case("The rows may be of more than a week. All of them count.",
             row(1, [1]), row(9, [2]), row(20, [3])),
        case("With 300 and 300 users, 200 of them on both days, these are 400.",
             row(1, range(300)), row(2, range(100, 400))),
    ],
    streams=False,  # a page asks a table
    draw=draw,
    right=[in_sql],
    wrong=[
        wrong("It adds up the days' estimates. A user who came on two days counts twice: merge the "
              "sketches, and estimate once.", estimated(f"sum({ESTIMATE})"), summed_with_days),
        wrong("It takes the day with the most viewers, or the mean of the days. Neither says how "
              "many different users all days have together: merge the sketches.",
              estimated(f"max({ESTIMATE})"),
              estimated(f"CAST(avg({ESTIMATE}) AS BIGINT)")),
        wrong("It merges the ads, too. Each ad needs a row of its own: group by `ad`.",
              estimated(UNION, ())),
        wrong("It has a row for each ad and day. The days of an ad belong into one row: group by "
              "`ad` alone.", estimated(UNION, ("ad", "day"))),
        wrong("It counts rows or different sketches. The viewers are inside the sketches.",
              estimated("count(DISTINCT sketch)"), estimated("count(*)"),
              estimated("approx_count_distinct(sketch)")),
        wrong("The merged sketch is no number yet: `F.theta_sketch_estimate` makes one of it.",
              estimated("theta_union_agg(sketch)")),
        wrong("It intersects the days: only users who came on every day are left. Unite them.",
              estimated("theta_sketch_estimate(theta_intersection_agg(sketch))")),
    ],
    hints=(
        "What can be merged: numbers, or sketches? So which of the two functions comes first?",
        "Group by the ad, merge the sketches of each group with the aggregate function, and turn "
        "the merged sketch into a number. Name the column `viewers`.",
        "`F.theta_sketch_estimate(F.theta_union_agg('sketch'))` is the number.",
    ),
    discussion="Numbers of viewers can't be merged, but sketches can: by day, by week, over the "
    "ads of an owner, or over the rows of two clusters. The page needs no list of users for "
    "it, and the database no second table for weeks.\n\n"
    "HyperLogLog (`F.hll_sketch_agg`) takes an eighth of the space for popular ads. But most ads "
    "have few viewers, and there a theta sketch is exact.",
)  # fmt: skip

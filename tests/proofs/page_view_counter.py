"""Chapter 01's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

import os
import time
from collections import Counter

from proof import Catalogue
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType

total = 0

# --- one step -----------------------------------------------------------------------------------


def adds_a_truth(count, click):
    return count + (click.click_type == "Page")


def by_match(count, click):
    match click.click_type:
        case ClickType.PAGE:
            count += 1
    return count


def every_click(count, click):
    count += 1
    return count


def turned_round(count, click):
    if click.click_type != ClickType.PAGE:
        return count + 1
    return count


def starts_again(count, click):
    count = 0
    if click.click_type == ClickType.PAGE:
        count += 1
    return count


def action_resets(count, click):
    return count + 1 if click.click_type == ClickType.PAGE else 0


def small_letter(count, click):
    if click.click_type == "page":
        count += 1
    return count


def no_return_for_actions(count, click):  # noqa: RET503  (the mistake)
    if click.click_type == ClickType.PAGE:
        return count + 1


def forgets_to_return(count, click):
    if click.click_type == ClickType.PAGE:
        count += 1


def prints(count, click):
    print(count + (click.click_type == ClickType.PAGE))


def takes_away(count, click):
    return count + 1 if click.click_type == ClickType.PAGE else count - 1


def counts_by_two(count, click):
    return count + 2 if click.click_type == ClickType.PAGE else count


def global_counter(count, click):
    global total
    total = max(total, count)
    if click.click_type == ClickType.PAGE:
        total += 1
    return total


def wrong_field(count, click):
    return count + 1 if click.type == "Page" else count


ONE_STEP = Catalogue(
    right=[adds_a_truth, by_match, lambda n, c: n + 1 if c.click_type is ClickType.PAGE else n],
    wrong=[
        (every_click, "actions too"),
        (turned_round, "turned round"),
        (starts_again, "forgets the count"),
        (action_resets, "back to 0"),
        (small_letter, "never grows"),
        (no_return_for_actions, "one way through it ends"),
        (forgets_to_return, "no `return` that is reached"),
        (prints, "It prints"),
        (takes_away, "takes one away"),
        (counts_by_two, "one larger"),
        (global_counter, "kept from call to call"),
        (wrong_field, "AttributeError"),
        (lambda clicks: len(clicks), "too many positional arguments"),
        (8, "without parentheses"),
        (lambda count, click: count + click.name.startswith("/"), "name, its id"),
        (lambda count, click: adds_a_truth(float(count), click), "of type float"),
    ],
    shortcuts=[
        (lambda n, c: min(n + 1, 8) if c.click_type == "Page" else n, "may be any number"),
        (lambda n, c: n + 1 if c.click_type == "Page" and c.tab_id else n, "condition ever true"),
        (lambda count, click: count + (click.name in ("/home", "/shoes", "/basket")), "its name"),
        (lambda count, click: count + (click.name != "add-to-basket"), "its name"),
        (lambda count, click: count + click.event_id % 2, "its id"),
        (lambda count, click: adds_a_truth(min(count, 7), click), "any number"),
        (lambda count, click: {7: 8, 0: 1}[count] if click.click_type == "Page" else count, "Key"),
    ],
)

# --- bad records --------------------------------------------------------------------------------


def read(record):
    return Click.from_json(record.value, record.arrival)


def fold(records, letter=lambda e, r: (e.reason, r.partition, r.offset), bad=0, counts=None):
    """The loop that the answers below share; what each does differently is handed in."""
    count, letters = 0, []
    for record in records:
        try:
            click = read(record)
        except Rejected as e:
            letters.append(letter(e, record))
            count += bad
        else:
            count += click.click_type == ClickType.PAGE if counts is None else counts(click)
    return count, letters


def in_two_passes(records):
    def rejected(record):
        try:
            read(record)
        except Rejected as e:
            return str(e)

    bad = [(rejected(r), r.partition, r.offset) for r in records if rejected(r)]
    return sum(read(r).click_type == "Page" for r in records if not rejected(r)), bad


def catches_nothing(records):
    count = 0
    for record in records:
        if read(record).click_type == ClickType.PAGE:
            count += 1
    return count, []


def try_around_the_loop(records):
    count, letters = 0, []
    try:
        for record in records:
            count += read(record).click_type == ClickType.PAGE
    except Rejected as e:
        letters.append((e.reason, record.partition, record.offset))
    return count, letters


def drops_silently(records):
    return fold(records)[0], []


def resets(records):
    count, letters = 0, []
    for record in records:
        try:
            count += read(record).click_type == ClickType.PAGE
        except Rejected as e:
            count = 0
            letters.append((e.reason, record.partition, record.offset))
    return count, letters


def index_for_offset(records):
    at = {id(r): i for i, r in enumerate(records)}
    return fold(records, lambda e, r: (e.reason, r.partition, at[id(r)]))


def empties_the_input(records):
    taken = []
    while records:
        taken.append(records.pop(0))
    return fold(taken)


def keeps_letters(records, letters=[]):  # noqa: B006  (the mistake)
    count, new = fold(records)
    letters.extend(new)
    return count, letters


def never_ends(records):
    at, count = 0, 0
    while at < len(records):
        try:
            count += read(records[at]).click_type == ClickType.PAGE
            at += 1
        except Rejected:
            continue
    return count, []


def wall_clock(records):
    now = time.time() * 1000
    return fold([r._replace(arrival=now) for r in records])


def yields(records):
    yield from fold(records)


def by_reason(records):
    count, letters = fold(records)
    return count, list({letter[0]: letter for letter in letters}.values())


def by_partition(records):
    count, letters = fold(records)
    return count, list({letter[1]: letter for letter in letters}.values())


def last_arrival(records):
    newest = max((r.arrival for r in records), default=0)
    return fold([r._replace(arrival=newest) for r in records])


def first_arrival(records):
    return fold([r._replace(arrival=records[0].arrival) for r in records])


def letters_by_offset(records):
    count, letters = in_two_passes(records)
    return count, list({letter[2]: letter for letter in letters}.values())


BAD_RECORDS = Catalogue(
    right=[in_two_passes, fold, lambda records: fold(iter(records))],
    wrong=[
        (catches_nothing, "Nothing catches"),
        (try_around_the_loop, "stops at the first"),
        (lambda records: fold(records, bad=1), "counts the rejected"),
        (resets, "back to 0"),
        (lambda records: fold(records, counts=lambda c: 1), "actions are no page views"),
        (drops_silently, "disappear"),
        (lambda rs: fold(rs, lambda e, r: (e.reason, r.offset, r.partition)), "swapped"),
        (index_for_offset, "place in the list"),
        (lambda rs: fold(rs, lambda e, r: (e, r.partition, r.offset)), "exception itself"),
        (lambda rs: fold(rs, lambda e, r: ("Rejected", r.partition, r.offset)), "the same for all"),
        (lambda rs: fold(rs, lambda e, r: e.reason), "reason alone"),
        (lambda rs: fold(rs, lambda e, r: [e.reason, r.partition, r.offset]), "each is a list"),
        (wall_clock, "own `arrival`"),
        (lambda rs: fold([r._replace(arrival=0) for r in rs]), "seems to come from the future"),
        (empties_the_input, "changes the input"),
        (keeps_letters, "default argument"),
        (never_ends, "does not come to an end"),
        (yields, "generator"),
        (lambda records: list(fold(records)), "Right contents in a list"),
        (lambda records: fold(records)[0], "around it count"),
        (by_reason, "one dead letter for each reason"),
        (lambda records: (fold(records)[0], sorted(fold(records)[1])), "are sorted"),
        (first_arrival, "by the arrival of one"),
    ],
    shortcuts=[
        (letters_by_offset, "an offset 0 of its own"),
        (last_arrival, "by the arrival of one"),
        (by_partition, "a dead letter of its own"),
    ],
)

# --- on Spark -----------------------------------------------------------------------------------


def accepted_pages(clicks: DataFrame) -> DataFrame:
    return clicks.filter((F.col("click_type") == "Page") & F.col("reason").isNull())


def count_by(clicks: DataFrame, *names: str) -> DataFrame:
    return clicks.groupBy(*names).agg(F.count("*").alias("views"))


def in_sql(clicks):
    clicks.createOrReplaceTempView("clicks_of_an_exercise")
    return clicks.sparkSession.sql(
        "SELECT count(1) AS views, name FROM clicks_of_an_exercise "
        "WHERE click_type = 'Page' AND reason IS NULL GROUP BY name"
    )


def with_zeros(clicks):
    is_page = F.when(F.col("click_type") == "Page", 1).otherwise(0)
    return clicks.where("reason IS NULL").groupBy("name").agg(F.sum(is_page).alias("views"))


def shows(clicks):
    count_by(accepted_pages(clicks), "name").show()


def right(clicks):
    return count_by(accepted_pages(clicks), "name")


def collected(clicks):
    rows = Counter(row.name for row in accepted_pages(clicks).collect())
    return clicks.sparkSession.createDataFrame(list(rows.items()), ["name", "views"])


def over_a_window(clicks):
    views = F.count("*").over(Window.partitionBy("name"))
    return accepted_pages(clicks).select("name", views.alias("views")).distinct()


def distinct_ids(clicks):
    return accepted_pages(clicks).groupBy("name").agg(F.countDistinct("event_id").alias("views"))


def each_group_in_pandas(clicks):
    def count(group):
        return group.head(1).assign(views=len(group))[["name", "views"]]

    return accepted_pages(clicks).groupBy("name").applyInPandas(count, "name string, views long")


def in_two_steps(clicks):
    by_browser = count_by(accepted_pages(clicks), "name", "browser")
    return by_browser.groupBy("name").agg(F.sum("views").alias("views"))


def raises_on_a_worker(clicks):
    @F.udf("string")
    def upper(name):
        return name.uper()

    return count_by(accepted_pages(clicks).withColumn("name", upper("name")), "name")


def without_brackets(clicks):
    return count_by(clicks.where(clicks.click_type == "Page" & clicks.reason.isNull()), "name")


def with_and(clicks):
    return count_by(clicks.where(clicks.click_type == "Page" and clicks.reason.isNull()), "name")


def named_as_page(clicks):
    return count_by(clicks.where("name LIKE '/%' AND reason IS NULL"), "name")


def two_by_hand(spark):
    """A copy of what the difference shows."""
    rows = [("/home", 3), ("/shoes", 1), ("Start", 1)]
    return spark.createDataFrame(rows, "name string, views long")


def by_browser_too(clicks):
    return count_by(accepted_pages(clicks), "name", "browser").drop("browser")


def made_of_nothing(clicks):
    return clicks.sparkSession.createDataFrame([], "name string, views long")


def lists(clicks):
    ids = F.collect_list("event_id").alias("views")
    return accepted_pages(clicks).groupBy("name").agg(ids)


def ends_its_worker(clicks):
    return right(clicks.where(F.udf(lambda name: os._exit(1), "boolean")("name")))


ON_SPARK = Catalogue(
    right=[in_sql, lambda clicks: count_by(accepted_pages(clicks), "name")],
    wrong=[
        (lambda c: count_by(c.where("reason IS NULL"), "name"), "actions as well"),
        (lambda c: count_by(c.where("click_type = 'Page'"), "name"), "counts rejected"),
        (lambda c: count_by(c, "name"), "all rows"),
        (
            lambda c: count_by(c.where("click_type = 'Page' AND reason IS NOT NULL"), "name"),
            "drops the accepted",
        ),
        (
            lambda c: count_by(c.where("click_type = 'Action' AND reason IS NULL"), "name"),
            "actions instead of pages",
        ),
        (with_zeros, "appear with 0"),
        (lambda c: count_by(accepted_pages(c).dropDuplicates(["name"]), "name"), "Each name has"),
        (lambda c: count_by(c.where("click_type = 'page'"), "name"), "Nothing is left"),
        (lambda c: accepted_pages(c).groupBy("name").count(), "missing views; not asked for count"),
        (lambda c: count_by(accepted_pages(c)), "missing name. Check"),
        (lambda c: count_by(accepted_pages(c), "name", "browser"), "not asked for browser"),
        (lambda c: accepted_pages(c).count(), "of type int"),
        (lambda c: count_by(c.where("type = 'Page'"), "name"), "no column `type`"),
        (shows, "It prints"),
        (named_as_page, "It judges by the name"),
        (lambda c: right(c).orderBy("views"), "a stream can't be sorted"),
        (lambda c: right(c).limit(10), "`limit` has no meaning"),
        (collected, "runs the query itself"),
        (over_a_window, "no functions `over`"),
        (distinct_ids, "It counts distinct values"),
        (by_browser_too, "several rows"),
        (lambda c: right(c.withColumn("name", F.lower("name"))), "small letters"),
        (made_of_nothing, "nothing filters"),
        (lambda c: c.writeStream.start(), "the notebook starts the query"),
        (lists, "is ARRAY<BIGINT>"),
        (lambda c: c.where("click_type = Page"), "put it in quotes in SQL: `'Page'`"),
        (ends_its_worker, "ended the worker"),
        (in_two_steps, "aggregates twice"),
        (each_group_in_pandas, "one micro-batch alone"),
        (lambda c: right(c).withColumn("views", F.expr("double(views)")), "`views` is DOUBLE"),
        (lambda c: right(c).toPandas(), "DataFrame of pandas"),
        (raises_on_a_worker, "raised AttributeError: 'str' object has no attribute 'uper'"),
        (without_brackets, "put each condition in brackets"),
        (with_and, "not by `and`"),
        (lambda c: c.where(c.nmae == "/home"), "no column or method `nmae`"),
        (lambda c: right(c).select("name", "name", "views"), "more than one column: `name`"),
        (lambda c: c.groupBy("name"), "ends with `groupBy`"),
        (lambda c: c.selectExpr("lenth(name) AS name", "1 AS views"), "no function `lenth`"),
        (lambda c: c.groupBy("name").agg(F.col("timestamp")), "nor in an aggregate"),
        (lambda c: c.where("name = = 'x'"), "can't read this SQL"),
    ],
    shortcuts=[
        (lambda c: c.sparkSession.createDataFrame(right(c).toPandas()), "runs the query itself"),
        (lambda c: right(c).cache(), "runs the query itself"),
        (lambda c: right(c.dropDuplicates(["event_id"])), "distinct values or drops"),
        (lambda c: right(c.distinct()), "distinct values or drops"),
        (
            lambda c: (
                accepted_pages(c)
                .groupBy("name")
                .agg(F.approx_count_distinct("event_id").alias("views"))
            ),
            "distinct values or drops",
        ),
        (
            lambda c: c.sparkSession.createDataFrame([("a", 1)], "name string, views long"),
            "Compare",
        ),
        (lambda c: two_by_hand(c.sparkSession), "of another table"),
    ],
    spark=True,
)

catalogues = (
    ONE_STEP,
    BAD_RECORDS,
    ON_SPARK,
)

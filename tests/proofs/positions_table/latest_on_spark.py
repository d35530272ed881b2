"""Answers to "The latest row on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import Row, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.streaming import StatefulProcessor

COLUMNS = ["position", "client", "ticker", "amount", "exchange", "deleted"]
FIELDS = COLUMNS[1:]


def newest(changelog, row="max_by(struct(*), offset)", where="true"):
    """The newest rows by this aggregate, and of these rows."""
    rows = changelog.groupBy("position").agg(F.expr(f"{row} AS row"))
    return rows.where(where).select("row.*").drop("offset")


def live(changelog):
    return changelog.where("NOT deleted")


def by_functions(changelog):
    row = F.max_by(F.struct("*"), "offset").alias("row")
    return changelog.groupBy("position").agg(row).select("row.*").drop("offset")


def by_columns(changelog):
    aggregates = [F.max_by(column, "offset").alias(column) for column in FIELDS]
    return changelog.groupBy("position").agg(*aggregates)


def by_struct(changelog):
    row = F.max(F.struct("offset", "deleted", *FIELDS[:-1])).alias("row")
    return changelog.groupBy("position").agg(row).select("position", "row.*").select(*COLUMNS)


SCHEMA = (
    "position STRING, client STRING, ticker STRING, amount BIGINT, exchange STRING, deleted BOOLEAN"
)


def by_processor(changelog):
    class Latest(StatefulProcessor):
        """Keeps the offset with the row, so that it may be called in any order."""

        def init(self, handle):
            self.row = handle.getValueState("row", f"{SCHEMA}, offset BIGINT")

        def handleInputRows(self, key, rows, timerValues):  # noqa: N802, N803
            found = [tuple(row) for row in rows]
            kept = self.row.get()
            last = max([*found, *([tuple(kept)] if kept else [])], key=lambda row: row[-1])
            self.row.update(last)
            yield Row(**dict(zip(COLUMNS, last[:-1], strict=True)))

        def close(self):
            pass

    of_each = changelog.groupBy("position")
    return of_each.transformWithState(Latest(), SCHEMA, "Update", "None")


def by_window(changelog):
    newest_first = Window.partitionBy("position").orderBy(F.desc("offset"))
    numbered = changelog.withColumn("number", F.row_number().over(newest_first))
    return numbered.where("number = 1").select(*COLUMNS)


def by_join(changelog):
    last = changelog.groupBy("position").agg(F.max("offset").alias("offset"))
    return changelog.join(last, ["position", "offset"]).select(*COLUMNS)


def of_each_client(changelog):
    rows = changelog.groupBy("client").agg(F.expr("max_by(struct(*), offset) AS row"))
    return rows.select("row.*").drop("offset")


def of_each_holder(changelog):
    rows = changelog.groupBy("position", "client").agg(F.expr("max_by(struct(*), offset) AS r"))
    return rows.select("r.*").drop("offset")


def with_deleted_as_a_key(changelog):
    columns = [F.max_by(column, "offset").alias(column) for column in FIELDS[:-1]]
    return changelog.groupBy("position", "deleted").agg(*columns)


def largest_struct(changelog):
    rows = changelog.groupBy("position").agg(F.max(F.struct(*FIELDS)).alias("row"))
    return rows.select("position", "row.*")


def largest_columns(changelog):
    return changelog.groupBy("position").agg(*(F.max(c).alias(c) for c in FIELDS))


def closed_for_ever(changelog):
    columns = [F.max_by(column, "offset").alias(column) for column in FIELDS[:-1]]
    return changelog.groupBy("position").agg(*columns, F.max("deleted").alias("deleted"))


def never_reopened(changelog):
    closed = changelog.where("deleted").select("position")
    return newest(changelog.join(closed, "position", "left_anti").select(changelog["*"]))


def first_seen(changelog):
    return changelog.coalesce(1).dropDuplicates(["position"]).select(*COLUMNS)


def summed(changelog):
    columns = [F.max_by(c, "offset").alias(c) for c in FIELDS if c != "amount"]
    return changelog.groupBy("position").agg(*columns, F.sum("amount").alias("amount"))


def newest_of_all(changelog):
    return changelog.orderBy(F.desc("offset")).limit(1).select(*COLUMNS)


def sorted_first(changelog):
    return changelog.orderBy(F.desc("offset")).dropDuplicates(["position"]).select(*COLUMNS)


def collected(changelog):
    table = {row.position: row for row in changelog.orderBy("offset").collect()}
    rows = [row[:6] for row in table.values()]
    return changelog.sparkSession.createDataFrame(rows, changelog.select(*COLUMNS).schema)


def started(changelog):
    query = newest(changelog).writeStream.format("noop").outputMode("update").start()
    query.stop()
    return newest(changelog)


def per_group_in_pandas(changelog):
    def last(rows):
        return rows.sort_values("offset").tail(1)[COLUMNS]

    return changelog.groupBy("position").applyInPandas(last, SCHEMA)


def in_a_subquery(changelog):
    return changelog.sparkSession.sql(
        "SELECT * EXCEPT (offset) FROM {c} WHERE (position, offset) IN "
        "(SELECT position, max(offset) FROM {c} GROUP BY position)",
        c=changelog,
    )


def by_not_exists(changelog):
    changelog.createOrReplaceTempView("changelog_of_an_exercise")
    return changelog.sparkSession.sql(
        "SELECT * EXCEPT (offset) FROM changelog_of_an_exercise a "
        "WHERE NOT EXISTS (SELECT 1 FROM changelog_of_an_exercise b "
        "WHERE b.position = a.position AND b.offset > a.offset)"
    ).distinct()


def by_offset_alone(changelog):
    last = changelog.groupBy("position").agg(F.max("offset").alias("offset")).drop("position")
    return changelog.join(last, "offset").select(*COLUMNS).distinct()


def keeps_every_record(changelog):
    records = F.collect_list(F.struct("offset", *FIELDS))
    rows = changelog.groupBy("position").agg(F.array_max(records).alias("row"))
    return rows.select("position", "row.*").drop("offset")


def keeps_a_set(changelog):
    records = F.collect_set(F.struct("offset", *FIELDS))
    rows = changelog.groupBy("position").agg(F.array_max(records).alias("row"))
    return rows.select("position", "row.*").drop("offset")


def by_a_time(time):
    """Rows in groups of a position and a time: while a check lasts, that's the same group."""

    def answer(changelog):
        row = F.max_by(F.struct("*"), "offset").alias("row")
        return changelog.groupBy("position", time()).agg(row).select("row.*").drop("offset")

    return answer


in_a_window = by_a_time(lambda: F.window(F.current_timestamp(), "1000 days"))
in_a_window_of_offsets = by_a_time(lambda: F.window(F.timestamp_seconds("offset"), "1 day"))


def by_its_names(changelog):
    rows = newest(changelog).drop("deleted")
    return rows.withColumn("deleted", F.expr("position IN ('closed', 'never')"))


catalogue = Catalogue(
    right=[by_functions, by_columns, by_struct, by_processor],
    wrong=[
        (by_window, "knows no functions `over` a window"),
        (by_join, "aggregates twice"),
        (in_a_subquery, "not on a stream"),
        (lambda c: newest(c).orderBy("position"), "can't be sorted"),
        (per_group_in_pandas, "one micro-batch alone"),
        (lambda c: newest(live(c)), "comes back to life"),
        (lambda c: newest(c, where="NOT row.deleted"), "takes nothing back"),
        (lambda c: newest(c, where="row.deleted"), "Only closed positions"),
        (lambda c: newest(c, "min_by(struct(*), offset)"), "the oldest record"),
        (lambda c: newest(live(c), "max_by(struct(*), amount)"), "The largest amount wins"),
        (largest_struct, "maximum of a struct"),
        (largest_columns, "Each column has a maximum"),
        (closed_for_ever, "stays deleted"),
        (never_reopened, "never comes back"),
        (of_each_client, "newest row of each client"),
        (of_each_holder, "groups by more than the position"),
        (first_seen, "happens to stand first or last"),
        (summed, "The amounts are added up"),
        (lambda c: c.select(*COLUMNS), "a history"),
        (lambda c: live(c).select(*COLUMNS).distinct(), "drops rows that are equal"),
        (newest_of_all, "newest record of all"),
        (keeps_every_record, "keeps them all for ever"),
        (in_a_window, "groups by a window"),
        (lambda c: newest(c, where="row.deleted = NULL"), "Nothing is left"),
        (lambda c: newest(c).where("position <> 'twice'"), "Look at the name"),
        (lambda changelog: newest(changelog).drop("amount"), "missing amount"),
        (lambda changelog: newest(changelog).withColumn("offset", F.lit(1)), "for offset"),
        (lambda changelog: newest(changelog).collect(), "of type list"),
        (lambda c: newest(c, "max_by(struct(*), number)"), "no column `number`"),
        (collected, "runs the query itself"),
        (started, "starts a query"),
        (lambda c: newest(c).withColumn("amount", F.expr("double(amount)")), "is DOUBLE"),
        (lambda changelog: newest(changelog).show(), "It prints"),
        (by_its_names, "under other names"),
        (lambda c: newest(c).withColumn("amount", F.expr("tinyint(amount)")), "overflow"),
    ],
    shortcuts=[
        (by_offset_alone, "Look at the name"),
        (with_deleted_as_a_key, "groups by more than the position"),
        (by_not_exists, "not on a stream"),
        (sorted_first, "can't be sorted"),
        (keeps_a_set, "keeps them all for ever"),
        (in_a_window_of_offsets, "groups by a window"),
        (by_a_time(F.current_date), "hangs on the time"),
        (by_a_time(F.now), "hangs on the time"),
        (lambda c: newest(c.where("deleted OR amount < 45000")), "Look at the name"),
    ],
    spark=True,
)

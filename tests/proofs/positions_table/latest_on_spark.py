"""Answers to "The latest row on Spark", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

COLUMNS = ["position", "client", "ticker", "amount"]


def by_window(changelog):
    newest_first = Window.partitionBy("position").orderBy(F.desc("offset"))
    numbered = changelog.withColumn("number", F.row_number().over(newest_first))
    return numbered.where("number = 1 AND NOT deleted").select(*COLUMNS)


def by_columns(changelog):
    newest = [F.max_by(c, "offset").alias(c) for c in ("client", "ticker", "amount", "deleted")]
    return changelog.groupBy("position").agg(*newest).where("client IS NOT NULL").drop("deleted")


def by_struct(changelog):
    row = F.max(F.struct("offset", "deleted", "client", "ticker", "amount")).alias("row")
    return changelog.groupBy("position").agg(row).select("position", "row.*").where(
        "NOT deleted"
    ).select(*COLUMNS)  # fmt: skip


def by_join(changelog):
    last = changelog.groupBy("position").agg(F.max("offset").alias("offset"))
    return changelog.join(last, ["position", "offset"]).where("NOT deleted").select(*COLUMNS)


def newest(changelog, row="max_by(struct(*), offset)", where="NOT row.deleted"):
    """The table by these aggregates, and of these rows."""
    rows = changelog.groupBy("position").agg(F.expr(f"{row} AS row"))
    return rows.where(where).select("position", "row.client", "row.ticker", "row.amount")


def live(changelog):
    return changelog.where("NOT deleted")


def of_each_client(changelog):
    rows = changelog.groupBy("client").agg(F.expr("max_by(struct(*), offset) AS row"))
    return rows.where("NOT row.deleted").select(*(f"row.{column}" for column in COLUMNS))


def of_each_holder(changelog):
    rows = changelog.groupBy("position", "client").agg(F.expr("max_by(struct(*), offset) AS r"))
    return rows.where("NOT r.deleted").select("position", "client", "r.ticker", "r.amount")


def largest_struct(changelog):
    fields = F.struct("client", "ticker", "amount", "deleted")
    rows = changelog.groupBy("position").agg(F.max(fields).alias("row"))
    return rows.where("NOT row.deleted").select("position", "row.*").drop("deleted")


def largest_columns(changelog):
    live = changelog.where("NOT deleted").groupBy("position")
    return live.agg(*(F.max(c).alias(c) for c in ("client", "ticker", "amount")))


def never_reopened(changelog):
    closed = changelog.where("deleted").select("position")
    return newest(changelog.join(closed, "position", "left_anti").select(changelog["*"]))


def first_seen(changelog):
    return changelog.where("NOT deleted").coalesce(1).dropDuplicates(["position"]).select(*COLUMNS)


def summed(changelog):
    amounts = changelog.groupBy("position").agg(F.sum("amount").alias("amount"))
    return newest(changelog).drop("amount").join(amounts, "position")


def history_of_all(changelog):
    return changelog.where("NOT deleted").select(*COLUMNS)


def newest_of_all(changelog):
    return changelog.orderBy(F.desc("offset")).limit(1).select(*COLUMNS)


def sorted_first(changelog):
    newest_first = changelog.orderBy(F.desc("offset")).dropDuplicates(["position"])
    return newest_first.where("NOT deleted").select(*COLUMNS)


def collected(changelog):
    table = {row.position: row for row in changelog.orderBy("offset").collect()}
    rows = [row[:4] for row in table.values() if not row.deleted]
    return changelog.sparkSession.createDataFrame(rows, changelog.select(*COLUMNS).schema)


def without_twice(changelog):
    return newest(changelog).where("position <> 'twice'")


def in_a_subquery(changelog):
    return changelog.sparkSession.sql(
        "SELECT position, client, ticker, amount FROM {c} WHERE (position, offset) IN "
        "(SELECT position, max(offset) FROM {c} GROUP BY position) AND NOT deleted",
        c=changelog,
    )


def by_not_exists(changelog):
    changelog.createOrReplaceTempView("changelog_of_an_exercise")
    return changelog.sparkSession.sql(
        "SELECT position, client, ticker, amount FROM changelog_of_an_exercise a "
        "WHERE NOT deleted AND NOT EXISTS (SELECT 1 FROM changelog_of_an_exercise b "
        "WHERE b.position = a.position AND b.offset > a.offset)"
    )


def by_offset_alone(changelog):
    last = changelog.groupBy("position").agg(F.max("offset").alias("offset")).drop("position")
    return changelog.join(last, "offset").where("NOT deleted").select(*COLUMNS).distinct()


def by_its_names(changelog):
    return newest(changelog, where="position NOT IN ('closed', 'never')")


catalogue = Catalogue(
    right=[
        in_a_subquery,
        by_not_exists,
        by_window,
        by_columns,
        by_struct,
        by_join,
        lambda c: newest(c).orderBy("position"),
    ],
    wrong=[
        (lambda c: newest(live(c)), "leaves out the tombstones first"),
        (lambda c: newest(c, where="true"), "The tombstones stay"),
        (lambda c: newest(c, where="row.deleted"), "only closed positions"),
        (lambda c: newest(c, "min_by(struct(*), offset)"), "the oldest record"),
        (lambda c: newest(live(c), "max_by(struct(*), amount)"), "The largest amount wins"),
        (largest_struct, "maximum of a struct"),
        (largest_columns, "Each column has a maximum"),
        (never_reopened, "never comes back"),
        (of_each_client, "newest row of each client"),
        (of_each_holder, "groups by more than the position"),
        (first_seen, "happens to stand first"),
        (summed, "The amounts are added up"),
        (history_of_all, "a history"),
        (lambda changelog: history_of_all(changelog).distinct(), "drops rows that are equal"),
        (newest_of_all, "newest record of all"),
        (lambda c: newest(c, where="row.deleted = NULL"), "Nothing is left"),
        (without_twice, "Look at the name"),
        (lambda changelog: newest(changelog).drop("amount"), "missing amount"),
        (lambda changelog: newest(changelog).withColumn("offset", F.lit(1)), "for offset"),
        (lambda changelog: newest(changelog).collect(), "of type list"),
        (lambda c: newest(c, "max_by(struct(*), number)"), "no column `number`"),
        (sorted_first, "right by luck"),
        (collected, "runs the query itself"),
        (lambda c: newest(c).withColumn("amount", F.expr("double(amount)")), "is DOUBLE"),
        (lambda changelog: newest(changelog).show(), "It prints"),
        (by_its_names, "under other names"),
        (lambda c: newest(c).withColumn("amount", F.expr("tinyint(amount)")), "overflow"),
    ],
    shortcuts=[(by_offset_alone, "Look at the name")],
    spark=True,
)

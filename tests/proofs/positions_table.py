"""Chapter 10's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

from proof import Catalogue
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from workbook.exercises.chapters.positions_table.wrong_models import ONE_RECORD as ONE_RECORD_MODELS
from workbook.exercises.chapters.positions_table.wrong_models import TOLD as TOLD_MODELS

# --- one record ---------------------------------------------------------------------------------


def by_comprehension(table, key, value):
    others = {k: row for k, row in table.items() if k != key}
    return others if value is None else {**others, key: value}


def merged(table, key, value):
    return {k: row for k, row in (table | {key: value}).items() if row is not None}


def guarded(table, key, value):
    after = table.copy()
    if value is not None:
        after[key] = value
    elif key in after:
        del after[key]
    return after


def adds(table, key, value):
    if value is None:
        return guarded(table, key, value)
    amount = value["amount"] + table.get(key, {"amount": 0})["amount"]
    return table | {key: value | {"amount": amount}}


def first_wins(table, key, value):
    if value is None:
        return guarded(table, key, value)
    after = dict(table)
    after.setdefault(key, value)
    return after


def merges_fields(table, key, value):
    if value is None:
        return guarded(table, key, value)
    return table | {key: table.get(key, {}) | value}


def history(table, key, value):
    if value is None:
        return guarded(table, key, value)
    return table | {key: [table[key], value] if key in table else [value]}


def stores_none(table, key, value):
    return table | {key: value}


def empties_the_row(table, key, value):
    return table | {key: value or {}}


def must_be_there(table, key, value):
    after = dict(table)
    if value is None:
        del after[key]
    else:
        after[key] = value
    return after


def no_tombstones(table, key, value):
    return table | {key: value} if value else table


def clears(table, key, value):
    return table | {key: value} if value else {}


def drops_the_last(table, key, value):
    after = dict(table)
    if value is not None:
        after[key] = value
    elif after:
        after.popitem()
    return after


def toggles(table, key, value):
    return guarded(table, key, None if table.get(key) == value else value)


def one_per_client(table, key, value):
    if value is None:
        return guarded(table, key, value)
    kept = {k: row for k, row in table.items() if row["client"] != value["client"]}
    return {**kept, key: value}


def under_the_client(table, key, value):
    return guarded(table, value["client"] if value else key, value)


def alone(table, key, value):
    return {key: value} if value else {}


def exchanged(table, key, value):
    return table if value is None else guarded(table, key, None)


def in_place(table, key, value):
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
    return table


def half(table, key, value):
    if value is not None:
        return {**table, key: value}
    return None


def no_return(table, key, value):
    guarded(table, key, value)


def prints(table, key, value):
    print(guarded(table, key, value))


def no_small_amounts(table, key, value):
    """Takes a position of which nothing is held for a closed one."""
    return by_comprehension(table, key, value if value and value["amount"] else None)


def drops_equal_rows(table, key, value):
    if value is None:
        return {k: v for k, v in table.items() if v != table.get(key)}
    return {**table, key: value}


def drops_the_client(table, key, value):
    if value is None and key in table:
        client = table[key]["client"]
        return {k: v for k, v in table.items() if v["client"] != client}
    return by_comprehension(table, key, value)


def drops_by_prefix(table, key, value):
    if value is None and key:
        return {k: v for k, v in table.items() if not k.startswith(key)}
    return by_comprehension(table, key, value)


def same_table_if_unknown(table, key, value):
    return table if value is None and key not in table else by_comprehension(table, key, value)


def same_table_if_equal(table, key, value):
    return table if value and table.get(key) == value else by_comprehension(table, key, value)


def only_growth(table, key, value):
    if value and key in table and table[key]["amount"] >= value["amount"]:
        return dict(table)
    return by_comprehension(table, key, value)


ONE_RECORD = Catalogue(
    right=[by_comprehension, merged, guarded],
    wrong=[
        (adds, "adds the new amount"),
        (first_wins, "The first row of a position stays"),
        (merges_fields, "merges the new row"),
        (history, "every row of a position in a list"),
        (stores_none, "tombstone itself is put into the table"),
        (empties_the_row, "The row is emptied"),
        (must_be_there, "fails on a tombstone"),
        (no_tombstones, "a closed position stays"),
        (clears, "empties the whole table"),
        (drops_the_last, "last row of the table"),
        (toggles, "a second time takes the row out"),
        (one_per_client, "Each client keeps one row"),
        (under_the_client, "under the client's name"),
        (alone, "the new row alone"),
        (lambda table, key, value: value, "It returns the value"),
        (lambda table, key, value: [*guarded(table, key, value).values()], "without their keys"),
        (exchanged, "exchanged"),
        (lambda table, key, value: table, "Nothing ever changes"),
        (in_place, "changes the input"),
        (half, "returns None for this input"),
        (no_return, "no `return`"),
        (prints, "prints the value"),
        (lambda table, key, value: table | {key: rows}, "raised NameError"),  # noqa: F821
        (lambda record: {}, "Keep the parameters"),
        ({}, "without parentheses"),
    ],
    shortcuts=[
        (drops_equal_rows, "two of their rows are equal"),
        (drops_the_client, "two of their rows are equal"),
        (drops_by_prefix, "`p1` is a part of their names"),
        (same_table_if_unknown, "it's the one that was given"),
        (same_table_if_equal, "it's the one that was given"),
        (only_growth, "has 15 now"),
        (lambda table, key, value: by_comprehension(table, key.lower(), value), "drawn by chance"),
        (no_small_amounts, "drawn by chance"),
    ],
    models=ONE_RECORD_MODELS,
)

# --- a filter -----------------------------------------------------------------------------------


def by_tables(old, new, keeps):
    """The filter as the difference of two tables of one row."""
    before, after = ([row for row in (r,) if row and keeps(row)] for r in (old, new))
    if before == after or not (before or after):
        return None
    return after[0] if after else "delete"


def by_match(old, new, keeps):
    match bool(old and keeps(old)), bool(new and keeps(new)):
        case (_, True) if new != old:
            return new
        case (True, False):
            return "delete"
    return None


def same_first(old, new, keeps):
    if old == new:
        return None
    if new is not None and keeps(new):
        return new
    if old is None:
        return None
    return "delete" if keeps(old) else None


def square(old, new, keeps, had=None, deletes=lambda new: True, passes=lambda had: True):
    """The four corners with their usual slips."""
    had = bool(old) and keeps(old) if had is None else had
    if new and keeps(new):
        return new if passes(had) and new != old else None
    return "delete" if had and deletes(new) else None


def stream_filter(old, new, keeps):
    return new if new and keeps(new) else None


def deletes_for_all(old, new, keeps):
    return new if new and keeps(new) else "delete"


def hands_on_tombstones(old, new, keeps):
    return "delete" if new is None else square(old, new, keeps)


def tells_again(old, new, keeps):
    if new and keeps(new):
        return new
    return "delete" if old and keeps(old) else None


def never_begins_later(old, new, keeps):
    return square(old, new, keeps, passes=lambda had: had or not old)


def tells_the_old(old, new, keeps):
    return old if square(old, new, keeps) == "delete" else square(old, new, keeps)


def other_word(old, new, keeps):
    found = square(old, new, keeps)
    return "DELETE" if found == "delete" else found


def asks_none(old, new, keeps):
    if keeps(new):
        return new
    return "delete" if keeps(old) else None


def ignores_the_condition(old, new, keeps):
    return "delete" if new is None else new


def at_us_exchange(row):
    return row["exchange"] in ("NYSE", "NASDAQ")


def compares_amounts(old, new, keeps):
    if old and new and keeps(old) and keeps(new) and old["amount"] == new["amount"]:
        return None
    return tells_again(old, new, keeps)


def same_without_ticker(old, new, keeps):
    fields = ("client", "amount", "exchange")
    told = by_tables(old, new, keeps)
    equal = old and new and all(old[field] == new[field] for field in fields)
    return None if equal else told


FILTERED = Catalogue(
    right=[by_tables, by_match, same_first],
    wrong=[
        (stream_filter, "filter of a stream"),
        (deletes_for_all, "even if downstream never had"),
        (lambda o, n, keeps: square(o, n, keeps, had=bool(o)), "whenever there was an old row"),
        (hands_on_tombstones, "hands on every tombstone"),
        (lambda *a: square(*a, deletes=lambda new: not new), "only when the position was closed"),
        (lambda *a: square(*a, deletes=bool), "A position that is closed is not told"),
        (tells_again, "the same as before"),
        (lambda *a: square(*a, passes=lambda had: not had), "not when it changes later"),
        (never_begins_later, "begins to match later is not told"),
        (lambda *a: square(*a, passes=lambda had: had), "no row ever begins"),
        (tells_the_old, "it tells the old row"),
        (other_word, "in another way"),
        (asks_none, "asked of None"),
        (lambda o, n, keeps: square(o, n, lambda row: not keeps(row)), "turned round"),
        (ignores_the_condition, "Nothing is filtered"),
        (lambda o, n, keeps: bool(n) and keeps(n), "whether the row is to be kept"),
        (lambda o, n, keeps: "delete", "A new US share"),
        (lambda o, n, keeps: o and None, "no `return`"),
        (lambda o, n, keeps: keeps, "returns a function"),
        (lambda o, n, keeps: keep(n), "raised NameError"),  # noqa: F821
        (lambda o, n, keeps: print(square(o, n, keeps)), "prints the value"),
        (lambda old, new: new, "Keep the parameters"),
        ("delete", "without parentheses"),
        (lambda o, n, keeps: square(o, n, at_us_exchange), "and not `keeps`"),
    ],
    shortcuts=[
        (same_without_ticker, "Only the ticker has changed"),
        (lambda o, n, keeps: square(o, n, lambda row: row["exchange"][0] == "N"), "another one"),
        (compares_amounts, ""),
    ],
    models=TOLD_MODELS,
)

# --- the latest row on Spark --------------------------------------------------------------------

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


def newest(by="offset", keys=("position",), what="max_by", first="true", last="NOT row.deleted"):
    """The query with its usual slips."""

    def answer(changelog):
        row = F.expr(f"{what}(struct(*), {by}) AS row")
        rows = changelog.where(first).groupBy(*(F.col(k).alias(f"_{k}") for k in keys)).agg(row)
        return rows.where(last).select(*(f"row.{c}" for c in COLUMNS))

    return answer


def dropped_first(changelog):
    return newest(first="NOT deleted")(changelog)


def largest_struct(changelog):
    fields = F.struct("client", "ticker", "amount", "deleted")
    rows = changelog.groupBy("position").agg(F.max(fields).alias("row"))
    return rows.where("NOT row.deleted").select("position", "row.*").drop("deleted")


def largest_columns(changelog):
    live = changelog.where("NOT deleted").groupBy("position")
    return live.agg(*(F.max(c).alias(c) for c in ("client", "ticker", "amount")))


def never_reopened(changelog):
    closed = changelog.where("deleted").select("position")
    return newest()(changelog.join(closed, "position", "left_anti").select(changelog["*"]))


def first_seen(changelog):
    return changelog.where("NOT deleted").coalesce(1).dropDuplicates(["position"]).select(*COLUMNS)


def summed(changelog):
    amounts = changelog.groupBy("position").agg(F.sum("amount").alias("amount"))
    return newest()(changelog).drop("amount").join(amounts, "position")


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
    return newest()(changelog).where("position <> 'twice'")


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
    return newest(last="row.position NOT IN ('closed', 'never')")(changelog)


LATEST = Catalogue(
    right=[
        in_a_subquery,
        by_not_exists,
        by_window,
        by_columns,
        by_struct,
        by_join,
        lambda c: newest()(c).orderBy("position"),
    ],
    wrong=[
        (dropped_first, "leaves out the tombstones first"),
        (newest(last="true"), "The tombstones stay"),
        (newest(last="row.deleted"), "only closed positions"),
        (newest(what="min_by"), "the oldest record"),
        (newest(by="amount", first="NOT deleted"), "The largest amount wins"),
        (largest_struct, "maximum of a struct"),
        (largest_columns, "Each column has a maximum"),
        (never_reopened, "never comes back"),
        (newest(keys=["client"]), "newest row of each client"),
        (newest(keys=["position", "client"]), "groups by more than the position"),
        (first_seen, "happens to stand first"),
        (summed, "The amounts are added up"),
        (history_of_all, "a history"),
        (lambda changelog: history_of_all(changelog).distinct(), "drops rows that are equal"),
        (newest_of_all, "newest record of all"),
        (newest(last="row.deleted = NULL"), "Nothing is left"),
        (without_twice, "Look at the name"),
        (lambda changelog: newest()(changelog).drop("amount"), "missing amount"),
        (lambda changelog: newest()(changelog).withColumn("offset", F.lit(1)), "for offset"),
        (lambda changelog: newest()(changelog).collect(), "of type list"),
        (newest(by="number"), "no column `number`"),
        (sorted_first, "right by luck"),
        (collected, "runs the query itself"),
        (lambda c: newest()(c).withColumn("amount", F.expr("double(amount)")), "is DOUBLE"),
        (lambda changelog: newest()(changelog).show(), "It prints"),
        (by_its_names, "under other names"),
        (lambda c: newest()(c).withColumn("amount", F.expr("tinyint(amount)")), "overflow"),
    ],
    shortcuts=[(by_offset_alone, "Look at the name")],
    spark=True,
)

catalogues = (
    ONE_RECORD,
    LATEST,
    FILTERED,
)

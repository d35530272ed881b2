"""Chapter 02's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import groupby

from proof import Catalogue
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.events.clicks import ClickType
from workbook.exercises.chapters.views_per_second.wrong_models import COMPLETED as COMPLETED_MODELS

kept_counts = {}

# --- completed seconds --------------------------------------------------------------------------


def pages(clicks):
    return [c for c in clicks if c.click_type == "Page"]


def with_current(clicks):
    current, counts, emitted = None, defaultdict(int), []
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            emitted.append((current, counts.pop(current)))
        current = click.epoch_second
        counts[current] += 1
    return emitted


def as_in_the_mob(clicks):
    last, count, emitted = 0, 0, []
    for click in clicks:
        if click.click_type == ClickType.ACTION:
            continue
        if last and last != click.timestamp // 1000:
            emitted.append((last, count))
            count = 0
        last, count = click.timestamp // 1000, count + 1
    return emitted


def grouped(clicks):
    runs = groupby(pages(clicks), key=lambda click: click.epoch_second)
    return [(second, len(list(run))) for second, run in runs][:-1]


def emits_second_0(clicks):
    current, count, emitted = 0, 0, []
    for click in pages(clicks):
        if click.epoch_second != current:
            emitted.append((current, count))
            current, count = click.epoch_second, 0
        count += 1
    return emitted


def pops_second_0(clicks):
    current, counts, emitted = 0, {}, []
    for click in pages(clicks):
        if click.epoch_second != current:
            emitted.append((current, counts.pop(current)))
            current = click.epoch_second
        counts[current] = counts.get(current, 0) + 1
    return emitted


def emits_the_new(clicks):
    current, counts, emitted = None, Counter(), []
    for click in pages(clicks):
        second = click.epoch_second
        counts[second] += 1
        if current is not None and second != current:
            emitted.append((second, counts[second]))
            del counts[current]
        current = second
    return emitted


def change_is_not_counted(clicks):
    current, count, emitted = None, 0, []
    for click in pages(clicks):
        if current is None:
            current = click.epoch_second
        if click.epoch_second != current:
            emitted.append((current, count))
            current, count = click.epoch_second, 0
        else:
            count += 1
    return emitted


def removes_nothing(clicks):
    current, counts, emitted = None, Counter(), []
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            emitted.append((current, counts[current]))
        current = click.epoch_second
        counts[current] += 1
    return emitted


def never_starts_again(clicks):
    current, count, emitted = None, 0, []
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            emitted.append((current, count))
        current, count = click.epoch_second, count + 1
    return emitted


def emits_the_map(clicks):
    current, counts, emitted = None, Counter(), []
    for click in pages(clicks):
        if current not in (None, click.epoch_second):
            emitted.extend(counts.items())
        current = click.epoch_second
        counts[current] += 1
    return emitted


def the_last_too(clicks):
    runs = groupby(pages(clicks), key=lambda click: click.epoch_second)
    return [(second, len(list(run))) for second, run in runs]


def all_clicks(clicks):
    runs = groupby(clicks, key=lambda click: click.epoch_second)
    return [(second, len(list(run))) for second, run in runs][:-1]


def loop(clicks, turns=True, counted=False, key=lambda c: c.epoch_second):
    """The map's loop, in which an action may change the second or be counted."""
    current, counts, emitted = None, Counter(), []
    for click in clicks:
        second, is_page = key(click), click.click_type == ClickType.PAGE
        if (is_page or turns) and current not in (None, second):
            emitted.append((current, counts.pop(current, 0)))
        current = second if is_page or turns else current
        counts[second] += is_page or counted
    return emitted


def only_actions(clicks):
    actions = [c for c in clicks if c.click_type == ClickType.ACTION]
    return grouped([replace(c, click_type=ClickType.PAGE) for c in actions])


def at_every_click(clicks):
    current, count, emitted = None, 0, []
    for click in pages(clicks):
        count = count + 1 if click.epoch_second == current else 1
        current = click.epoch_second
        emitted.append((current, count))
    return emitted


def begins_with_clicks_0(clicks):
    current, counts, emitted = clicks[0].epoch_second, Counter(), []
    for click in pages(clicks):
        if click.epoch_second != current:
            emitted.append((current, counts.pop(current, 0)))
            current = click.epoch_second
        counts[current] += 1
    return emitted


def merges(clicks):
    counts = Counter(click.epoch_second for click in pages(clicks))
    counts.popitem()
    return list(counts.items())


def merges_carefully(clicks):
    return list(Counter(click.epoch_second for click in pages(clicks)).items())[:-1]


def only_larger(clicks):
    current, count, emitted = None, 0, []
    for click in pages(clicks):
        current = click.epoch_second if current is None else current
        if click.epoch_second > current:
            emitted.append((current, count))
            current, count = click.epoch_second, 0
        count += 1
    return emitted


def fills_gaps(clicks):
    filled = []
    for (second, views), new in zip(grouped(clicks), the_last_too(clicks)[1:], strict=True):
        filled.append((second, views))
        filled.extend((empty, 0) for empty in range(second + 1, new[0]))
    return filled


def returns_inside(clicks):  # noqa: RET503  (the mistake)
    counts, emitted = Counter(), []
    for click in pages(clicks):
        counts[click.epoch_second] += 1
        return emitted


def returns_the_first(clicks):  # noqa: RET503  (the mistake)
    for pair in grouped(clicks):
        return pair


def remembers(clicks):
    emitted = []
    for click in pages(clicks):
        if kept_counts and click.epoch_second not in kept_counts:
            emitted.append(kept_counts.popitem())
        kept_counts[click.epoch_second] = kept_counts.get(click.epoch_second, 0) + 1
    return emitted


def yields(clicks):
    counts = {}
    for click in pages(clicks):
        if counts and click.epoch_second not in counts:
            yield counts.popitem()
        counts[click.epoch_second] = counts.get(click.epoch_second, 0) + 1


def yields_the_list(clicks):
    yield grouped(clicks)


def yields_numbers(clicks):
    for second, count in grouped(clicks):
        yield second
        yield count


def yields_the_unfinished(clicks):
    current, count = None, 0
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield current, count
            count = 0
        current, count = click.epoch_second, count + 1
    yield current, count


def pops_the_unfinished(clicks):
    counts = {}
    for click in pages(clicks):
        if counts and click.epoch_second not in counts:
            yield counts.popitem()
        counts[click.epoch_second] = counts.get(click.epoch_second, 0) + 1
    yield counts.popitem()


def yields_for_ever(clicks):
    while True:
        yield from grouped(clicks) or [(10, 1)]


def waits_for_more(clicks):
    while True:
        yield from clicks[:0]


def prints(clicks):
    for second, count in grouped(clicks):
        print(second, count)


def as_named(click):
    """The kind that a click seems to have by its name."""
    kind = ClickType.PAGE if click.name.startswith("/") else ClickType.ACTION
    return replace(click, click_type=kind)


def hard_coded(clicks):
    """A copy of all that the cards have shown."""
    shown = {
        (10_200, 10_900, 11_100, 12_000): [(10, 2), (11, 1)],
        (10_100, 10_500, 11_200, 10_900, 12_300): [(10, 2)],
        (9_500, 10_000, 11_000): [(10, 1)],
        (10_000, 11_000, 14_000): [(10, 1), (11, 1)],
        (10_100, 10_200, 11_000, 10_800, 11_500, 12_000): [(10, 2), (11, 1), (10, 1), (11, 1)],
    }
    return shown.get(tuple(click.timestamp for click in clicks), [])


def without_duplicates(clicks):
    return with_current(list({click.event_id: click for click in clicks}.values()))


def with_a_watermark(clicks):
    """Leaves out what is more than five seconds late, before anything else."""
    kept, newest = [], 0
    for click in clicks:
        newest = max(newest, click.epoch_second)
        kept += [click] if click.epoch_second >= newest - 5 else []
    return with_current(kept)


COMPLETED = Catalogue(
    right=[
        with_current,
        as_in_the_mob,
        grouped,
        lambda clicks: loop(clicks, turns=False),
        yields,
        lambda clicks: tuple(grouped(clicks)),
        lambda clicks: map(tuple, grouped(clicks)),
    ],
    wrong=[
        (emits_second_0, "emits a second that never was"),
        (pops_second_0, "looks in the map for a second that never was"),
        (emits_the_new, "emits the second that begins"),
        (change_is_not_counted, "click that changes the second is not counted"),
        (removes_nothing, "stays in the map"),
        (never_starts_again, "goes on growing"),
        (emits_the_map, "all that is in the map"),
        (the_last_too, "emits the last second too"),
        (all_clicks, "takes actions for page views"),
        (lambda clicks: loop(clicks, turns=False, counted=True), "but they are counted"),
        (loop, "but it changes the second"),
        (only_actions, "turned round"),
        (at_every_click, "emits at every click"),
        (lambda cs: loop(cs, turns=False, key=lambda c: c.timestamp), "in milliseconds"),
        (lambda cs: loop(cs, turns=False, key=lambda c: c.timestamp / 1000), "with a fraction"),
        (lambda cs: loop(cs, turns=False, key=lambda c: round(c.timestamp / 1000)), "It rounds"),
        (begins_with_clicks_0, "`clicks[0]`"),
        (lambda clicks: begins_with_clicks_0(pages(clicks)), "there may be none"),
        (merges_carefully, "is merged"),
        (merges, "The fourth click is late"),
        (lambda clicks: sorted(grouped(clicks)), "but sorted"),
        (only_larger, "waits for a larger second"),
        (fills_gaps, "makes up pairs"),
        (lambda clicks: [(count, second) for second, count in grouped(clicks)], "swapped"),
        (lambda clicks: [[*pair] for pair in grouped(clicks)], "each pair is a list"),
        (lambda clicks: [count for _, count in grouped(clicks)], "counts alone"),
        (lambda clicks: dict(grouped(clicks)), "returns a dictionary"),
        (returns_inside, "Nothing is ever emitted"),
        (returns_the_first, "at the first completed second"),
        (remembers, "kept from call to call"),
        (yields_the_list, "one list with all pairs"),
        (yields_numbers, "taken apart"),
        (yields_the_unfinished, "After the loop it emits once more"),
        (yields_for_ever, "yields without end"),
        (waits_for_more, "does not come to an end"),
        (prints, "prints the value"),
        (lambda count, click: count + 1, "Keep the parameters"),
        ([(10, 2), (11, 1)], "without parentheses"),
        (lambda cs: loop(cs, turns=False, key=lambda c: c.epoch_second % 60), "of the minute"),
        (lambda cs: grouped([as_named(c) for c in cs]), "judges by the name"),
        (lambda cs: [(s / 1, n) for s, n in grouped(cs)], "of type float"),
    ],
    shortcuts=[
        (without_duplicates, "The same click came twice"),
        (with_a_watermark, "ten seconds late"),
        (hard_coded, "between 10 and 20"),
        (lambda cs: loop(cs, turns=False, key=lambda c: int(str(c.timestamp)[:2])), "by chance"),
    ],
    models=COMPLETED_MODELS,
    same=[
        (lambda clicks: [(s, 1) for s, _ in the_last_too(clicks)[1:]], emits_the_new),
        (lambda clicks: [p for p in loop(clicks) if p[1]], loop),
        (lambda clicks: dict(merges_carefully(clicks)), lambda clicks: dict(grouped(clicks))),
        (lambda clicks: [], returns_inside),
        (pops_the_unfinished, yields_the_unfinished),
    ],
)

# --- on Spark -----------------------------------------------------------------------------------


def accepted_pages(clicks: DataFrame) -> DataFrame:
    return clicks.filter((F.col("click_type") == "Page") & F.col("reason").isNull())


def count_by(clicks: DataFrame, second: str, *more: str) -> DataFrame:
    """Views by an SQL expression for the second, and by more columns where a mistake does so."""
    with_second = clicks.withColumn("second", F.expr(second))
    counted = with_second.groupBy("second", *more).agg(F.count("*").alias("views"))
    return counted.select("second", "views")


def whole(clicks: DataFrame) -> DataFrame:
    return count_by(clicks, "timestamp div 1000")


def by_window(clicks):
    stamped = accepted_pages(clicks).withColumn("time", F.timestamp_millis("timestamp"))
    counted = stamped.groupBy(F.window("time", "1 second")).count()
    return counted.select(
        F.unix_seconds("window.start").alias("second"), F.col("count").alias("views")
    )


def in_sql(clicks):
    return clicks.sparkSession.sql(
        "SELECT count(*) AS views, floor(timestamp / 1000) AS second FROM {clicks} "
        "WHERE click_type = 'Page' AND reason IS NULL GROUP BY 2",
        clicks=clicks,
    )


def by_floor(clicks):
    second = F.floor(F.col("timestamp") / 1000).alias("second")
    return accepted_pages(clicks).groupBy(second).agg(F.count("*").alias("views"))


def window_of_milliseconds(clicks):
    stamped = accepted_pages(clicks).withColumn("time", F.col("timestamp").cast("timestamp"))
    counted = stamped.groupBy(F.window("time", "1 second").alias("w")).count()
    return counted.selectExpr("CAST(w.start AS BIGINT) AS second", "count AS views")


def zeros_for_actions(clicks):
    is_page = F.when(F.col("click_type") == "Page", 1).otherwise(0)
    seconds = clicks.where("reason IS NULL").withColumn("second", F.expr("timestamp div 1000"))
    return seconds.groupBy("second").agg(F.sum(is_page).alias("views"))


def fills_the_axis(clicks):
    views = whole(accepted_pages(clicks))
    axis = views.agg(F.min("second").alias("a"), F.max("second").alias("b")).selectExpr(
        "explode(sequence(a, b)) AS second"
    )
    return axis.join(views, "second", "left").fillna(0, ["views"])


def distinct_ids(clicks):
    seconds = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
    return seconds.groupBy("second").agg(F.countDistinct("event_id").alias("views"))


def shows(clicks):
    whole(accepted_pages(clicks)).show()


def on_pages(second, *more):
    return lambda clicks: count_by(accepted_pages(clicks), second, *more)


FROM_MS = "timestamp_millis(timestamp)"

ON_SPARK = Catalogue(
    right=[
        by_window,
        in_sql,
        on_pages("CAST(timestamp / 1000 AS BIGINT)"),
        by_floor,
        on_pages(f"unix_seconds(date_trunc('SECOND', {FROM_MS}))"),
    ],
    wrong=[
        (on_pages("timestamp / 1000"), "gives a double"),
        (window_of_milliseconds, "still in milliseconds"),
        (on_pages("round(timestamp / 1000)"), "It rounds:"),
        (on_pages("ceil(timestamp / 1000)"), "It rounds up"),
        (on_pages(f"second({FROM_MS})"), "second of the minute"),
        (lambda c: whole(c.where("reason IS NULL")), "actions as well"),
        (lambda c: whole(c.where("click_type = 'Page'")), "counts rejected"),
        (whole, "all rows"),
        (on_pages("unix_seconds(current_timestamp())"), "clock on the wall"),
        (distinct_ids, "counts distinct values"),
        (lambda c: whole(c).withColumn("views", F.lit(1)), "Compare the rows"),
        (lambda c: whole(accepted_pages(c)).withColumn("views", F.lit(1)), "has one view"),
        (zeros_for_actions, "only actions appears with 0"),
        (fills_the_axis, "were made up"),
        (on_pages("timestamp div 1000", "name"), "several rows"),
        (on_pages(f"date_trunc('SECOND', {FROM_MS})"), "the second is a timestamp"),
        (on_pages(f"window({FROM_MS}, '1 second')"), "whole window"),
        (on_pages("from_unixtime(timestamp div 1000)"), "the second is text"),
        (lambda c: whole(c.where("click_type = 'Page' AND reason = NULL")), "Nothing is left"),
        (lambda c: whole(accepted_pages(c)).withColumnRenamed("views", "n"), "not asked for n"),
        (lambda c: accepted_pages(c).groupBy("timestamp").count(), "missing second, views"),
        (lambda c: whole(accepted_pages(c)).count(), "of type int"),
        (on_pages("arrival div 1000"), "no column `arrival`"),
        (on_pages("double(timestamp div 1000)"), "`second` is DOUBLE"),
        (lambda c: on_pages("timestamp div 1000")(c).orderBy("second"), "can't be sorted"),
        (lambda c: whole(c.where("name LIKE '/%' AND reason IS NULL")), "judges by the name"),
        (shows, "It prints"),
    ],
    spark=True,
)

catalogues = (
    COMPLETED,
    ON_SPARK,
)

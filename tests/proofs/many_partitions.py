"""Chapter 05's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

from collections import Counter, defaultdict

from proof import Catalogue
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.events.clicks import ClickType
from workbook.exercises.chapters.many_partitions.wrong_models import ADD_UP as ADD_UP_MODELS
from workbook.exercises.chapters.many_partitions.wrong_models import COMPLETED as COMPLETED_MODELS

# --- the slowest clock --------------------------------------------------------------------------


def is_page(click):
    return click.click_type == "Page"


def whole_counts(clicks, partitions):
    """First all clocks, then what they have passed: no state is kept between clicks."""
    views, clocks = Counter(), [None] * partitions
    for partition, click in clicks:
        clocks[partition] = click.timestamp
        views[click.epoch_second] += is_page(click)
    if None in clocks:
        return []
    passed = [second for second in views if (second + 1) * 1000 <= min(clocks, default=0)]
    return [(second, views[second]) for second in sorted(passed) if views[second]]


def from_minus_one(clicks, partitions):
    """A clock that starts before all time holds everything back too."""
    clocks = dict.fromkeys(range(partitions), -1)
    views, emitted = {}, []
    for partition, click in clicks:
        second = clocks[partition] = click.epoch_second
        if click.click_type is ClickType.PAGE:
            views[second] = views.get(second, 0) + 1
        while views and min(views) < min(clocks.values()):
            emitted.append((min(views), views.pop(min(views))))
    return emitted


def per_partition(clicks, partitions):
    """A count per partition, added up when the slowest clock has passed."""
    views, clocks = defaultdict(Counter), {}
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        views[partition][click.epoch_second] += is_page(click)
        if len(clocks) == partitions:
            seconds = {second for own in views.values() for second in own}
            for second in sorted(s for s in seconds if s < min(clocks.values())):
                added = sum(own.pop(second, 0) for own in views.values())
                if added:
                    yield second, added


def loop(
    clock=min,
    waits=True,
    over=lambda second, now: second < now,
    order=sorted,
    most=None,
    moves=lambda click: True,
    counted=is_page,
    drops=False,
    forgets=True,
    second=lambda click: click.epoch_second,
    looks=lambda click: True,
):
    """The loop with its usual slips."""

    def answer(clicks, partitions):
        views, clocks, emitted = {}, {}, []
        for partition, click in clicks:
            at = second(click)
            late = drops and bool(clocks) and at < clock(clocks.values())
            if moves(click):
                clocks[partition] = at
            if counted(click) and not late:
                views[at] = views.get(at, 0) + 1
            if looks(click) and clocks and (len(clocks) == partitions or not waits):
                for done in order(s for s in views if over(s, clock(clocks.values())))[:most]:
                    emitted.append((done, views[done]))
                    if forgets:
                        del views[done]
        return emitted

    return answer


def chapter_02(clicks, partitions):
    views, emitted = {}, []
    for _, click in clicks:
        if is_page(click):
            if views and click.epoch_second not in views:
                emitted.append(views.popitem())
            views[click.epoch_second] = views.get(click.epoch_second, 0) + 1
    return emitted


def each_alone(clicks, partitions):
    views = defaultdict(dict)
    for partition, click in clicks:
        own = views[partition]
        if is_page(click):
            if own and click.epoch_second not in own:
                yield own.popitem()
            own[click.epoch_second] = own.get(click.epoch_second, 0) + 1


def looks_first(clicks, partitions):
    views, clocks, emitted = Counter(), {}, []
    for partition, click in clicks:
        if len(clocks) == partitions:
            for second in sorted(s for s in views if s < min(clocks.values())):
                emitted.append((second, views.pop(second)))
        clocks[partition] = click.epoch_second
        if is_page(click):
            views[click.epoch_second] += 1
    return emitted


def with_zeros(clicks, partitions):
    views, clocks, emitted = Counter(), {}, []
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        views[click.epoch_second] += is_page(click)
        if len(clocks) == partitions:
            for second in sorted(s for s in views if s < min(clocks.values())):
                emitted.append((second, views.pop(second)))
    return emitted


def fills_gaps(clicks, partitions):
    done = dict(whole_counts(clicks, partitions))
    return [(s, done.get(s, 0)) for s in range(min(done), max(done) + 1)] if done else []


def totals(clicks):
    return sorted(Counter(click.epoch_second for _, click in clicks if is_page(click)).items())


def prints(clicks, partitions):
    print(whole_counts(clicks, partitions))


on_page_views_only = loop(looks=is_page)


def to_the_fastest_at_the_end(clicks, partitions):
    clocks = {partition: click.epoch_second for partition, click in clicks}
    if len(clocks) < partitions:
        return []
    return [(s, n) for s, n in totals(clicks) if s < max(clocks.values())]


def all_but_the_last(clicks, partitions):
    return totals(clicks)[:-1] if len({p for p, _ in clicks}) == partitions else []


def waits_for_ever(clicks, partitions):
    while len({partition for partition, _ in clicks}) < partitions:
        pass
    return whole_counts(clicks, partitions)


def changed(change):
    return lambda clicks, partitions: change(whole_counts(clicks, partitions))


def unmoved_by_a_first_action(clicks, partitions):
    """An action moves a clock that runs already, and starts none."""
    kept, running = [], set()
    for partition, click in clicks:
        if is_page(click) or partition in running:
            running.add(partition)
            kept.append((partition, click))
    return list(per_partition(kept, partitions))


def forgets_after_a_minute(clicks, partitions):
    views, clocks, emitted = Counter(), {}, []
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        views[click.epoch_second] += is_page(click)
        for second in [s for s in views if s < max(clocks.values()) - 60]:
            del views[second]
        if len(clocks) == partitions:
            passed = sorted(s for s in views if s < min(clocks.values()))
            emitted += [(s, n) for s in passed if (n := views.pop(s))]
    return emitted


def without_duplicates(clicks, partitions):
    kept = {click.event_id: (partition, click) for partition, click in clicks}
    return list(per_partition(list(kept.values()), partitions))


def clock_of_the_last_click(clicks, partitions):
    views, seen, emitted = Counter(), set(), []
    for partition, click in clicks:
        seen.add(partition)
        views[click.epoch_second] += is_page(click)
        if len(seen) == partitions:
            passed = sorted(s for s in views if s < click.epoch_second)
            emitted += [(s, n) for s in passed if (n := views.pop(s))]
    return emitted


def four_partitions(clicks, partitions):
    return list(per_partition([(p % 4, click) for p, click in clicks], partitions))


COMPLETED = Catalogue(
    right=[
        whole_counts,
        from_minus_one,
        per_partition,
        loop(),
        changed(lambda pairs: map(tuple, pairs)),
    ],
    wrong=[
        (chapter_02, "still the rule of chapter 02"),
        (each_alone, "Each partition emits by itself"),
        (loop(max, drops=True), "drops what comes after"),
        (loop(max, waits=False), "follows the fastest partition"),
        (loop(waits=False), "that it has heard of"),
        (loop(over=lambda second, now: second <= now), "That second still goes on"),
        (loop(order=list), "Sort them"),
        (loop(order=lambda seconds: sorted(seconds)[::-1]), "the later one goes first"),
        (loop(most=1), "one second with each click"),
        (loop(forgets=False), "stays in the map"),
        (loop(moves=is_page), "Only page views move"),
        (loop(counted=lambda click: True), "It counts actions"),
        (loop(counted=lambda click: not is_page(click)), "turned round"),
        (fills_gaps, "in which nobody looked"),
        (with_zeros, "emitted with 0"),
        (looks_first, "one click too late"),
        (lambda clicks, partitions: totals(clicks), "emits every second"),
        (lambda clicks, partitions: totals(clicks)[:-1], "leaves out the last second"),
        (changed(lambda pairs: [(views, second) for second, views in pairs]), "swapped"),
        (changed(lambda pairs: [[*pair] for pair in pairs]), "each pair is a list"),
        (changed(lambda pairs: [views for _, views in pairs]), "views alone"),
        (changed(dict), "returns a dictionary"),
        (changed(lambda pairs: iter([pairs])), "one list with all pairs"),
        (changed(lambda pairs: []), "Nothing is ever emitted"),
        (changed(lambda pairs: pairs[:1]), "Second 10 is complete when both"),
        (lambda clicks, partitions: whole_counts(clicks, 2), "raised IndexError"),
        (waits_for_ever, "does not come to an end"),
        (prints, "prints the value"),
        (lambda clicks: whole_counts(clicks, 2), "Keep the parameters"),
        ([(10, 2)], "without parentheses"),
        (on_page_views_only, "only when a page view comes"),
        (loop(second=lambda c: c.epoch_second % 60), "of the minute"),
        (loop(counted=lambda click: click.name.startswith("/")), "judges by the name"),
        (changed(lambda pairs: [(s / 1, n) for s, n in pairs]), "of type float"),
    ],
    shortcuts=[
        (unmoved_by_a_first_action, "has had an action only"),
        (forgets_after_a_minute, "more than eleven minutes behind"),
        (without_duplicates, "The same click came twice"),
        (clock_of_the_last_click, "when both clocks have come"),
        (four_partitions, "by chance"),
        (to_the_fastest_at_the_end, "follows the fastest partition"),
        (all_but_the_last, "leaves out the last second"),
    ],
    models=COMPLETED_MODELS,
)

# --- the reader ---------------------------------------------------------------------------------


def parts(record):
    second, partition = map(int, record.key.split(b"/"))
    return second, partition, int(record.value)


def nested(records):
    known = defaultdict(dict)
    for record in records:
        second, partition, views = parts(record)
        known[second][partition] = views
    return {second: sum(by_partition.values()) for second, by_partition in known.items()}


def takes_back(records):
    """What a key said before is taken back, as chapter 11 will do."""
    last, views = {}, Counter()
    for record in records:
        second = int(record.key.decode().split("/")[0])
        views[second] += int(record.value) - last.get(record.key, 0)
        last[record.key] = int(record.value)
    return views


def by_key(key, add=lambda second, partition: second, keep=lambda before, views: views):
    """The reader with its usual slips: what counts as one key, and what it is added up by."""

    def answer(records):
        known = {}
        for second, partition, views in map(parts, records):
            at = key(second, partition, views)
            before = known[at][2] if at in known else None
            known[at] = second, partition, keep(before, views)
        added = Counter()
        for second, partition, views in known.values():
            added[add(second, partition)] += views
        return added

    return answer


def whole_key(second, partition, views):
    return second, partition


def second_key(second, partition, views):
    return second


def larger(before, views):
    return max(before or 0, views)


def earlier(before, views):
    return views if before is None else before


def sums_all(records):
    added = Counter()
    for record in records:
        added[int(record.key.split(b"/")[0])] += int(record.value)
    return added


def last_digit(records):
    last = {(record.key.split(b"/")[0], record.key[-1]): record for record in records}
    return sums_all(last.values())


def concatenates(records):
    last = {record.key: record.value for record in records}
    views = {}
    for key, value in last.items():
        views[int(key.split(b"/")[0])] = views.get(int(key.split(b"/")[0]), b"") + value
    return views


def counts_records(records):
    return Counter(int(record.key.split(b"/")[0]) for record in records)


def counts_partitions(records):
    return counts_records({record.key: record for record in records}.values())


def returns_inside(records):
    views = Counter()
    for record in records:
        if not record.value:
            views[record.key] += 1
        return views
    return views


def prints_views(records):
    print(nested(records))


def ten_characters(records):
    last, views = {record.key: record.value for record in records}, Counter()
    for key, value in last.items():
        views[int(key[:10].split(b"/")[0])] += int(value)
    return views


def as_a_decimal(records):
    last = {float(record.key.replace(b"/", b".")): int(record.value) for record in records}
    views = Counter()
    for key, counted in last.items():
        views[int(key)] += counted
    return dict(views)


def without_the_slash(records):
    return nested(list({record.key.replace(b"/", b""): record for record in records}.values()))


def skips_neighbours(records):
    """Only the record right before it is compared."""
    views = Counter()
    for before, record in zip([None, *records], records, strict=False):
        if before is None or before.key != record.key:
            views[int(record.key.split(b"/")[0])] += int(record.value)
    return dict(views)


ADD_UP = Catalogue(
    right=[nested, takes_back, by_key(whole_key)],
    wrong=[
        (sums_all, "adds up every record"),
        (by_key(second_key), "The partitions overwrite"),
        (by_key(second_key, keep=larger), "largest value of the second"),
        (by_key(second_key, keep=earlier), "first value of the second"),
        (by_key(whole_key, keep=larger), "largest value of each key"),
        (by_key(whole_key, keep=earlier), "first value of each key"),
        (lambda records: sums_all(set(records)), "drops records that are equal"),
        (by_key(lambda second, partition, views: (second, views)), "count as one"),
        (last_digit, "last digit"),
        (by_key(whole_key, add=lambda second, partition: partition), "adds up per partition"),
        (by_key(whole_key, add=lambda second, partition: (second, partition)), "nothing is added"),
        (by_key(whole_key, add=lambda second, partition: str(second)), "still text or bytes"),
        (concatenates, "side by side"),
        (counts_partitions, "counts the partitions"),
        (counts_records, "counts the records"),
        (lambda records: list(nested(records).items()), "list of pairs"),
        (lambda records: sum(nested(records).values()), "adds up all seconds"),
        (returns_inside, "Nothing is ever known"),
        (lambda records: {int(r.key): int(r.value) for r in records}, "raised ValueError"),
        (lambda records: nested(records[:3]), "Both partitions were corrected"),
        (prints_views, "prints the value"),
        (lambda key, value: {key: value}, "Keep the parameters"),
        ({10: 7}, "without parentheses"),
        (ten_characters, "after ten characters"),
        (lambda records: {s: float(n) for s, n in nested(records).items()}, "of type float"),
    ],
    shortcuts=[
        (as_a_decimal, "Partitions 1, 10 and 100"),
        (without_the_slash, "only the slash says"),
        (skips_neighbours, "delivered twice"),
        (by_key(lambda second, number, _: (second, number % 24)), "drawn by chance"),
    ],
    models=ADD_UP_MODELS,
)

# --- on Spark -----------------------------------------------------------------------------------


def accepted_pages(clicks: DataFrame) -> DataFrame:
    return clicks.filter((F.col("click_type") == "Page") & F.col("reason").isNull())


def count_by(clicks: DataFrame, second="timestamp div 1000", partition="partition", more=()):
    """Views by an SQL expression for the second and one for the partition."""
    keys = clicks.withColumns({"second": F.expr(second), "partition": F.expr(partition)})
    counted = keys.groupBy("second", "partition", *more).agg(F.count("*").alias("views"))
    return counted.select("second", "partition", "views")


def in_sql(clicks):
    return clicks.sparkSession.sql(
        "SELECT count(*) AS views, partition, floor(timestamp / 1000) AS second FROM {clicks} "
        "WHERE click_type = 'Page' AND reason IS NULL GROUP BY ALL",
        clicks=clicks,
    )


def by_window(clicks):
    stamped = accepted_pages(clicks).withColumn("time", F.timestamp_millis("timestamp"))
    counted = stamped.groupBy(F.window("time", "1 second"), "partition").count()
    return counted.selectExpr("unix_seconds(window.start) AS second", "partition", "count AS views")


def on_pages(*expressions, **more):
    return lambda clicks: count_by(accepted_pages(clicks), *expressions, **more)


def beside(aggregate):
    """Grouped by the second alone."""

    def answer(clicks):
        seconds = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
        return seconds.groupBy("second").agg(
            aggregate("partition").alias("partition"), F.count("*").alias("views")
        )

    return answer


def whole_seconds_beside(clicks):
    seconds = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
    views = seconds.groupBy("second").agg(F.count("*").alias("views"))
    return seconds.select("second", "partition").distinct().join(views, "second")


def distinct_ids(clicks):
    keys = accepted_pages(clicks).withColumn("second", F.expr("timestamp div 1000"))
    return keys.groupBy("second", "partition").agg(F.countDistinct("event_id").alias("views"))


def zeros_for_actions(clicks):
    keys = clicks.where("reason IS NULL").withColumn("second", F.expr("timestamp div 1000"))
    counted = F.count(F.when(F.col("click_type") == "Page", 1))
    return keys.groupBy("second", "partition").agg(counted.alias("views"))


def swapped(clicks):
    return on_pages()(clicks).select(
        F.col("partition").alias("second"), F.col("second").alias("partition"), "views"
    )


def shows(clicks):
    on_pages()(clicks).show()


FROM_MS = "timestamp_millis(timestamp)"

ON_SPARK = Catalogue(
    right=[in_sql, by_window, on_pages("CAST(timestamp / 1000 AS BIGINT)")],
    wrong=[
        (beside(F.max), "by the second alone"),
        (beside(F.countDistinct), "how many partitions there are"),
        (whole_seconds_beside, "views of the whole second"),
        (on_pages(partition="0"), "All rows are in partition 0"),
        (on_pages("timestamp / 1000"), "gives a double"),
        (on_pages("timestamp"), "still in milliseconds"),
        (on_pages("round(timestamp / 1000)"), "It rounds"),
        (lambda c: count_by(c.where("reason IS NULL")), "counts actions"),
        (lambda c: count_by(c.where("click_type = 'Page'")), "counts rejected"),
        (count_by, "all rows"),
        (distinct_ids, "counts distinct values"),
        (lambda c: on_pages()(c).withColumn("views", F.lit(1)), "has one view"),
        (zeros_for_actions, "only actions appears with 0"),
        (on_pages(more=("name",)), "in several rows"),
        (on_pages(f"date_trunc('SECOND', {FROM_MS})"), "the second is a timestamp"),
        (on_pages(f"window({FROM_MS}, '1 second')"), "whole window"),
        (on_pages(partition="string(partition)"), "the partition is text"),
        (swapped, "The names are swapped"),
        (lambda c: count_by(c.where("click_type = 'page'")), "Nothing is left"),
        (lambda c: on_pages()(c).where("partition > 0"), "Compare the rows"),
        (lambda c: on_pages()(c).drop("partition"), "missing partition"),
        (lambda c: on_pages()(c).withColumnRenamed("views", "n"), "not asked for n"),
        (lambda c: on_pages()(c).count(), "of type int"),
        (on_pages(partition="number"), "no column `number`"),
        (lambda c: on_pages()(c).orderBy("second"), "can't be sorted"),
        (lambda c: on_pages()(c).withColumn("views", F.expr("views / 1")), "`views` is DOUBLE"),
        (lambda c: count_by(c.where("name LIKE '/%' AND reason IS NULL")), "judges by the name"),
        (shows, "It prints"),
    ],
    spark=True,
)

catalogues = (
    COMPLETED,
    ADD_UP,
    ON_SPARK,
)

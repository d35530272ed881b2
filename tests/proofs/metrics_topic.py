"""Chapter 03's exercises: wrong and right answers as learners may write them."""

from __future__ import annotations

import json
import struct
from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise

from proof import Catalogue
from pyspark.sql import functions as F  # noqa: N812

from workbook.events.clicks import ClickType
from workbook.exercises.chapters.metrics_topic.wrong_models import BY_HAND as BY_HAND_MODELS

# --- by hand ------------------------------------------------------------------------------------


def pages(clicks):
    return [c for c in clicks if c.click_type == "Page"]


def seconds(clicks):
    runs = groupby(pages(clicks), key=lambda click: click.epoch_second)
    return [(second, len(list(run))) for second, run in runs]


def text(number):
    return b"%d" % number


def grouped(clicks):
    return [(text(second), text(views)) for second, views in seconds(clicks)[:-1]]


def with_a_map(clicks):
    counts, produced = {}, []
    for click in clicks:
        if click.click_type == ClickType.ACTION:
            continue
        if counts and click.epoch_second not in counts:
            second, views = counts.popitem()
            produced.append((f"{second}".encode(), bytes(str(views), "ascii")))
        counts[click.epoch_second] = counts.get(click.epoch_second, 0) + 1
    return produced


def counts_first(clicks):
    counts = Counter(click.epoch_second for click in pages(clicks))
    return [(text(s), text(n)) for s, n in sorted(counts.items()) if s != max(counts)]


def loop(clicks, first=None, turns=True, counted=False, grows=False, of=lambda c: c.epoch_second):
    """The loop with its usual slips."""
    current, views, produced = first, 0, []
    for click in clicks:
        is_page = click.click_type == ClickType.PAGE
        if (is_page or turns) and of(click) != current:
            if current is not None:
                produced.append((str(current).encode(), str(views).encode()))
                views = views if grows else 0
            current = of(click)
        views += is_page or counted
    return produced


def labelled_with_the_new(clicks):
    current, views = None, 0
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            current = click.epoch_second
            yield text(current), text(views)
            views = 0
        current, views = click.epoch_second, views + 1


def change_is_not_counted(clicks):
    current, views = None, 0
    for click in pages(clicks):
        if current is not None and click.epoch_second != current:
            yield text(current), text(views)
            views = 0
        else:
            views += 1
        current = click.epoch_second


def only_actions(clicks):
    actions = [c for c in clicks if c.click_type == ClickType.ACTION]
    runs = groupby(actions, key=lambda click: click.epoch_second)
    return [(text(second), text(len(list(run)))) for second, run in runs][:-1]


def at_every_click(clicks):
    views = Counter()
    for click in pages(clicks):
        views[click.epoch_second] += 1
        yield text(click.epoch_second), text(views[click.epoch_second])


def fills_gaps(clicks):
    done = seconds(clicks)
    for (second, views), (new, _) in pairwise(done):
        yield text(second), text(views)
        yield from ((text(empty), b"0") for empty in range(second + 1, new))


def yields_parts(clicks):
    for key, value in grouped(clicks):
        yield key
        yield value


def returns_inside(clicks):  # noqa: RET503  (the mistake)
    views = Counter()
    for click in pages(clicks):
        views[click.epoch_second] += 1
        return []


def returns_the_first(clicks):  # noqa: RET503  (the mistake)
    for pair in grouped(clicks):
        return pair


def prints(clicks):
    for key, value in grouped(clicks):
        print(key, value)


def each(key=text, value=text):
    """The right seconds, with key and value in another form."""
    return lambda clicks: [(key(second), value(n)) for second, n in seconds(clicks)[:-1]]


def packed(number):
    return struct.pack(">q", number)


def as_json(clicks):
    return [
        (k, json.dumps({"second": int(k), "views": int(v)}).encode()) for k, v in grouped(clicks)
    ]


def as_named(click):
    """The kind that a click seems to have by its name."""
    kind = ClickType.PAGE if click.name.startswith("/") else ClickType.ACTION
    return replace(click, click_type=kind)


def zeros_between(clicks):
    sent = dict(seconds(clicks)[:-1])
    every = range(min(sent), max(sent) + 1) if sent else []
    return [(text(second), text(sent.get(second, 0))) for second in every]


def only_without_a_gap(clicks):
    counted = dict(seconds(clicks))
    return [(text(s), text(n)) for s, n in counted.items() if s + 1 in counted]


def without_duplicates(clicks):
    return grouped(list({click.event_id: click for click in clicks}.values()))


BY_HAND = Catalogue(
    right=[
        grouped,
        with_a_map,
        counts_first,
        lambda clicks: loop(clicks, turns=False),
        lambda clicks: map(tuple, grouped(clicks)),
    ],
    wrong=[
        (lambda clicks: loop(pages(clicks), first=0), "at the very first click"),
        (lambda clicks: [(text(s), text(n)) for s, n in seconds(clicks)], "sends the last second"),
        (labelled_with_the_new, "one second too late"),
        (change_is_not_counted, "click that changes the second is not counted"),
        (lambda clicks: loop(pages(clicks), grows=True), "goes on growing"),
        (lambda clicks: loop(clicks, counted=True), "takes actions for page views"),
        (lambda clicks: loop(clicks, turns=False, counted=True), "but they are counted"),
        (loop, "but it changes the second"),
        (only_actions, "turned round"),
        (at_every_click, "with every click"),
        (fills_gaps, "in which nobody looked"),
        (each(key=lambda second: text(second * 1000)), "key is in milliseconds"),
        (each(key=lambda second: str(second / 1).encode()), "key has a fraction"),
        (lambda cs: loop(pages(cs), of=lambda c: c.timestamp), "compares timestamps"),
        (lambda cs: loop(pages(cs), of=lambda c: c.timestamp / 1000), "with a fraction, so each"),
        (each(str, str), "it is text"),
        (each(int, int), "Key and value are numbers"),
        (each(key=str), "the key is no bytes yet"),
        (each(value=int), "the value is no bytes yet"),
        (each(packed, packed), "packs numbers"),
        (each(value=bytes), "zero bytes"),
        (as_json, "The value is JSON"),
        (lambda clicks: [(v, k) for k, v in grouped(clicks)], "swapped"),
        (lambda clicks: [(None, v) for _, v in grouped(clicks)], "There is no key"),
        (lambda clicks: [v for _, v in grouped(clicks)], "values alone"),
        (lambda clicks: [[*pair] for pair in grouped(clicks)], "each pair is a list"),
        (lambda clicks: dict(grouped(clicks)), "returns a dictionary"),
        (lambda clicks: iter([grouped(clicks)]), "one list with all pairs"),
        (yields_parts, "taken apart"),
        (returns_inside, "Nothing is ever sent"),
        (returns_the_first, "at the first completed second"),
        (prints, "prints the value"),
        (lambda clicks: loop(clicks[1:], turns=False), "The second changes twice"),
        (lambda second, views: (text(second), text(views)), "Keep the parameters"),
        ([(b"1700000000", b"42")], "without parentheses"),
        (lambda cs: loop(pages(cs), of=lambda c: c.epoch_second % 60), "second of the minute"),
        (lambda cs: grouped([as_named(c) for c in cs]), "judges by the name"),
    ],
    shortcuts=[
        (without_duplicates, "The same click came twice"),
        (zeros_between, "Nobody looked at a page in the two seconds"),
        (only_without_a_gap, "Nobody looked at a page in the two seconds"),
        (each(key=lambda second: f"17{second % 10**8:08}".encode()), "drawn by chance"),
    ],
    models=BY_HAND_MODELS,
)

# --- on Spark -----------------------------------------------------------------------------------


def by_columns(counts):
    return counts.select(
        F.col("views").cast("string").alias("value"), F.col("second").cast("string").alias("key")
    )


def renamed(counts):
    as_text = counts.withColumns({name: F.col(name).cast("string") for name in counts.columns})
    return as_text.withColumnsRenamed({"second": "key", "views": "value"})


def metrics(key="CAST(second AS STRING)", value="CAST(views AS STRING)"):
    return lambda counts: counts.selectExpr(f"{key} AS key", f"{value} AS value")


def merged(function):
    def answer(counts):
        return renamed(counts.groupBy("second").agg(function("views").alias("views")))

    return answer


def shows(counts):
    renamed(counts).show()


ON_SPARK = Catalogue(
    right=[by_columns, renamed, metrics("format_string('%d', second)", "string(views)")],
    wrong=[
        (metrics("second", "views"), "Both columns are still numbers"),
        (metrics(key="second"), "The key is still a number"),
        (metrics(value="views"), "The value is still a number"),
        (metrics("string(views)", "string(second)"), "swapped"),
        (metrics("CAST(second AS BINARY)", "CAST(views AS BINARY)"), "cannot cast"),
        (metrics("binary(string(second))", "binary(string(views))"), "The bytes are right"),
        (metrics(key="string(second * 1000)"), "in milliseconds"),
        (metrics(key="string(double(second))"), "was a double"),
        (metrics(key="string(timestamp_seconds(second))"), "a date and a time"),
        (metrics(value="format_number(views, 0)"), "formatted for people"),
        (metrics(value="to_json(struct(views))"), "JSON. The number"),
        (metrics(value="to_json(struct(second, views))"), "repeats the second"),
        (merged(F.max), "merged into one row"),
        (merged(F.sum), "added up"),
        (lambda counts: renamed(counts).distinct(), "Equal rows were dropped"),
        (lambda counts: renamed(counts.where("views IS NULL")), "Nothing is left"),
        (lambda counts: renamed(counts.where("views < 1000")), "Compare the rows"),
        (lambda counts: counts, "missing key, value; not asked for second, views"),
        (lambda counts: counts.selectExpr("*", "string(second) AS key"), "missing value"),
        (lambda counts: renamed(counts).withColumn("topic", F.lit("metrics")), "for topic"),
        (lambda counts: renamed(counts).collect(), "of type list"),
        (metrics(key="string(window.start)"), "no column `window`"),
        (lambda counts: renamed(counts).orderBy("key"), "can't be sorted"),
        (lambda counts: renamed(counts).toPandas(), "of pandas"),
        (shows, "It prints"),
    ],
    spark=True,
)

catalogues = (
    BY_HAND,
    ON_SPARK,
)

"""Exercises of chapter 05: why is one partition a luxury?"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from workbook.events.clicks import Click, ClickType
from workbook.events.reasons import Reason
from workbook.exercises.chapters.many_partitions import wrong_models, wrong_models_on_spark
from workbook.exercises.chapters.many_partitions.wrong_models import Arrival, Record
from workbook.exercises.engine.choice import Option, choice
from workbook.exercises.engine.core import Problem
from workbook.exercises.engine.drawn import (
    drawn_click,
    one_after_another,
    smallest_first,
)
from workbook.exercises.engine.frames import Row, by_rows
from workbook.exercises.engine.judging import Case, by_cases

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SECOND = 1_700_000_000


def _page(partition: int, at: int) -> Arrival:
    """Build a page view at this time in ms; its id is the time too, which keeps the cases short."""
    return partition, Click(at, ClickType.PAGE, "/home", at, "Firefox")


def _action(partition: int, at: int) -> Arrival:
    return partition, Click(at, ClickType.ACTION, "buy", at, "Firefox")


def _pages(*arrivals: tuple[int, int]) -> list[Arrival]:
    return [_page(partition, at) for partition, at in arrivals]


# --- by hand ------------------------------------------------------------------------------------


def completed(clicks: Iterable[Arrival], partitions: int) -> Iterator[tuple[int, int]]:
    views: Counter[int] = Counter()
    clocks: dict[int, int] = {}
    for partition, click in clicks:
        clocks[partition] = click.epoch_second
        if click.click_type == ClickType.PAGE:
            views[click.epoch_second] += 1
        if len(clocks) == partitions:
            slowest = min(clocks.values())
            for second in sorted(second for second in views if second < slowest):
                yield second, views.pop(second)


def _drawn_arrivals() -> Iterator[Case]:
    """Yield arrivals from partitions that are each in order, and each at another place."""
    draw = random.Random(6)
    for size in range(1, 41, 2):
        partitions, arrivals = draw.choice((1, 2, 3, 4, 6)), []
        clocks = [draw.choice((9_000, 59_000, SECOND * 1000))] * partitions
        for _ in range(size):
            at = draw.randrange(partitions)
            clocks[at] += draw.choice((100, 300, 700, 1_000, 2_500))
            arrivals.append((at, drawn_click(draw, clocks[at])))
        yield Case(
            (arrivals, partitions),
            list(completed(arrivals, partitions)),
            "These clicks were drawn by chance. Where does the slowest clock stand at the end?",
        )


_TEACHING_ARRIVALS = [
    Case(
        (
            _pages(
                (0, 10_100),
                (1, 10_500),
                (0, 11_200),
                (1, 10_900),
                (1, 11_300),
                (0, 12_100),
                (1, 12_400),
            ),
            2,
        ),
        [(10, 3), (11, 2)],
        "Second 10 is complete when both clocks have come to 11, and second 11 when both "
        "have come to 12.",
    ),
    Case(
        (_pages((0, 10_100), (0, 11_000), (0, 12_000)), 2),
        [],
        "Nothing has come from partition 1 yet. It may still bring views of second 10.",
    ),
    Case(
        (
            _pages(
                (0, 11_100),
                (1, 10_200),
                (0, 15_000),
                (1, 15_500),
                (0, 17_000),
                (1, 17_200),
            ),
            2,
        ),
        [(10, 1), (11, 1), (15, 2)],
        "Seconds 10 and 11 are complete at the same click, and the earlier one goes "
        "first. In the seconds between 11 and 15 there are no views to emit.",
    ),
    Case(
        (
            [
                *_pages((0, 10_100), (1, 10_200)),
                *(_action(0, 11_500), _action(1, 12_500)),
                _page(0, 13_000),
            ],
            2,
        ),
        [(10, 2)],
        "The two actions move the clocks to 11 and 12, so second 10 is complete. Nobody "
        "looked at a page in second 11.",
    ),
    Case(
        (
            _pages(
                (0, 10_000),
                (0, 11_000),
                (0, 12_000),
                (0, 13_000),
                (1, 10_500),
                (1, 13_200),
            ),
            2,
        ),
        [(10, 2), (11, 1), (12, 1)],
        "Partition 1 is behind, and everybody waits. Its last click completes three "
        "seconds at once.",
    ),
    Case(
        (
            _pages(
                (0, 10_000),
                (2, 10_400),
                (0, 11_000),
                (2, 11_100),
                (1, 10_800),
                (1, 11_900),
            ),
            3,
        ),
        [(10, 3)],
        "The slowest of the three clocks decides. It comes to 11 with the last click.",
    ),
    Case(
        (_pages((0, 10_100), (0, 10_900), (0, 11_000)), 1),
        [(10, 2)],
        "With one partition it is the rule of chapter 02.",
    ),
    Case(
        (
            [
                *_pages((0, 10_100), (1, 10_200), (0, 14_000), (1, 11_500), (0, 15_000)),
                *_pages((0, 16_000)),
            ],
            2,
        ),
        [(10, 2)],
        "Partition 0 has run ahead to 16, and partition 1 stands in second 11, which still goes "
        "on there. Only second 10 is complete.",
    ),
    Case(
        ([*_pages((0, 10_100), (1, 10_200)), _action(0, 11_500), _action(1, 12_500)], 2),
        [(10, 2)],
        "Only actions have come since, and they complete second 10: it's emitted then, not with "
        "the next page view.",
    ),
    Case(
        ([_page(0, 10_100), _action(1, 11_000), _page(0, 11_200)], 2),
        [(10, 1)],
        "Partition 1 has had an action only. That's a click as well: it sets the clock there.",
    ),
    Case(
        (_pages((0, 14_000), (1, 10_200)), 2),
        [],
        "Partition 1 has just come to second 10, which goes on there.",
    ),
    Case(
        (_pages((0, 10_100), (0, 700_000), (1, 10_500), (1, 11_000)), 2),
        [(10, 2)],
        "Partition 1 is more than eleven minutes behind. Its clicks count all the same, and second "
        "10 waits for them however long it takes.",
    ),
    Case(
        (_pages((0, 10_100), (0, 10_100), (1, 11_000), (0, 11_300)), 2),
        [(10, 2)],
        "The same click came twice, and both count. To leave out duplicates would take a memory of "
        "its own (chapter 14), and nobody asks for it here.",
    ),
    Case(([], 24), [], "No clicks give no pairs."),
]

slowest_clock = Problem(
    name="The slowest clock",
    task="Write the loop for a topic of several partitions. It gets pairs `(partition, click)` as "
    "they arrive, and the number of partitions. Within a partition the clicks come in the order of "
    "event time; between partitions there is no order. Give pairs `(second, views)`, in a list or "
    "by `yield`, once a second is complete on **all** partitions. Seconds go up, each is emitted "
    "once, and none with zero views.\n\n"
    "A partition's clock is the second of its newest click. An action moves the clock too, but is "
    "not counted. A partition that has had no click yet holds everything back. With two "
    "partitions, views `(0, 10.1 s)`, `(0, 11.2 s)` and `(1, 10.9 s)` give nothing yet; then "
    "`(1, 11.3 s)` gives `(10, 2)`.",
    stub="def completed(clicks, partitions):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_ARRIVALS, wrong_models.COMPLETED, any_iterable=True),
        by_cases(smallest_first(_drawn_arrivals()), wrong_models.SHORTCUTS, any_iterable=True),
    ),
    hints=(
        "For second 10 to be complete, what must you know of each partition? Which one of them "
        "tells it last?",
        "Keep two maps: from second to views, and from partition to its newest second. Everything "
        "before the smallest clock is complete, as soon as all partitions have a clock.",
        "`if len(clocks) == partitions:` says whether all have a clock, and "
        "`min(clocks.values())` is the slowest. Emit the seconds below it, sorted, and remove "
        "them.",
    ),
    reference=completed,
    discussion="The minimum of the clocks is the most cautious watermark there is. As long as each "
    "partition is in order, no click is ever late.\n\n"
    "It pays with patience: one idle partition of 24 holds everything back, and the map grows "
    "while we wait. Someone must send a click or a heartbeat now and then (chapter 07), or decide "
    "that a silent partition no longer counts. (The loop also looks at the whole map with each "
    "click. That is fine for a few seconds, and slow for an hour.)",
)

# --- the reader ---------------------------------------------------------------------------------


def views_by_second(records: Iterable[Record]) -> dict[int, int]:
    last = {record.key: int(record.value) for record in records}
    views: Counter[int] = Counter()
    for key, counted in last.items():
        second, _, _ = key.partition(b"/")
        views[int(second)] += counted
    return dict(views)


def _record(after: int, partition: int, views: int) -> Record:
    return Record(f"{SECOND + after}/{partition}".encode(), str(views).encode())


def _drawn_records() -> Iterator[Case]:
    """Yield records with seconds of one to eleven digits, partitions of one to three."""
    draw = random.Random(7)
    for size in range(1, 21):
        seconds = [draw.choice((9, 10, 123, SECOND, 12_345_678_901)) for _ in range(size)]
        keys = [f"{second}/{draw.choice((0, 3, 13, 27, 103))}".encode() for second in seconds]
        records = [Record(key, str(draw.choice((0, 3, 3, 120))).encode()) for key in keys]
        yield Case(
            (records,),
            views_by_second(records),
            "These records were drawn by chance, and seconds may have any number of digits. Which "
            "second differs?",
        )


_TEACHING_RECORDS = [
    Case(
        ([_record(0, 0, 3), _record(0, 1, 4), _record(1, 0, 5)],),
        {SECOND: 7, SECOND + 1: 5},
        "The first second stands in two partitions: 3 and 4 views make 7.",
    ),
    Case(
        ([_record(0, 0, 3), _record(0, 1, 4), _record(0, 0, 3)],),
        {SECOND: 7},
        "The metric of partition 0 was delivered twice. It counts once.",
    ),
    Case(
        ([_record(0, 0, 2), _record(0, 1, 4), _record(0, 0, 6), _record(0, 1, 1)],),
        {SECOND: 7},
        "Both partitions were corrected: 6 and 1 are their last values.",
    ),
    Case(
        ([_record(0, 2, 5), _record(0, 12, 7), _record(0, 22, 1)],),
        {SECOND: 13},
        "Partitions 2, 12 and 22 are three.",
    ),
    Case(
        ([_record(0, 0, 3), _record(0, 0, 3), _record(0, 1, 4)],),
        {SECOND: 7},
        "The metric of partition 0 was delivered twice, the second time right behind the first.",
    ),
    Case(
        ([_record(0, 1, 4), _record(0, 10, 5), _record(0, 100, 6)],),
        {SECOND: 15},
        "Partitions 1, 10 and 100 are three. The key is text: as a decimal, 1.1, 1.10 and 1.100 "
        "would be the same number.",
    ),
    Case(
        ([Record(b"1/23", b"4"), Record(b"12/3", b"5")],),
        {1: 4, 12: 5},
        "Second 1 in partition 23, and second 12 in partition 3: only the slash says where the "
        "second ends.",
    ),
    Case(
        ([_record(0, 3, 4), _record(0, 7, 4)],),
        {SECOND: 8},
        "Two partitions happen to have as many views. Both count.",
    ),
    Case(
        (
            [
                *(_record(0, 0, 1), _record(1, 0, 2), _record(0, 1, 3)),
                *(_record(1, 1, 4), _record(0, 0, 1)),
            ],
        ),
        {SECOND: 4, SECOND + 1: 6},
        "Two seconds with two partitions each, and one metric comes again.",
    ),
    Case(([],), {}, "An empty topic gives an empty dictionary."),
]

add_up = Problem(
    name="Add up the partitions",
    task="Two consumers now share the partitions, and each knows only a part of a second. So the "
    'key of a metric is second and partition, such as `b"1700000000/3"`, and the value is the '
    "views of that second in that partition. Write the reader. It gets a list of records with "
    "`.key` and `.value`, in the order of the topic, and returns a dictionary from second to "
    "views, whole numbers both: the last value of each key, added up over the partitions.\n\n"
    '`b"10/0"` with `b"3"`, `b"10/1"` with `b"4"`, and once more `b"10/0"` with `b"3"` give '
    "`{10: 7}`. All records are well formed here.",
    stub="def views_by_second(records):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_RECORDS, wrong_models.ADD_UP),
        by_cases(smallest_first(_drawn_records()), wrong_models.ADD_UP_SHORTCUTS),
    ),
    hints=(
        "Two things happen to values: some replace each other, others are added. Which is which, "
        "and which has to be done first?",
        "First a dictionary with the whole key, in which the last value wins. Then a second walk "
        "over it, which cuts the keys at the slash.",
        "`last = {record.key: int(record.value) for record in records}` is the first walk. The "
        "second one is yours.",
    ),
    reference=views_by_second,
    discussion="What is replaced must be exactly what one writer writes. With the second alone as "
    "key, two consumers would overwrite each other's parts; with the partition in it, each part "
    "has one owner, also after a rebalance, when another consumer goes on with that partition.\n\n"
    "The reader cannot tell whether all partitions have reported yet. Until the last one has, the "
    "sum of a second is too small and looks final.",
)

# --- the same on Spark --------------------------------------------------------------------------


def by_second_and_partition(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page' AND reason IS NULL")
    seconds = pages.selectExpr("timestamp div 1000 AS second", "partition")
    return seconds.groupBy("second", "partition").count().withColumnRenamed("count", "views")


_MS = SECOND * 1000
_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, reason STRING, partition INT"
)
_ROWS: list[Row] = [
    (1, "Page", "/home", _MS, "Firefox", "t1", None, 0),
    (2, "Page", "/hats", _MS + 999, "Firefox", "t1", None, 0),
    (3, "Page", "/home", _MS + 400, "Safari", None, None, 3),
    (4, "Action", "/buy", _MS + 600, "Safari", None, None, 3),
    (5, "Page", "shoes", _MS + 1_200, "Safari", None, None, 3),
    (6, "Page", "/home", _MS + 1_800, "Firefox", "t1", None, 3),
    (6, "Page", "/home", _MS + 1_800, "Firefox", "t1", None, 3),
    (7, "Action", "buy", _MS + 2_400, "Firefox", "t1", None, 0),
    (8, "Page", "/home", _MS + 60_100, "Chrome", "t2", None, 12),
    (9, "Page", "/home", _MS + 600_000, "Firefox", "t2", str(Reason.FUTURE), 0),
    (None, None, None, None, None, None, str(Reason.MALFORMED), 12),
]

per_partition_on_spark = Problem(
    name="Views per second and partition",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp` in ms, `browser`, `tab_id`, `reason`, `partition`) to one with the page views of "
    "each second in each partition: columns `second` (a whole number, seconds since 1970), "
    "`partition` and `views`. A rejected record has a `reason`; leave it out. Views at 10,000 and "
    "10,999 ms in partition 0 and at 10,500 ms in partition 3 give the rows `10, 0, 2` and "
    "`10, 3, 1`, in any order.",
    stub="def by_second_and_partition(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "second BIGINT, partition INT, views BIGINT",
        [
            (SECOND, 0, 2),
            (SECOND, 3, 1),
            (SECOND + 1, 3, 3),
            (SECOND + 60, 12, 1),
        ],
        wrong_models_on_spark.ON_SPARK,
        "Compare the rows: which views are in a wrong second or partition, and which are counted "
        "too often or not at all?",
    ),
    hints=(
        "It is chapter 02's query with a longer key. What makes up one group now?",
        "Take two columns with you, the second and the partition, and group by both. A column that "
        "you do not group by is gone after the count.",
        "`pages.selectExpr('timestamp div 1000 AS second', 'partition')` is the step in the "
        "middle.",
    ),
    reference=by_second_and_partition,
    discussion="This `partition` is that of the clicks' topic, and an ordinary column here. Spark "
    "has partitions of its own, into which it shuffles the groups, and the two have nothing to do "
    "with each other.\n\n"
    "Spark alone would not need it: one query sees all partitions and adds them up itself. It is "
    "for the format, so that loop and query can write to one topic. And the state grows by as many "
    "rows a second as there are partitions.",
)

# --- a slow partition ---------------------------------------------------------------------------

slow_partition = choice(
    name="A slow partition",
    task="A topic has two partitions. Partition 1 is stuck, and its page views of second 100 "
    "arrive only when those of partition 0 have come to second 160. Two programs count views per "
    "second: our loop with the minimum of the clocks, and a Spark query in append mode with a "
    "watermark of ten seconds. What becomes of these page views?",
    options=(
        Option(
            "both count them: each waits until partition 1 has caught up",
            "One of the two waits for the slowest partition. The other follows the newest "
            "event time that it has seen anywhere. Which is which?",
        ),
        Option("the loop counts them, because it has waited; Spark drops them as late"),
        Option(
            "the loop drops them as late; Spark counts them, because it has waited",
            "You have the two in mind, but which of them takes the minimum of the clocks?",
        ),
        Option(
            "both drop them: second 100 was over long ago",
            "The clock of partition 1 still stands before second 100. How far does the "
            "minimum come?",
        ),
        Option(
            "both emit second 100 twice, first without them and then with them",
            "The loop emits each second once, when all clocks have passed it. And append mode "
            "never takes back a row, nor adds to it.",
        ),
    ),
    hints=(
        "Which event times does each of the two look at, in order to know how far time has come?",
        "With partition 0 at 160, where does the loop's minimum stand? And where does Spark's "
        "watermark stand, ten seconds behind the newest event time of all?",
        "The loop stands where partition 1 stands, before 100. Spark's watermark is at 150.",
    ),
    discussion="Both decide how long to wait, and each fails in its own way. The minimum waits for "
    "the slowest, and loses nothing; an idle partition makes it wait for ever. The maximum over "
    "partitions waits for nobody; a slow partition's clicks come late, and are dropped without a "
    "word in the result. A longer lateness buys patience, and costs state and time.\n\n"
    "What was dropped has to be counted somewhere, or nobody will miss it. The chapter asks the "
    "ledger.",
)

problems = (slowest_clock, add_up, per_partition_on_spark, slow_partition)

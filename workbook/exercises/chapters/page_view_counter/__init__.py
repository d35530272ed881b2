"""Exercises of chapter 01: how many page views were there?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from workbook.errors import Rejected
from workbook.events.clicks import Click, ClickType
from workbook.events.reasons import Reason
from workbook.exercises.chapters.page_view_counter import wrong_models
from workbook.exercises.chapters.page_view_counter.wrong_models import Record
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

NOON = 1_700_000_000_000
DeadLetter = tuple[str, int, int]


def _click(event_id: int, click_type: ClickType, name: str, timestamp: int = NOON) -> Click:
    return Click(event_id, click_type, name, timestamp, "Firefox")


def _record(partition: int, offset: int, what: Click | bytes | None) -> Record:
    value = what.to_json() if isinstance(what, Click) else what
    return Record(partition, offset, NOON + 1_000, value)


PAGE = _click(1, ClickType.PAGE, "/home")
ACTION = _click(2, ClickType.ACTION, "add-to-basket")

# --- one step by hand ---------------------------------------------------------------------------


def next_count(count: int, click: Click) -> int:
    if click.click_type == ClickType.PAGE:
        return count + 1
    return count


def _drawn_steps() -> Iterator[Case]:
    draw = random.Random(1)
    for _ in range(20):
        count, click = draw.randrange(10**6), drawn_click(draw, draw.randrange(NOON))
        yield Case(
            (count, click),
            next_count(count, click),
            "A click's kind stands in its `click_type` and nowhere else: its name, its id and its "
            "browser don't say it.",
        )


def _other_counts() -> list[Case]:
    """Return the clicks of the teaching cases, after other counts."""
    return [
        Case((count, click), next_count(count, click), "The count so far may be any number.")
        for count in (1, 8, 9, 100, 999_999)
        for click in (PAGE, ACTION)
    ]


_TEACHING_STEPS = [
    Case((7, PAGE), 8, "A page view makes the count one larger."),
    Case((0, PAGE), 1, "The first page view makes the count 1."),
    Case((7, ACTION), 7, "An action leaves the count as it is."),
    Case((0, ACTION), 0, "An action before any page view leaves the count at 0."),
]

one_step = Problem(
    name="One step",
    task="Write the step that takes the count so far and one `Click`, and returns the next count. "
    "Only page views count, actions do not: a page after 7 gives 8, an action after 7 leaves 7.",
    stub="def next_count(count, click):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_STEPS, wrong_models.ONE_STEP),
        by_cases(_other_counts()),
        by_cases(smallest_first(_drawn_steps())),
    ),
    hints=(
        "There are two kinds of click. What should happen to the count for each of them?",
        "A click knows its kind in `click_type`; the kinds stand in `ClickType`. Whatever the "
        "kind, a number has to come back.",
        "For a page, `return count + 1`. And otherwise?",
    ),
    reference=next_count,
    discussion="The step keeps nothing by itself: all that is known stands in `count`, which the "
    "caller holds. So it is easy to test, and whoever loses the number loses everything.\n\n"
    "It believes each click: one that is delivered twice is counted twice (chapters 04 and 14).",
)

# --- the same with bad records ------------------------------------------------------------------


def count_records(records: Iterable[Record]) -> tuple[int, list[DeadLetter]]:
    count = 0
    dead_letters: list[DeadLetter] = []
    for record in records:
        try:
            click = Click.from_json(record.value, record.arrival)
        except Rejected as rejected:
            dead_letters.append((rejected.reason, record.partition, record.offset))
            continue
        if click.click_type == ClickType.PAGE:
            count += 1
    return count, dead_letters


_HOME = _record(0, 5, PAGE)
_TOO_NEW = _click(3, ClickType.PAGE, "/home", NOON + 600_000)
_BEFORE_1970 = _click(4, ClickType.PAGE, "/home", -1)

bad_records = Problem(
    name="Count on past bad records",
    task="Read raw records (`partition`, `offset`, `arrival`, `value`) with `Click.from_json`, "
    "which raises `Rejected` for what it cannot read. Return `(count, dead_letters)`: the number "
    "of page views, and for each rejected record `(reason, partition, offset)`. Two page views "
    "around a broken record at offset 42 of partition 1 give "
    '`(2, [("malformed JSON", 1, 42)])`.',
    stub="def count_records(records):\n    ...  # your code\n",
    diagnose=by_cases(
        [
            Case(
                ([_HOME, _record(1, 42, b'{"event_id":'), _HOME._replace(offset=6)],),
                (2, [(Reason.MALFORMED.value, 1, 42)]),
                "One record in the middle is broken; both page views around it count.",
            ),
            Case(
                ([_HOME, _record(0, 6, ACTION), _HOME._replace(offset=7)],),
                (2, []),
                "All three can be read, and two of them are page views.",
            ),
            Case(
                ([_record(0, 8, None), _record(2, 9, _BEFORE_1970), _record(0, 10, PAGE)],),
                (1, [(Reason.EMPTY.value, 0, 8), (Reason.NEGATIVE.value, 2, 9)]),
                "An empty value and a negative timestamp both are dead letters, in this order.",
            ),
            Case(
                ([_HOME, _record(0, 6, _TOO_NEW)],),
                (1, [(Reason.FUTURE.value, 0, 6)]),
                "The second click lies ten minutes after its arrival, and is a dead letter.",
            ),
            Case(
                ([_record(2, 7, b"{"), _record(0, 9, b"["), _record(2, 8, None), _HOME],),
                (
                    1,
                    [
                        (Reason.MALFORMED.value, 2, 7),
                        (Reason.MALFORMED.value, 0, 9),
                        (Reason.EMPTY.value, 2, 8),
                    ],
                ),
                "Three broken records, each a dead letter of its own, in the order of arrival.",
            ),
            Case(
                (
                    [
                        *(_HOME, _record(0, 6, _TOO_NEW)),
                        _record(0, 7, _TOO_NEW)._replace(arrival=NOON + 600_000),
                    ],
                ),
                (2, [(Reason.FUTURE.value, 0, 6)]),
                "The same click comes twice. The second time it comes ten minutes later, just when "
                "it was made, and isn't from the future.",
            ),
            Case(
                ([_record(0, 0, b"{"), _record(1, 0, b"{"), _HOME],),
                (1, [(Reason.MALFORMED.value, 0, 0), (Reason.MALFORMED.value, 1, 0)]),
                "Two partitions begin with a broken record. Each has an offset 0 of its own, and "
                "there are two dead letters.",
            ),
            Case(([],), (0, []), "No records give a count of 0 and no dead letters."),
        ],
        wrong_models.BAD_RECORDS,
    ),
    hints=(
        "Where can reading a record fail, and which lines must still run for the next record?",
        "Put `try` and `except` inside the loop, around the reading only. The exception brings "
        "its reason; the record knows where it came from.",
        "In the `except`, append `(rejected.reason, record.partition, record.offset)` and go on.",
    ),
    reference=count_records,
    discussion="Nothing that arrives stops the count or disappears: page views, actions and dead "
    "letters together are all the records.\n\n"
    "The list of dead letters grows in memory and forgets the original bytes. The chapter sends "
    "both to a topic of their own, where they outlive the program.",
)

# --- the same on Spark --------------------------------------------------------------------------


def views_per_name(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page' AND reason IS NULL")
    return pages.groupBy("name").count().withColumnRenamed("count", "views")


_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, reason STRING"
)
_ROWS: list[Row] = [
    (1, "Page", "/home", NOON, "Firefox", "t1", None),
    (1, "Page", "/home", NOON, "Firefox", "t1", None),  # delivered twice: each row counts
    (2, "Page", "/home", NOON + 400, "Safari", "t3", None),
    (3, "Page", "/shoes", NOON, "Safari", None, None),
    (4, "Action", "/shoes", NOON, "Safari", None, None),
    (5, "Action", "add-to-basket", NOON, "Safari", None, None),
    (6, "Page", "Start", NOON, "Safari", None, None),
    (7, "Page", "/home", NOON + 600_000, "Firefox", "t2", str(Reason.FUTURE)),
    (8, "Page", "/hats", -1, "Chrome", None, str(Reason.NEGATIVE)),
    (None, None, None, None, None, None, str(Reason.MALFORMED)),
]


on_spark = Problem(
    name="Views per name on Spark",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp`, `browser`, `tab_id`, `reason`) to one with the page views of each name: columns "
    "`name` and `views`. A rejected record has a `reason`; leave it out. Every row counts, "
    "even one that came before. Two views of home and one of shoes give the rows `/home, 2` and "
    "`/shoes, 1`, in any order.",
    stub="def views_per_name(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "name STRING, views BIGINT",
        [("/home", 3), ("/shoes", 1), ("Start", 1)],
        wrong_models.ON_SPARK,
        "Compare the rows: which clicks are counted too often, or not at all?",
    ),
    hints=(
        "It takes three steps: which rows stay, what belongs together, what is counted.",
        "Use `where` for the rows (mind that null is compared with `IS NULL`), then `groupBy` and "
        "a count; give its column the name that is asked for.",
        "`pages.groupBy('name').count().withColumnRenamed('count', 'views')` counts; `pages` is "
        "for you.",
    ),
    reference=views_per_name,
    discussion="The function opens no session and no topic, so the same lines run over this small "
    "batch and over an endless stream. On a stream the counts are Spark's state.\n\n"
    "There is no window: each name stays in the state for ever, and a visitor who makes up names "
    "makes it grow (chapters 02 and 05).",
)

# --- after a restart ----------------------------------------------------------------------------

after_restart = choice(
    name="After a restart",
    task="1,000 page views lie in one partition, at offsets 0 to 999. The program counts in a "
    "variable. It has counted 500, its group has committed offset 500, and it is killed. We start "
    "it again with the same group, and it reads to the end. Which count does it show?",
    options=(
        Option(
            "1,000: Kafka gave the count back",
            "Kafka keeps the records and the group's offset. What did it ever hear of the "
            "variable?",
        ),
        Option("500: it counts only the rest"),
        Option(
            "501: the last record before the end is read twice",
            "A committed offset is the next one to be read, not the last one that was.",
        ),
        Option(
            "1,500: it reads everything again and adds it",
            "For this both must go wrong: the offset would have to be lost, and the variable "
            "to be kept. Which of the two lives in the broker?",
        ),
        Option(
            "0: the group has had its records",
            "The group has had the records before its committed offset. How many lie behind it?",
        ),
    ),
    hints=(
        "There are two memories here: one lives in the broker, one in the program.",
        "Ask of each memory whether it is still there after the kill, and then continue by hand: "
        "where does reading start, and where does counting start?",
        "Reading starts at offset 500, and the variable starts at 0.",
    ),
    discussion="The offset outlived the program and the count did not, so the two no longer belong "
    "together. Had nothing been committed, and were the group to start at the earliest record, the "
    "count would be 1,000 again: by luck, and by reading everything.\n\n"
    "What helps is to keep count and offset together, in one place that survives. That is what "
    "Spark's checkpoint does, and what chapter 04 does by hand.",
)

problems = (one_step, bad_records, on_spark, after_restart)

"""Exercises of chapter 02: how many page views were there per second?"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from workbook.events.clicks import Click, ClickType
from workbook.events.reasons import Reason
from workbook.exercises.chapters.views_per_second import wrong_models, wrong_models_on_spark
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


def _page(at: int) -> Click:
    """Build a page view at this time in ms; its id is the time too, which keeps the cases short."""
    return Click(at, ClickType.PAGE, "/home", at, "Firefox")


def _action(at: int) -> Click:
    return Click(at, ClickType.ACTION, "buy", at, "Firefox")


def _pages(*times: int) -> list[Click]:
    return [_page(at) for at in times]


# --- by hand ------------------------------------------------------------------------------------


def completed(clicks: Iterable[Click]) -> list[tuple[int, int]]:
    counts: dict[int, int] = {}
    emitted = []
    for click in clicks:
        if click.click_type == ClickType.PAGE:
            second = click.epoch_second
            if counts and second not in counts:
                emitted.append(counts.popitem())
            counts[second] = counts.get(second, 0) + 1
    return emitted


def _drawn_streams() -> Iterator[Case]:
    """Yield streams of one to twenty clicks, some of them late, over seconds of any size."""
    draw = random.Random(2)
    for size in range(1, 21):
        at, clicks = draw.choice((59_000, 9_999_000, SECOND * 1000)), []
        for _ in range(size):
            at += draw.choice((100, 400, 900, 900, 2_500, 60_000, -1_000))
            clicks.append(drawn_click(draw, at))
        yield Case(
            (clicks,),
            completed(clicks),
            "These clicks were drawn by chance. Follow them through your lines: where does the "
            "first pair differ?",
        )


_TEACHING_STREAMS = [
    Case(
        (_pages(10_200, 10_900, 11_100, 12_000),),
        [(10, 2), (11, 1)],
        "The second changes twice, so two seconds are emitted, each with its own views.",
    ),
    Case((_pages(10_200),), [], "One click completes nothing: its second goes on."),
    Case(
        ([_page(10_100), _action(10_500), _action(11_200), *_pages(10_900, 12_300)],),
        [(10, 2)],
        "Leave out the two actions, and only seconds 10, 10 and 12 are left.",
    ),
    Case(
        ([_action(9_500), *_pages(10_000, 11_000)],),
        [(10, 1)],
        "An action before the first page view completes nothing.",
    ),
    Case(
        (_pages(10_000, 11_000, 14_000),),
        [(10, 1), (11, 1)],
        "The second jumps from 11 to 14: one change, so one more pair.",
    ),
    Case(
        (_pages(10_100, 10_200, 11_000, 10_800, 11_500, 12_000),),
        [(10, 2), (11, 1), (10, 1), (11, 1)],
        "The fourth click is late. Second 10 was emitted and removed, so it starts again "
        "at 1, and each change emits, also the change back.",
    ),
    Case(
        (_pages(10_100, 20_000, 21_000),),
        [(10, 1), (20, 1)],
        "Nobody looked at a page in the seconds between 10 and 20, so there are no pairs of them.",
    ),
    Case(
        (_pages(10_100, 20_000, 10_500, 21_000),),
        [(10, 1), (20, 1), (10, 1)],
        "The third click is ten seconds late. However late it is, it counts, and the change back "
        "emits. A limit for late clicks comes in chapter 05.",
    ),
    Case(
        (_pages(10_100, 10_100, 11_000),),
        [(10, 2)],
        "The same click came twice, and both count. To leave out duplicates would take a memory of "
        "its own (chapter 14), and nobody asks for it here.",
    ),
    Case(([],), [], "No clicks give no pairs."),
]

by_rule = Problem(
    name="Completed seconds",
    task="Write the loop with a map from second to count. It gets `Click`s in the order in which "
    "they arrive, and gives pairs `(second, count)`, in a list or by `yield`: when the second "
    "changes, the completed one is emitted and removed from the map. Actions neither count nor "
    "change the second; the last second is unfinished, so it is not emitted. Page views in the "
    "seconds 10, 10, 11 and 12 give `(10, 2)` and `(11, 1)`.\n\n"
    "If a late click brings second 10 back, that is a change too: 10 starts again at 1.",
    stub="def completed(clicks):\n    ...  # your code\n",
    diagnose=one_after_another(
        by_cases(_TEACHING_STREAMS, wrong_models.COMPLETED, any_iterable=True),
        by_cases(smallest_first(_drawn_streams()), wrong_models.SHORTCUTS, any_iterable=True),
    ),
    hints=(
        "Go through the example with a pencil. What is in the map before and after each click? At "
        "which clicks do you emit, and why not at the first?",
        "A click knows its second in `epoch_second`. For a page view ask first whether there is an "
        "older second in the map that is now complete; then count the click, in any case.",
        "`if counts and second not in counts:` is the change, and false at the first click. "
        "`counts.popitem()` removes the pair and returns it.",
    ),
    reference=completed,
    discussion="The map holds one second at a time, however long the stream is: removing is what "
    "keeps the state small. And an empty map says that nothing came before, so there is no second "
    "0 to emit. (Whoever starts with `current = 0` must remember that 0 means nothing yet.)\n\n"
    "Two weaknesses stay. Only a change emits, so the last second waits for the next page view, "
    "be it an hour later. And a late click makes the second change back: second 10 is emitted "
    "twice, and no pair says that it is only a part. With many partitions this is the rule, not "
    "the exception; chapter 05 repairs it.",
)

# --- the same on Spark --------------------------------------------------------------------------


def views_per_second(clicks: DataFrame) -> DataFrame:
    pages = clicks.where("click_type = 'Page' AND reason IS NULL")
    seconds = pages.selectExpr("timestamp div 1000 AS second")
    return seconds.groupBy("second").count().withColumnRenamed("count", "views")


_MS = SECOND * 1000
_SCHEMA = (
    "event_id BIGINT, click_type STRING, name STRING, timestamp BIGINT, browser STRING, "
    "tab_id STRING, reason STRING"
)
_ROWS: list[Row] = [
    (1, "Page", "/home", _MS, "Firefox", "t1", None),
    (2, "Page", "/home", _MS + 999, "Firefox", "t1", None),
    (2, "Page", "/home", _MS + 999, "Firefox", "t1", None),
    (3, "Page", "/shoes", _MS + 1_200, "Safari", None, None),
    (4, "Action", "buy", _MS + 1_300, "Safari", None, None),
    (5, "Page", "hats", _MS + 1_800, "Firefox", "t1", None),
    (6, "Action", "/buy", _MS + 2_400, "Firefox", "t1", None),
    (7, "Page", "/home", _MS + 60_100, "Chrome", "t2", None),
    (8, "Page", "/home", _MS + 600_000, "Firefox", "t2", str(Reason.FUTURE)),
    (9, "Page", "/hats", -5_000, "Chrome", None, str(Reason.NEGATIVE)),
    (None, None, None, None, None, None, str(Reason.MALFORMED)),
]

per_second_on_spark = Problem(
    name="Views per second on Spark",
    task="Write a function from a DataFrame of clicks (`event_id`, `click_type`, `name`, "
    "`timestamp` in ms, `browser`, `tab_id`, `reason`) to one with the page views of each second: "
    "columns `second` (a whole number, seconds since 1970) and `views`. A rejected record has a "
    "`reason`; leave it out. Views at 10,000, 10,999 and 11,200 ms give the rows `10, 2` and "
    "`11, 1`, in any order.",
    stub="def views_per_second(clicks):\n    ...  # your code\n",
    diagnose=by_rows(
        _SCHEMA,
        _ROWS,
        "second BIGINT, views BIGINT",
        [(SECOND, 3), (SECOND + 1, 2), (SECOND + 60, 1)],
        wrong_models_on_spark.ON_SPARK,
        "Compare the rows: which views are in a wrong second, and which are counted too often or "
        "not at all?",
    ),
    hints=(
        "It is chapter 01's query with another key: which rows stay, what belongs together, what "
        "is counted. How do you get from milliseconds to a second?",
        "In Spark `/` gives a double, as in Python. SQL has `div` for whole numbers, and there is "
        "`floor`. Make the second a column first, then group by its name.",
        "`pages.selectExpr('timestamp div 1000 AS second')` is the step in the middle; the one "
        "before it and the one after it are yours.",
    ),
    reference=views_per_second,
    discussion="Order does not matter here: a late click simply makes its second's number larger, "
    "and nobody emits anything twice in a batch. (`div` cuts towards zero, which is right because "
    "negative timestamps were rejected.)\n\n"
    "On a stream the price is the state: to Spark a bigint is a number like any other, so each "
    "second stays in the state for ever. A `window` over `timestamp_millis(timestamp)` gives the "
    "same counts, and together with a watermark it tells Spark which seconds may be forgotten.",
)

# --- a quiet minute -----------------------------------------------------------------------------

quiet_minute = choice(
    name="A quiet minute",
    task="The loop that we wrote by hand runs on a topic. Three page views come in second 10. Then "
    "nobody clicks for a whole minute, until one more page view comes. When does the loop emit "
    "second 10?",
    options=(
        Option(
            "at once, with each of the three clicks",
            "Each click makes the count in the map larger. Which line of the loop emits, and "
            "what must have happened before?",
        ),
        Option(
            "when second 11 begins",
            "Who tells the loop that second 11 begins? It looks at no clock: all it knows of "
            "time comes from the clicks.",
        ),
        Option(
            "one second after the last of the three clicks",
            "There is no timer in the loop. Between two clicks none of its lines that could "
            "emit is run.",
        ),
        Option("with the next page view, a minute later"),
        Option(
            "never: after such a break second 10 is lost",
            "Second 10 is still in the map, and nothing has removed it. What would complete it?",
        ),
    ),
    hints=(
        "Which line of the loop emits, and when is that line run?",
        "The loop reads the time from the clicks and from nowhere else. What does it know of time "
        "while nobody clicks?",
        "It waits for a change of the second, and only another page view can bring that.",
    ),
    discussion="In event time no time passes while no event comes. At night the last second of the "
    "day waits until morning, and on the chart the shop seems to stand still with three visitors.\n"
    "\nA clock on the wall would emit sooner, and would be wrong whenever clicks are merely "
    "delayed. Spark's watermark has the same patience, for it too is moved by events. Chapter 07 "
    "sends heartbeats, so that time goes on in silence.",
)

# --- update and append --------------------------------------------------------------------------

two_modes = choice(
    name="Update and append",
    task="The same query runs twice: page views per window of one second, with a watermark of ten "
    "seconds, once in `update` mode and once in `append` mode. Page views come in second 10, and "
    "more in the seconds after it, for a minute. Which one shows second 10 first, and whose number "
    "is final?",
    options=(
        Option(
            "append shows it first, because it has no old rows to look after; both are final",
            "A row that was appended cannot be taken back. So what must Spark be sure of "
            "before it appends second 10?",
        ),
        Option(
            "update shows it first, and what it shows first is final",
            "Update shows what is known after each micro-batch. What if the next one brings "
            "another view of second 10?",
        ),
        Option("update shows it first, and may correct it; append shows it later, once, and final"),
        Option(
            "both show it when the watermark has passed second 10, for it decides for both",
            "One of the two does wait for it. The other sends each row that has changed, "
            "after each micro-batch.",
        ),
        Option(
            "only update shows it; append never does, because a count can always change",
            "Without a watermark it would be so, and Spark refuses such a query. What does "
            "the watermark promise about views of second 10?",
        ),
    ),
    hints=(
        "Think of two readers: one may be corrected, the other may not.",
        "The watermark says that no older views are taken any more. Which mode needs this promise "
        "before it shows a number, and which can do without?",
        "Update sends each changed row at once. Append waits until a row cannot change.",
    ),
    discussion="Append is what our loop does, with ten seconds of patience: it emits a completed "
    "second once. Update is for a chart or a table, where the last value of a second replaces the "
    "one before.\n\n"
    "Final has its price: a view that is later than the watermark is dropped without a word in the "
    "result. And append waits for clicks as the loop did, because only they move the watermark.",
)

problems = (by_rule, per_second_on_spark, quiet_minute, two_modes)

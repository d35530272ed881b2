"""Exercises of chapter 31: which applications are alive?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.active_groups.two_tables import two_tables
from workbook.lessons.active_groups.windows_on_spark import windows_on_spark
from workbook.views import pipeline as draw

offsets = draw.topic("__consumer_offsets", 8, compacted=True)
joined = draw.query("active_groups", state="commits, metadata")

paths = (
    (
        draw.producer("applications"),
        offsets,
        draw.loop("next_group", state="groups"),
        draw.sink("by_hand"),
    ),
    (offsets, joined, draw.sink("table")),
    (offsets, draw.query("windows", state="minutes"), draw.sink("minutes")),
)

problems = (two_tables, windows_on_spark)

recall = Recall(
    Question(
        "06",
        "A consumer stops polling, and its process lives on. When do others get its partitions?",
        (
            Option(
                "once its session times out",
                "A thread of the client's own goes on with the heartbeats. What runs out is "
                "`max.poll.interval.ms`.",
            ),
            Option("once `max.poll.interval.ms` is over"),
            Option(
                "never, as long as the process lives",
                "The client notices that nobody polls, and leaves the group by itself.",
            ),
        ),
    ),
    Question(
        "20",
        "What does a tombstone do to a table?",
        (
            Option("It takes out the row of its key"),
            Option(
                "It empties the table",
                "It has a key, like any other record, and is about that key alone.",
            ),
            Option(
                "Nothing: it has no value to store",
                "That there's no value is what it states: the key's row is no longer true.",
            ),
        ),
    ),
    Question(
        "02",
        "What does a watermark do to a query's windows?",
        (
            Option(
                "It starts a new window each second",
                "Windows come from the events' times. A watermark ends them.",
            ),
            Option(
                "It holds late events back until their turn",
                "Spark holds nothing back. Late ones count while their window is open.",
            ),
            Option("It ends the state of those that it has passed"),
        ),
    ),
)

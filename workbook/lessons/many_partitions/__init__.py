"""Exercises of chapter 05: why is one partition a luxury?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.many_partitions.slow_partition import slow_partition
from workbook.lessons.many_partitions.slowest_clock import slowest_clock
from workbook.views import pipeline as draw

send = draw.producer("send")
loop = draw.loop("completed", state="clocks")
query = draw.query("per_second", state="window")

paths = (
    (draw.producer("generate"), draw.topic("clicks", 24), loop, draw.sink("told")),
    (draw.producer("visitors"), draw.topic("night", 4), loop),
    (send, draw.topic("slow", 24), query, draw.sink("emitted", "list")),
    (send, draw.topic("backlog", 2), query),
)

problems = (slowest_clock, slow_partition)

recall = Recall(
    Question(
        "00",
        "Two records have the same key, and one producer writes them. Where do they lie?",
        (
            Option("on the same partition, in the order of appending"),
            Option(
                "on one partition, the later event time behind the earlier one",
                "The same partition, yes. But offsets are given in the order of appending: the "
                "broker doesn't look at event times.",
            ),
            Option(
                "on any partition: the broker spreads the load",
                "The producer's partitioner chooses, not the broker, and it goes by the key.",
            ),
        ),
    ),
    Question(
        "02",
        "A query has a watermark with a delay of five seconds. The newest event time is 12:00:20. "
        "Which page views may be dropped?",
        (
            Option("those older than 12:00:15"),
            Option(
                "those that arrive more than five seconds after they happened",
                "Arrival plays no part in it. The watermark compares event times with the newest "
                "event time.",
            ),
            Option(
                "none: the window stays open until all of its page views are there",
                "No window knows how many are missing. The watermark decides when it closes.",
            ),
        ),
    ),
    Question(
        "03",
        "A second stands in the metrics topic three times, under the same key. What does a reader "
        "do?",
        (
            Option("it keeps the last value"),
            Option(
                "it adds up the three values",
                "A metric is the whole count of its second. Who adds up counts a repeated one "
                "twice.",
            ),
            Option(
                "it keeps the largest value",
                "A correction may be smaller. The last value of a key counts.",
            ),
        ),
    ),
)

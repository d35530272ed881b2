"""Exercises of chapter 10: which order belongs to which visit?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.merge_by_key.combine_parts import combine_parts
from workbook.lessons.merge_by_key.totals_on_spark import totals_on_spark
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking", 4), draw.topic("orders", 4)
by_hand = draw.loop("combine, by hand", state="visits")
on_spark = draw.query("combine, per ssid", state="visit")

paths = (
    (draw.producer("the shop"), tracking, by_hand, draw.sink("visits")),
    (draw.producer("the cash desk"), orders, by_hand),
    (tracking, on_spark, draw.sink("merged")),
    (orders, on_spark),
)

problems = (combine_parts, totals_on_spark)

recall = Recall(
    Question(
        "00",
        "Two records of one topic have the same key, and both producers choose the partition by "
        "the same hash. Where do they lie?",
        (
            Option("in one partition"),
            Option(
                "in any two partitions",
                "So it is without a key. With one, its hash modulo the number of partitions says "
                "where.",
            ),
            Option(
                "at one offset",
                "Each record has an offset of its own; a key is no address.",
            ),
        ),
    ),
    Question(
        "04",
        "A producer that got no answer sends a record again, and the first one had arrived after "
        "all. What may a reader meet, if the producer isn't idempotent?",
        (
            Option("the same record twice"),
            Option("nothing, because both are dropped", "Nobody drops what the broker has taken."),
            Option(
                "one record, because the broker compares values",
                "It doesn't look at values. An idempotent producer numbers its records, and the "
                "broker looks at the numbers.",
            ),
        ),
    ),
    Question(
        "05",
        "A loop reads all partitions of a topic. In which order does it get the records?",
        (
            Option("in each partition by offset, between partitions as it happens"),
            Option(
                "by event time",
                "Nobody sorts by event time. Each fetch brings what a partition has next.",
            ),
            Option(
                "in the order in which they were sent, over all partitions",
                "Only within a partition. Between them there's no order.",
            ),
        ),
    ),
)

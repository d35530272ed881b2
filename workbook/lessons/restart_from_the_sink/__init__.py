"""Exercises of chapter 13: where do we start again after a new release?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.restart_from_the_sink.what_to_carry import what_to_carry
from workbook.lessons.restart_from_the_sink.where_to_start import where_to_start
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking", 2), draw.topic("orders", 2)
on_spark = draw.query("merged_visits", state="visits, clock")

paths = (
    (
        draw.producer("producer"),
        draw.topic("source"),
        draw.loop("batch", state="visits, next"),
        draw.topic("sink"),
    ),
    (tracking, on_spark, draw.topic("visits", 2)),
    (orders, on_spark),
)

problems = (what_to_carry, where_to_start)

recall = Recall(
    Question(
        "04",
        "A query with a checkpoint has written micro-batch 7 to its topic, and is killed before it "
        "commits 7. What does its next start do?",
        (
            Option(
                "it goes on with micro-batch 8",
                "It doesn't know that 7 was written: the commit is what would say so.",
            ),
            Option("it runs micro-batch 7 again, on the same offsets"),
            Option(
                "it begins where `startingOffsets` says",
                "That counts for a query without a checkpoint only.",
            ),
        ),
    ),
    Question(
        "10",
        "Both topics are partitioned alike, by the visit. What follows for a visit's messages?",
        (
            Option(
                "they have the same offset in both topics",
                "Each partition counts its own records: offsets of two topics have nothing to do "
                "with each other.",
            ),
            Option(
                "they're spread over all partitions",
                "A key has one partition. Spread, no single task could merge them.",
            ),
            Option("they lie in the partition of the same number in both topics"),
        ),
    ),
    Question(
        "11",
        "A visit is open: its messages were read, and it isn't complete. Where are they?",
        (
            Option("in the query's state, and in the topics as long as these keep them"),
            Option(
                "in the query's state only",
                "Reading removes nothing from a topic. Only retention or compaction does.",
            ),
            Option(
                "in the sink, as a part that will be replaced",
                "The merge emits a visit once it's complete, and nothing before.",
            ),
        ),
    ),
)

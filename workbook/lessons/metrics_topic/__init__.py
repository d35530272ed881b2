"""Exercises of chapter 03: how do others get the numbers?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.metrics_topic.publish_a_count import publish_a_count
from workbook.lessons.metrics_topic.records_on_spark import records_on_spark
from workbook.views import pipeline as draw

clicks, metrics = draw.topic("clicks"), draw.topic("metrics", 3)
loop = draw.loop("publish_seconds", state="views")

paths = (
    (
        draw.producer("shop, visitors"),
        clicks,
        loop,
        metrics,
        draw.loop("follow"),
        draw.sink("latest"),
    ),
    (clicks, draw.query("as_records", state="window"), metrics),
    (loop, draw.topic("clicks.dead-letters")),
)

problems = (publish_a_count, records_on_spark)

recall = Recall(
    Question(
        "00",
        "One producer sends two records with the same key. What does Kafka promise?",
        (
            Option("They lie in one partition, in the order in which it sent them"),
            Option(
                "The second replaces the first",
                "A topic keeps both. A reader may keep the last one of each key, and a compacted "
                "topic removes older ones later.",
            ),
            Option(
                "All readers get them in the order of their event time",
                "Kafka knows nothing of event time: the offset is the order of appending.",
            ),
        ),
    ),
    Question(
        "01",
        "A loop counts in a variable and has committed offset 500. It's killed and started again. "
        "Where does it go on?",
        (
            Option("At offset 500, counting from 0"),
            Option(
                "At offset 500, with its count",
                "The offset lives in the broker, the variable lived in the program.",
            ),
            Option(
                "At offset 0, counting from 0",
                "Its group has committed an offset, and auto.offset.reset only counts where there "
                "is none.",
            ),
        ),
    ),
    Question(
        "02",
        "A query counts per second in update mode. When does it emit a second's row?",
        (
            Option("Whenever its count has changed since the last micro-batch"),
            Option(
                "Once, when the watermark has passed it",
                "That's append mode. Update mode emits unfinished seconds too.",
            ),
            Option(
                "In each micro-batch, with all other seconds",
                "That's complete mode, which keeps all seconds for ever.",
            ),
        ),
    ),
)

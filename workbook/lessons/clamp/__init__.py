"""Exercises of chapter 12: what if one stream runs ahead?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.clamp.four_cases import four_cases
from workbook.lessons.clamp.pause_and_resume import pause_and_resume
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking"), draw.topic("orders")
by_hand = draw.loop("pause and resume", state="tops")
on_spark = draw.query("merged_visits", state="visits, clock")

paths = (
    (draw.producer("the shop"), tracking, by_hand, draw.sink("read", "lists")),
    (draw.producer("the cash desk"), orders, by_hand),
    (tracking, on_spark, draw.sink("visits")),
    (orders, on_spark),
)

problems = (four_cases, pause_and_resume)

recall = Recall(
    Question(
        "04",
        "Where does a Spark query note which records a micro-batch will read?",
        (
            Option(
                "in the consumer group's offsets, in the broker",
                "Spark commits nothing there: it joins no group that anybody could look at.",
            ),
            Option("in its checkpoint, before it reads them"),
            Option(
                "in its checkpoint, after the sink has them",
                "That's the note that the batch is done. The offsets stand there before it runs.",
            ),
        ),
    ),
    Question(
        "10",
        "Why do tracking and orders need the same number of partitions?",
        (
            Option("so that a visit's messages have the same partition number in both"),
            Option(
                "because Kafka allows a consumer no other topics",
                "A consumer reads any topics, with any number of partitions each.",
            ),
            Option(
                "so that both are read equally fast",
                "Partitions say nothing about speed: one topic may have ten times the messages.",
            ),
        ),
    ),
    Question(
        "11",
        "Tracking has come to 50, orders to 5. What does the clock of both topics show?",
        (
            Option(
                "50",
                "Then a visit could be emitted whose order, of second 20, is yet to come.",
            ),
            Option(
                "nothing, until both have come to the same time",
                "Both have given something. The slower one's time is a clock.",
            ),
            Option("5"),
        ),
    ),
)

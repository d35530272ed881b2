"""Exercises of chapter 11: when is a visit complete?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.event_time_timeout.both_clocks import both_clocks
from workbook.lessons.event_time_timeout.timed_out import timed_out
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking", 4), draw.topic("orders", 4)
by_hand = draw.loop("merge and time out", state="visits, clock")
on_spark = draw.query("merged_visits", state="visits, clock")

paths = (
    (draw.producer("the shop"), tracking, by_hand, draw.sink("complete")),
    (draw.producer("the cash desk"), orders, by_hand),
    (tracking, on_spark, draw.sink("emitted")),
    (orders, on_spark),
)

problems = (both_clocks, timed_out)

recall = Recall(
    Question(
        "02",
        "A query has a watermark with a delay of five seconds. What is the watermark?",
        (
            Option("the newest event time that was seen, less five seconds"),
            Option(
                "the time on the wall, less five seconds",
                "Nobody looks at the wall. Where no event comes, a watermark stands still.",
            ),
            Option(
                "the newest arrival, less five seconds",
                "Arrival is when the broker took a record. The watermark goes by the event's own "
                "time.",
            ),
        ),
    ),
    Question(
        "05",
        "A loop keeps a clock per partition, and completes a second when the slowest has passed "
        "it. One partition falls silent. What happens?",
        (
            Option("nothing is completed any more"),
            Option(
                "the others go on without it",
                "Not by this rule: nobody knows whether it's empty or only slow.",
            ),
            Option(
                "its clock goes on with the others'",
                "A clock moves by what its partition gives, and it gives nothing.",
            ),
        ),
    ),
    Question(
        "10",
        "What does a merge by `combine` need to know about the order in which messages come?",
        (
            Option("nothing"),
            Option(
                "that tracking messages come before orders",
                "An order may be first: the parts are combined the other way round, to the same.",
            ),
            Option(
                "that messages of a visit come by event time",
                "They're sorted when they're combined.",
            ),
        ),
    ),
)

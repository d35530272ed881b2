"""Exercises of chapter 02: how many page views were there per second?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.views_per_second.by_rule import by_rule
from workbook.lessons.views_per_second.per_second_on_spark import per_second_on_spark
from workbook.views import pipeline as draw

clicks = draw.topic("clicks")

paths = (
    (
        draw.producer("shop, visitors"),
        clicks,
        draw.loop("completed", state="map"),
        draw.sink("by_hand"),
    ),
    (clicks, draw.query("views_per_second", state="window"), draw.sink("by_spark")),
)

problems = (by_rule, per_second_on_spark)

recall = Recall(
    Question(
        "00",
        "Two clicks lie in one partition, at the offsets 7 and 8. What do you know?",
        (
            Option("the one at 7 was appended before the one at 8"),
            Option(
                "the one at 7 happened before the one at 8",
                "Offsets keep the order of appending. When a click happened stands in the click "
                "itself.",
            ),
            Option(
                "they are of one visitor",
                "All clicks of a visitor are in one partition, and clicks of others as well.",
            ),
        ),
    ),
    Question(
        "01",
        "A loop counts in a variable, and its consumer group commits. It ends, and starts again. "
        "Where does it go on?",
        (
            Option("at the group's offset, with a count of 0"),
            Option(
                "at the group's offset, with the count that it had",
                "The offset was kept by the broker. The count was in the memory of a program that "
                "has ended.",
            ),
            Option(
                "at offset 0, with a count of 0",
                "So it would without a commit, and with `auto.offset.reset` at `earliest`. A "
                "committed offset comes first.",
            ),
        ),
    ),
    Question(
        "01",
        "What does a streaming query of Spark find in its checkpoint after a restart?",
        (
            Option("offsets, and the state that belongs to them"),
            Option(
                "offsets only: it reads again from there to count anew",
                "From there on only the new records would be counted. The counts so far are the "
                "state, and it's kept, too.",
            ),
            Option(
                "the records that it has read",
                "Those stay in Kafka. A checkpoint keeps how far they were read, and what was "
                "made of them.",
            ),
        ),
    ),
)

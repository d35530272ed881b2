"""Exercises of chapter 02: how many page views were there per second?"""

from workbook.classroom.questions import Recall
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
    {
        "00: Two clicks are in one partition, at the offsets 7 and 8. What do you know?": {
            "the one at 7 was appended before the one at 8": "",
            "the one at 7 happened before the one at 8": "The offset is the order in which the "
            "broker appended the clicks. Only the click itself says when it happened.",
            "both are from the same visitor": "A partition contains all clicks of a visitor, but "
            "clicks of other visitors, too.",
        },
        "01: A loop counts in a variable, and its consumer group commits. It ends, and starts "
        "again. Where does it continue?": {
            "at the group's offset, with a count of 0": "",
            "at the group's offset, with the count that it had": "The broker has kept the offset, "
            "but the count was in the memory of a program that has ended.",
            "at offset 0, with a count of 0": "It would do so without a committed offset, if "
            "`auto.offset.reset` is `earliest`. A committed offset takes precedence.",
        },
        "01: What does a streaming query of Spark find in its checkpoint after a restart?": {
            "offsets, and the state that belongs to them": "",
            "only offsets: it reads from there and counts from 0": "Then it would count only the "
            "new records. The counts so far are the state, and the checkpoint keeps the state, "
            "too.",
            "the records that it has read": "The records stay in Kafka. A checkpoint keeps the "
            "offsets up to which they were read, and the state that was computed from them.",
        },
    }
)

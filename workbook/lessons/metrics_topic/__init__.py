"""Exercises of chapter 03: how do others get the numbers?"""

from workbook.classroom.questions import Recall
from workbook.lessons.metrics_topic.publish_a_count import publish_a_count
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

problems = (publish_a_count,)

recall = Recall(
    {
        "00: One producer sends two records with the same key. What does Kafka promise?": {
            "They are in one partition, in the order in which the broker appended them": "",
            "The second replaces the first": "A topic keeps both. A reader may keep only the last "
            "record of each key, and a compacted topic later deletes the older records of a key.",
            "All readers get them in the order of their event time": "Kafka doesn't know the event "
            "time. The order is that of appending.",
        },
        "01: A loop counts in a variable and has committed offset 500. It's killed and started "
        "again. Where does it continue?": {
            "At offset 500, counting from 0": "",
            "At offset 500, with its count": "The broker keeps the offset, but the variable was in "
            "the program's memory.",
            "At offset 0, counting from 0": "A valid committed offset takes precedence over "
            "`auto.offset.reset`.",
        },
        "02: A query counts per second in update mode. When does it emit the row of a second?": {
            "Whenever the count has changed since the last micro-batch": "",
            "Once, when the watermark has passed the second": "That's append mode. Update mode "
            "emits unfinished seconds, too.",
            "In each micro-batch, with all other seconds": "That's complete mode, which keeps all "
            "seconds for ever.",
        },
    }
)

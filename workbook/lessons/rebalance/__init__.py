"""Exercises of chapter 06: who reads which partition, and what happens when that changes?"""

from workbook.classroom.questions import Recall
from workbook.lessons.rebalance.add_up import add_up
from workbook.lessons.rebalance.open_seconds import open_seconds
from workbook.views import pipeline as draw

clicks, counts = draw.topic("clicks", 6), draw.topic("counts")

paths = (
    (
        draw.producer("visitors"),
        clicks,
        draw.loop("A: count", state="opened"),
        counts,
        draw.sink("views_by_second", "reader"),
    ),
    (clicks, draw.loop("B: count", state="opened"), counts),
)

problems = (add_up, open_seconds)

recall = Recall(
    {
        "01: A group has committed offset 7 on a partition, and a reader of the group starts. What "
        "does it read first?": {
            "the record at offset 7": "",
            "the record at offset 8": "A committed offset is the next one to read, not the last "
            "one that was read.",
            "the first record, by `auto.offset.reset=earliest`": "That setting counts only without "
            "a valid offset: the group has none there, it has expired, or its record is deleted.",
        },
        "04: With `enable.auto.commit=true`, what does a committed offset promise?": {
            "that the records before it were handed to the loop": "",
            "that the records before it were counted and published": "The client can't know that. "
            "It commits what `poll` has handed out.",
            "that the loop's count is stored with it": "The offset is a single number. The count "
            "is only in the loop's memory.",
        },
        "05: One loop reads all 24 partitions and keeps a clock for each. When is a second "
        "complete?": {
            "when the slowest clock has passed it": "",
            "when the fastest clock has passed it": "The other partitions may still deliver page "
            "views of that second. Spark's watermark follows the fastest clock, minus its delay.",
            "when a record of the next second arrives": "In one ordered partition, yes. Between "
            "partitions there is no order.",
        },
    }
)

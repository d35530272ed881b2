"""Exercises of chapter 04: what if it crashes right now?"""

from workbook.classroom.questions import Recall
from workbook.lessons.at_least_once.after_the_kill import after_the_kill
from workbook.lessons.at_least_once.offset_to_commit import Send, offset_to_commit
from workbook.views import pipeline as draw

__all__ = ["Send", "after_the_kill", "offset_to_commit", "problems", "recall"]

clicks, metrics = draw.topic("clicks"), draw.topic("metrics")

paths = (
    (
        clicks,
        draw.loop("auto_commit", state="ids"),
        metrics,
        draw.sink("keeps_last, adds_up", "readers"),
    ),
    (clicks, draw.loop("on_delivery", state="ids, sends"), metrics),
    (clicks, draw.query("spark_lab", state="checkpoint"), metrics),
)

problems = (after_the_kill, offset_to_commit)

recall = Recall(
    {
        "01: A loop that counts in a variable is started again with the same group. Where does it "
        "continue, and with which count?": {
            "at the committed offset, with a count of 0": "",
            "at the committed offset, with its old count": "The broker keeps the group's offset. "
            "The count was a variable of the process.",
            "at the first record, with a count of 0": "auto.offset.reset decides only without a "
            "valid offset: the group has none, it has expired, or its record is deleted.",
        },
        "02: Spark counts by window, in append mode. When does it emit a second?": {
            "once the watermark has passed its end": "",
            "once the second is over by the clock": "Only events move event time: without new "
            "events nothing is emitted.",
            "with each click that changes its count": "That's update mode. Append mode emits a row "
            "once, when it can't change any more.",
        },
        "03: produce() has returned. What do you know?": {
            "the record waits in the client's queue": "",
            "the broker has the record": "The client sends in the background. Only the delivery "
            "report says whether the broker has it.",
            "the record will arrive, sooner or later": "It may be refused, or time out. Only the "
            "callback on_delivery learns that.",
        },
    }
)

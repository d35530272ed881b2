"""Exercises of chapter 04: what if it crashes right now?"""

from workbook.classroom.questions import Recall, choice
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

after_the_kill = choice(
    name="After the kill",
    task="One partition contains ten page views. Those at offsets 0 to 3 are of second 10, those "
    "at 4 to 7 of second 11, and those at 8 and 9 of second 12. The loop with auto-commit has read "
    "up to offset 6. The metric of second 10 is delivered, and three views of second 11 are "
    "counted in memory. The client has just committed offset 7 by itself. Now kill -9 ends the "
    "loop, and we start it again with the same group. Which value is published for second 11?",
    options={
        "4: all its views are counted again": "For that, the loop would have to read again from "
        "offset 4. What would make it do that?",
        "3: it continues where it was": "Three is what the process had counted in memory. Does a "
        "process's memory survive kill -9? Besides, the view at offset 7 hasn't been read yet.",
        "1: only the view at offset 7": "",
        "none: second 11 is never published": "The restarted loop reads the view at offset 7, "
        "which is of second 11. What does it do when it reads offset 8?",
        "7: three from before and four again": "The group continues at offset 7, so no view is "
        "read twice. And the three views in memory are gone.",
    },
    hints=(
        "Two places record the progress: the group's offset in the broker, and the count in "
        "memory. Which of them survives?",
        "Begin at the committed offset with an empty memory, and do by hand what the loop does.",
        "After the restart the loop reads offsets 7, 8 and 9. At offset 8 a new second begins.",
    ),
    discussion="Three page views are lost, and nothing looks wrong: second 11 has a value, but "
    "it's too small. Auto-commit records what was read, but we need a record of what is done.\n\n"
    "Offset 4 would have been safe: it's the first record of the second whose metric hasn't been "
    "delivered yet. A restart from there counts all of second 11, and publishes 4.",
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

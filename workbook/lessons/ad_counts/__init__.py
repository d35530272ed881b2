"""Exercises of chapter 41: how is my ad doing?"""

from workbook.classroom.questions import Recall
from workbook.lessons.ad_counts.once import fenced
from workbook.lessons.ad_counts.per_day import per_day
from workbook.views import pipeline as draw

producer = draw.producer("producer")
late, week, stream = draw.topic("late"), draw.topic("week"), draw.topic("ad_actions")

paths = (
    (producer, late, draw.query("windows", state="windows"), draw.sink("seen")),
    (producer, week, draw.query("counts_per_day"), draw.sink("counts", "table in PostgreSQL")),
    (
        draw.producer("actions"),
        stream,
        draw.query("ad_statistics", state="hashes"),
        draw.sink("counts, fates", "tables in PostgreSQL"),
    ),
)

problems = (per_day, fenced)

recall = Recall(
    {
        "02: A query counts by window, with a watermark of five seconds. When does Spark remove a "
        "window's count from its state?": {
            "when a micro-batch has emitted it": "In update mode Spark emits the count whenever it "
            "changes, and keeps it for later events.",
            "when the watermark has passed the window's end": "",
            "five seconds after its last event, by the clock on the wall": "The watermark moves "
            "with event time. While no event arrives, nothing is removed.",
        },
        "04: Spark dies after a micro-batch was written to the sink, but before the checkpoint's "
        "commit. What does Spark do after the next start?": {
            "it runs the micro-batch again, with the same number and the same offsets": "",
            "it continues with the next micro-batch": "The checkpoint has no commit of this "
            "micro-batch, so Spark must run it again.",
            "it plans a new micro-batch, with all records that have arrived meanwhile": "Spark "
            "wrote the plan to `offsets` before it ran the micro-batch, and reuses it.",
        },
        "22: A query wrote letters into a table, died and started again. Why did nobody get a "
        "second letter?": {
            "the checkpoint knew the letters": "A checkpoint has offsets and state, but it doesn't "
            "know the rows in the sink.",
            "the second letter replaced the first one": "The table would need a key for each "
            "letter: a client gets several letters.",
            "the table held the micro-batch's number, written in the same transaction": "",
        },
    }
)

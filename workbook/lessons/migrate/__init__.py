"""Exercises of chapter 44: and the old data?"""

from workbook.classroom.questions import Recall
from workbook.lessons.migrate.day_by_day import day_by_day
from workbook.views import pipeline as draw

job = draw.query("migrate: a task per range")

paths = (
    (draw.sink("old counts", "table in Cassandra"), job, draw.sink("counts", "in PostgreSQL")),
    (job, draw.sink("ranges, rejected_rows", "in PostgreSQL")),
)

problems = (day_by_day,)

recall = Recall(
    {
        "40: What does the query do with a message that it can't decode?": {
            "it writes the message to the dead letters, with the reason": "",
            "it stops": "Then one bad message would stop all good ones behind it.",
            "it drops the message": "The dead letters keep its bytes, for a repair.",
        },
        "41: Spark hands a micro-batch in again after a crash. Why is it counted once?": {
            "the upsert writes the same count again": "The upsert adds the counts to the old ones.",
            "its counts and its mark in `fence` are one transaction": "",
            "Spark's checkpoint was committed before": "Spark commits it after the write.",
        },
        "43: A day is replayed. What does the page show of that day until the replay has ended?": {
            "nothing, since its rows are deleted first": "The old generation is deleted in the "
            "transaction that shows the new one.",
            "as much as the replay has counted": "The replay writes into a generation that is "
            "hidden until it has ended.",
            "the old counts, and new actions": "",
        },
    }
)

"""Exercises of chapter 31: which applications are alive?"""

from workbook.classroom.questions import Recall
from workbook.lessons.active_groups.two_tables import two_tables
from workbook.views import pipeline as draw

paths = (
    (
        draw.producer("applications"),
        draw.topic("__consumer_offsets", 8, compacted=True),
        draw.query("next_group", state="groups"),
        draw.sink("table"),
    ),
)

problems = (two_tables,)

recall = Recall(
    {
        "06: A consumer stops polling, but its process lives on. When do other members get its "
        "partitions?": {
            "once its session times out": "A background thread of the client still sends "
            "heartbeats. The time that runs out is `max.poll.interval.ms`.",
            "once `max.poll.interval.ms` has passed": "",
            "never, as long as the process lives": "The client notices that nobody polls, and "
            "leaves the group by itself.",
        },
        "20: What does a tombstone do to a table?": {
            "It removes the row of its key": "",
            "It empties the table": "A tombstone has a key, like any other record, and concerns "
            "that key alone.",
            "Nothing: it has no value to store": "The missing value says that the key's row is no "
            "longer true.",
        },
        "10: A query groups by key. How often does Spark call its processor's `handleInputRows`?": {
            "once for each record": "It gets all of a key's new rows at once, as an iterator.",
            "once for each key that has state": "Spark doesn't call it for a key without new rows.",
            "once per micro-batch for each key with new rows": "",
        },
    }
)

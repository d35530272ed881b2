"""Exercises of chapter 60: which watermark would you choose, and what would it cost you?"""

from workbook.classroom.questions import Recall
from workbook.lessons.your_own_stream.dropped_by_a_delay import dropped_by_a_delay
from workbook.lessons.your_own_stream.lateness_on_spark import lateness_on_spark
from workbook.views import pipeline as draw

fleet = draw.topic("fleet", 4)
count = draw.query("readings per minute", state="window")

paths = (
    (draw.producer("producer"), draw.topic("ten"), count),
    (draw.producer("phones"), fleet, draw.query("batch"), draw.sink("lateness", "table")),
    (fleet, draw.query("explore"), draw.sink("a report", "picture")),
)

problems = (lateness_on_spark, dropped_by_a_delay)

recall = Recall(
    {
        "02: A query counts page views per second, in append mode, with a watermark. When does it "
        "emit a second?": {
            "when the watermark has passed the second's end": "",
            "when the first page view of the next second arrives": "Then the delay would do "
            "nothing. The watermark is behind the newest event time by the delay.",
            "in each micro-batch that has counted a page view of it": "That is update mode. Append "
            "mode emits a row once, when it can't change any more.",
        },
        "05: At night nobody writes to one of four partitions. Who waits for it?": {
            "Spark's watermark": "Spark takes the newest event time of all partitions, so a silent "
            "one holds nothing back.",
            "a loop that takes the minimum of the partitions' clocks": "",
            "both of them": "Only one of the two looks at the slowest partition.",
        },
        "40: A query remembers the hashes of events for ten minutes. An event is sent again after "
        "three hours. What does the query do?": {
            "it drops the second one as a duplicate": "It has forgotten the hash of the first one "
            "after ten minutes.",
            "it fails, because the hash has expired": "An expired hash is the normal case: the "
            "query just doesn't find it.",
            "it takes the second one for a new event": "",
        },
    }
)

"""Exercises of chapter 05: why is one partition a luxury?"""

from workbook.classroom.questions import Recall
from workbook.lessons.many_partitions.slow_partition import slow_partition
from workbook.lessons.many_partitions.slowest_clock import slowest_clock
from workbook.views import pipeline as draw

send = draw.producer("send")
loop = draw.loop("completed", state="clocks")
query = draw.query("per_second", state="window")

paths = (
    (draw.producer("generate"), draw.topic("clicks", 24), loop, draw.sink("told")),
    (draw.producer("visitors"), draw.topic("night", 4), loop),
    (send, draw.topic("slow", 24), query, draw.sink("emitted", "list")),
    (send, draw.topic("backlog", 2), query),
)

problems = (slowest_clock, slow_partition)

recall = Recall(
    {
        "00: One producer writes two records with the same key. Where are they stored?": {
            "in the same partition, in the order of appending": "",
            "in the same partition, in the order of their event times": "The same partition, yes. "
            "But offsets follow the order of appending, because the broker doesn't look at event "
            "times.",
            "in any partition, because the broker spreads the load": "The broker doesn't choose. "
            "The producer's partitioner does, by a hash of the key.",
        },
        "02: A query has a watermark with a delay of five seconds. The newest event time is "
        "12:00:20. Which page views may be dropped?": {
            "those older than 12:00:15": "",
            "those that arrive more than five seconds after they happened": "The time of arrival "
            "doesn't matter. The watermark compares an event time with the newest event time.",
            "none, because a window stays open until all of its page views are there": "No window "
            "knows how many page views are missing. The watermark closes it.",
        },
        "03: The metrics topic has three records for one second, with the same key. What does a "
        "reader do with them?": {
            "it keeps the last value": "",
            "it adds up the three values": "A metric is the whole count of its second. A reader "
            "that adds up counts a repeated metric twice.",
            "it keeps the largest value": "A correction may be smaller. The last value of a key "
            "counts.",
        },
    }
)

"""Exercises of chapter 40: which events count?"""

from workbook.classroom.questions import Recall
from workbook.lessons.clean_and_dedup.fate import fate_of_a_value
from workbook.lessons.clean_and_dedup.ten_minutes import ten_minutes
from workbook.views import pipeline as draw

long_lived = draw.topic("actions.long-lived", 2)
count = draw.query("ad_statistics", state="hashes")

paths = (
    (draw.producer("producer"), draw.topic("actions"), draw.loop("copy"), long_lived),
    (long_lived, draw.loop("account", "hashes"), draw.sink("totals")),
    (long_lived, count, draw.sink("fates")),
    (count, draw.topic("dead letters")),
)

problems = (fate_of_a_value, ten_minutes)

recall = Recall(
    {
        "04: A program copies records to another topic. It's killed after a copy was delivered, "
        "but before the program committed the offset. What is in the other topic after the "
        "restart?": {
            "each record once": "The restart begins at the committed offset, so it copies the "
            "record again.",
            "some records twice": "",
            "some records are missing": "It commits only after the copy was delivered. So only the "
            "commit is missing.",
        },
        "05: The records of partition 0 are an hour newer than those of partition 1. Where is "
        "Spark's watermark?": {
            "behind the newest record of partition 0": "",
            "behind the newest record of partition 1": "Spark takes the newest event time of all "
            "partitions of a topic.",
            "each partition has its own": "Some systems do that. Spark has one watermark for the "
            "whole topic.",
        },
        "10: A producer in Python and one in Java send records with the same key, both with their "
        "default settings. Are both records in the same partition?": {
            "yes, a key has one partition": "The producer chooses the partition, and these two use "
            "different hash functions.",
            "no, each client has its own partitions": "Every client may write to every partition, "
            "and the two may choose the same one.",
            "not always: their partitioners differ": "",
        },
    }
)

"""Exercises of chapter 10: which order belongs to which visit?"""

from workbook.classroom.questions import Recall
from workbook.lessons.merge_by_key.combine_parts import combine_parts
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking", 4), draw.topic("orders", 4)
by_hand = draw.loop("combine, by hand", state="visits")
on_spark = draw.query("combine, per ssid", state="visit")

paths = (
    (draw.producer("the shop"), tracking, by_hand, draw.sink("visits")),
    (draw.producer("checkout"), orders, by_hand),
    (tracking, on_spark, draw.sink("merged")),
    (orders, on_spark),
)

problems = (combine_parts,)

recall = Recall(
    {
        "00: Two records of one topic have the same key, and both producers choose the partition "
        "by the same hash. Where are these records stored?": {
            "in the same partition": "",
            "in any two partitions": "That's true of records without a key. With a key, the hash "
            "of the key, modulo the number of partitions, determines the partition.",
            "at one offset": "Each record has an offset of its own, whatever its key is.",
        },
        "04: A producer got no answer for a record, so it sends the record again. But the first "
        "one had arrived. What may a reader find?": {
            "the same record twice": "",
            "neither record, because both are dropped": "A broker that recognises a repeated "
            "record keeps the first one.",
            "one record, because the broker compares values": "The broker doesn't look at values. "
            "It recognises a repeated record by its number. Python's producer numbers records only "
            "if you ask for it, as in chapter 05. Java's does by default.",
        },
        "05: A loop reads all partitions of a topic. In which sequence does it get the records?": {
            "by offset within each partition, in no fixed sequence between partitions": "",
            "by event time": "Nothing sorts the records by event time. A partition delivers them "
            "by offset.",
            "in the order in which they were sent, over all partitions": "That sequence is kept "
            "within a partition only, not between partitions.",
        },
    }
)

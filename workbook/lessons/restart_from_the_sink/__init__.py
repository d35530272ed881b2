"""Exercises of chapter 13: where do we start again after a new release?"""

from workbook.classroom.questions import Recall
from workbook.lessons.restart_from_the_sink.what_to_carry import what_to_carry
from workbook.lessons.restart_from_the_sink.where_to_start import where_to_start
from workbook.views import pipeline as draw

tracking, orders = draw.topic("tracking", 2), draw.topic("orders", 2)
on_spark = draw.query("merged_visits", state="visits, clock")

paths = (
    (
        draw.producer("producer"),
        draw.topic("source"),
        draw.loop("batch", state="visits, next"),
        draw.topic("sink"),
    ),
    (tracking, on_spark, draw.topic("visits", 2)),
    (orders, on_spark),
)

problems = (what_to_carry, where_to_start)

recall = Recall(
    {
        "04: A query has written micro-batch 7 to its topic, and is killed before its checkpoint "
        "notes that 7 is done. What does it do when it's started again?": {
            "it continues with micro-batch 8": "Only the missing note would tell it that 7 was "
            "written.",
            "it runs micro-batch 7 again, with the same offsets": "",
            "it begins at the offsets in `startingOffsets`": "Spark uses that option only if the "
            "query has no checkpoint yet.",
        },
        "10: Both topics are partitioned by visit, in the same way. What follows for a visit's "
        "messages?": {
            "they have the same offset in both topics": "Each partition counts its own records, so "
            "offsets of two topics are unrelated.",
            "they're spread over all partitions": "All records with one key are in one partition, "
            "so that one task can merge them.",
            "they're in the partition of the same number in both topics": "",
        },
        "11: A visit is open: some messages were read, and it isn't complete. Where are they?": {
            "in the query's state, and in the topics until retention deletes them": "",
            "in the query's state only": "Reading removes nothing from a topic. Only retention or "
            "compaction does.",
            "in the sink, as a part that will be replaced": "The merge emits a visit when it's "
            "complete, and nothing before.",
        },
    }
)

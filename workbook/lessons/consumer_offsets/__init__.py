"""Exercises of chapter 30: who reads what?"""

from workbook.classroom.questions import Recall
from workbook.lessons.consumer_offsets.offset_key import offset_key
from workbook.views import pipeline as draw

offsets = draw.topic("__consumer_offsets", 8, compacted=True)

paths = (
    (
        draw.topic("clicks", 2),
        draw.loop("counter"),
        offsets,
        draw.loop("read_all"),
        draw.sink("latest"),
    ),
    (offsets, draw.query("active_groups", state="checkpoint"), draw.sink("store")),
)

problems = (offset_key,)

recall = Recall(
    {
        "04: A group has committed offset 7 of a partition. Which record does it read next?": {
            "the record at offset 7": "",
            "the record at offset 8": "A committed offset is the next one to read.",
            "the newest record": "The setting auto.offset.reset counts only if the group has no "
            "valid offset.",
        },
        "20: A key of a compacted topic has three records, and the last one has no value. What "
        "does compaction leave?": {
            "the second record, because it has the last value": "The record without a value is a "
            "tombstone: it deletes the key.",
            "all three records, because a delete is an event, too": "Compaction removes records "
            "that were overwritten.",
            "at first the tombstone, and later none of them": "",
        },
        "06: A second member joins a group that reads one partition. What does it read?": {
            "every second record": "A partition is read by one member of a group at a time.",
            "nothing, as long as the first member keeps the partition": "",
            "all records, like the first member": "Two groups would both read all records. Members "
            "of one group share them.",
        },
    }
)

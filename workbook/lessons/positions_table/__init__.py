"""Exercises of chapter 20: what is true now?"""

from workbook.classroom.questions import Recall
from workbook.lessons.positions_table.filtered_table import filtered_table
from workbook.lessons.positions_table.latest_on_spark import latest_on_spark
from workbook.views import pipeline as draw

positions = draw.topic("positions", compacted=True)

paths = (
    (draw.producer("producer"), positions, draw.loop("next_table", state="table")),
    (positions, draw.query("latest", state="newest row"), draw.sink("held")),
    (positions, draw.query("Table", state="kept"), draw.loop("filtered"), draw.sink("us")),
)

problems = (latest_on_spark, filtered_table)

recall = Recall(
    {
        "00: A topic has four partitions. Two records with the same key are sent, an hour apart. "
        "To which partitions?": {
            "to any partition": "That's true of records without a key. The hash of a key chooses "
            "the partition.",
            "to the same partition": "",
            "to all four": "A partition is a part of the topic, not a copy: each record is in one "
            "partition.",
        },
        "03: A metrics topic holds two records of one second: first 4 views, then 5. How many "
        "views were there?": {
            "4": "The later record corrects the earlier one, because the second wasn't over yet.",
            "9": "That adds up totals. Each record holds the whole count of its second, not the "
            "views since the record before.",
            "5": "",
        },
        "04: A Spark query with `startingOffsets` `earliest` crashes and is started again with its "
        "checkpoint. Where does it continue?": {
            "at the offsets in its checkpoint": "",
            "at the first offset of the topic": "The option startingOffsets counts only if the "
            "checkpoint is new.",
            "at the offsets committed for its consumer group": "Spark's source commits nothing to "
            "the broker. Its offsets are in the checkpoint.",
        },
    }
)

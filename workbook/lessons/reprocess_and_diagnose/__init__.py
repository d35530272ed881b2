"""Exercises of chapter 43: we had a bug; now what?"""

from workbook.classroom.questions import Recall
from workbook.lessons.reprocess_and_diagnose.one_for_two import one_for_two
from workbook.lessons.reprocess_and_diagnose.replay import replay
from workbook.views import pipeline as draw

actions = draw.topic("ad_actions", 2)
table = draw.sink("counts, viewers", "tables in PostgreSQL, by generation")

paths = (
    (draw.producer("actions"), actions, draw.query("live", state="hashes"), table),
    (actions, draw.query("replay", state="hashes"), table),
    (actions, draw.sink("archive", "Parquet files by day")),
)

problems = (one_for_two, replay)

recall = Recall(
    {
        "13: Why can a query that has lost its checkpoint continue where it was?": {
            "the query's group has committed its offsets to Kafka": "Spark's source commits no "
            "offsets to Kafka. They are in the checkpoint.",
            "the sink knows which records its results are from": "",
            "it reads everything again, and the sink recognises each result": "That would take as "
            "long as the whole log. The sink says where to begin.",
        },
        "41: A fresh run of `run ad_statistics` begins to read before the offsets of the fence. "
        "Does it count these records?": {
            "yes, and the database drops those that it already has": "The database only adds up "
            "counts. It can't tell whether an action is in them.",
            "yes, since it has no checkpoint": "The fence in the database says which records are "
            "counted already.",
            "no, it only remembers their hashes": "",
        },
        "42: All alerts of a query are 0. What do you know?": {
            "it reads and writes, and few records are rejected": "",
            "its counts are right": "No alert checks a count. A query with a wrong rule raises "
            "none of them.",
            "each record is counted exactly once": "The fence makes each micro-batch count once. "
            "That says nothing about the rule by which the query recognises duplicates.",
        },
    }
)

"""Exercises of chapter 42: how many different people have viewed the ad?"""

from workbook.classroom.questions import Recall
from workbook.lessons.the_owners_page.several_days import several_days
from workbook.views import pipeline as draw

actions, query = draw.topic("ad_actions"), draw.query("ad_statistics", state="hashes")
table = draw.sink("counts, viewers", "tables in PostgreSQL")

paths = (
    (draw.producer("actions"), actions, query, table),
    (draw.producer("bad records"), actions),
    (table, draw.sink("the owner's page", "picture")),
)

problems = (several_days,)

recall = Recall(
    {
        "40: The same action arrives twice within a minute. How often does `run ad_statistics` "
        "count it?": {
            "once: its hash is still in the state": "",
            "twice, since each record has an offset of its own": "Two records with the same bytes "
            "are a repetition, whatever their offsets are.",
            "once, because the topic is compacted": "The long-lived topic isn't compacted, and "
            "compaction would come too late.",
        },
        "41: Why does an action that arrives two days late still change the count of its day?": {
            "the watermark is longer than two days": "Spark's state has no window of days that a "
            "watermark could close.",
            "the totals are in the database: each micro-batch adds to them": "",
            "it is counted on the day on which it arrives": "It belongs to the day in Oslo on "
            "which it happened.",
        },
        "32: A dashboard asks a store while the query writes to it. What does it see?": {
            "all rows that are written so far, even in the middle of a micro-batch": "A "
            "micro-batch is one transaction: a reader sees all its rows or none.",
            "nothing, until the query has ended": "Readers and the writer don't wait for each "
            "other.",
            "the rows as of the last whole micro-batch": "",
        },
    }
)

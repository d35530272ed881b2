"""Exercises of chapter 33: how far behind are they?"""

from workbook.classroom.questions import Recall
from workbook.lessons.the_dashboard.how_long_behind import how_long_behind
from workbook.views import pipeline as draw

orders, audit = draw.topic("orders"), draw.loop("audit")
offsets = draw.topic("__consumer_offsets", 8, compacted=True)
groups = draw.query("active_groups", state="commits, members")
board = draw.sink("dashboard", "each group's lag")

paths = (
    (draw.producer("shop"), orders, audit),
    (audit, offsets, groups, draw.sink("table", "store"), board),
    (orders, draw.loop("sample", state="end offsets"), board),
)

problems = (how_long_behind,)

recall = Recall(
    {
        "22: A program wants one key of a running query's result, many times a second. Whom does "
        "it ask?": {
            "a store that the query fills": "",
            "the query's state": "Each look at the state is a Spark job over all of it.",
            "the result's topic": "A topic has no index: you read it from the beginning, for each "
            "question.",
        },
        "30: A group has committed offset 50 of a partition. Which record does it read next?": {
            "49": "Records up to 49 are done, so they aren't read again.",
            "51": "The committed offset isn't the last record that was read.",
            "50": "",
        },
        "31: An application has read its whole topic, and nothing new arrives. How do you know "
        "that it's alive?": {
            "by its new commits": "It has nothing new to commit, and may be silent.",
            "by its group's members": "",
            "by its committed offsets": "A group's offsets stay for days after its last member has "
            "left.",
        },
    }
)

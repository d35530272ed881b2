"""Exercises of chapter 32: and a minute ago?"""

from workbook.classroom.questions import Recall
from workbook.lessons.windowed_store.windows_on_spark import windows_on_spark
from workbook.views import pipeline as draw

offsets = draw.topic("__consumer_offsets", 8)
till, office = draw.producer("till"), draw.producer("office")
groups = draw.query("active_groups", state="commits, members")

paths = (
    (
        till,
        offsets,
        draw.query("latest_per_window", state="windows"),
        draw.sink("windows", "table in a file"),
    ),
    (office, offsets, groups, draw.sink("history", "windowed store")),
)

problems = (windows_on_spark,)

recall = Recall(
    {
        "02: A click is dated second 9 and arrives in second 12. When does its window of 5 s "
        "begin?": {
            "10": "It arrived in that window. Its own time chooses the window.",
            "5": "",
            "9": "Windows begin at multiples of their length, not at an event.",
        },
        "06: A consumer is ended by kill -9. When does its group find out?": {
            "at once": "A killed process can't leave its group, so nobody knows of it yet.",
            "at its next commit": "It never commits again; the broker waits for heartbeats.",
            "when its session times out": "",
        },
        "31: A group has one member, and its newest commit is an hour old. What is it?": {
            "empty": "A group is empty if it has no member.",
            "unknown": "A group is unknown if no record describes it. This one has a member.",
            "idle": "",
        },
    }
)

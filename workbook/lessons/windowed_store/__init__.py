"""Exercises of chapter 32: and a minute ago?"""

from __future__ import annotations

from workbook.classroom.questions import Option, Question, Recall
from workbook.lessons.windowed_store.compare_windows import compare_windows
from workbook.lessons.windowed_store.who_has_it import partition_of, who_has_it
from workbook.views import pipeline as draw

__all__ = ["compare_windows", "partition_of", "problems", "recall", "who_has_it"]

offsets = draw.topic("__consumer_offsets", 8)
till, office = draw.producer("till"), draw.producer("office")
groups = draw.query("active_groups", state="commits, members")

paths = (
    (
        till,
        offsets,
        draw.query("per_window", state="window"),
        draw.sink("windows", "table in a file"),
    ),
    (office, offsets, groups, draw.sink("history", "windowed store")),
    (groups, draw.sink("table", "store")),
)

problems = (compare_windows, who_has_it)

recall = Recall(
    Question(
        chapter="22",
        text="Instance 0 is asked for a key of a partition that instance 1 reads. The answer?",
        options=(
            Option("nothing, as for a key that doesn't exist"),
            Option("an error", "A store knows its own keys, and no others to compare with."),
            Option(
                "the right row, from instance 1",
                "Stores don't ask each other: whoever asks has to know the right one.",
            ),
        ),
    ),
    Question(
        chapter="02",
        text="A click is dated second 9, and arrives in second 12. Its window of 5 s begins at?",
        options=(
            Option("10", "That's when it arrived. Its own time chooses the window."),
            Option("5"),
            Option("9", "Windows begin at multiples of their length, not at an event."),
        ),
    ),
    Question(
        chapter="06",
        text="A consumer gets kill -9. When does its group find out?",
        options=(
            Option("at once", "A killed process can't leave. Nobody knows of it yet."),
            Option(
                "at its next commit", "It never commits again; the broker waits for heartbeats."
            ),
            Option("when its session times out"),
        ),
    ),
)

"""Exercises of chapter 00: a click's key, and what an offset says."""

from __future__ import annotations

from workbook.classroom.questions import Option, choice
from workbook.lessons.start_here.tab_as_key import tab_as_key
from workbook.views import pipeline as draw

next_offset = choice(
    name="The next offset",
    task="A partition begins at offset 0, and its end is 5. One more record arrives in it. Which "
    "offset does that record get, and how many records were there before?",
    options=(
        Option("offset 5, and 5 records are in the partition"),
        Option(
            "offset 6, and 5 records are in the partition",
            "Count from 0: the five records have the offsets 0, 1, 2, 3 and 4.",
        ),
        Option(
            "offset 5, and 6 records are in the partition",
            "The end is no record yet: it is the place of the next one. Count from 0.",
        ),
        Option(
            "offset 0, and the records move up by one",
            "Records are appended at the end, and an offset never changes.",
        ),
        Option(
            "an offset that depends on the other partitions",
            "Each partition counts by itself: the offset 5 exists in every partition that is "
            "long enough.",
        ),
    ),
    hints=(
        "The first record of a partition has the offset 0. Which one has the fifth?",
        "`end` is where the next record goes; the one before it is the last that is there.",
        "Offsets 0 to 4 are taken, by five records.",
    ),
    discussion="`end - begin` is how many offsets are used. It is the number of records only while "
    "nothing was removed from the middle: compacted topics (chapter 20) and transactions "
    "(chapter 04) leave gaps. An offset names a record only together with topic and partition.",
    variable="answer",
)

clicks = draw.topic("clicks", 3)

paths = (
    (
        draw.producer("shop"),
        clicks,
        draw.query("query", state="count"),
        draw.sink("views", "table in memory"),
    ),
    (draw.producer("producer"), clicks),
)

problems = (next_offset, tab_as_key)

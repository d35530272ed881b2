"""Exercises of chapter 00: a click's key, and what an offset says."""

from workbook.classroom.questions import choice
from workbook.lessons.start_here.tab_as_key import tab_as_key
from workbook.views import pipeline as draw

next_offset = choice(
    name="The next offset",
    task="A partition begins at offset 0, and its end is 5. One more record arrives. Which offset "
    "does that record get, and how many records were in the partition before?",
    options={
        "offset 5, and 5 records were in the partition": "",
        "offset 6, and 5 records were in the partition": "Offsets begin at 0: the five records "
        "have the offsets 0, 1, 2, 3 and 4.",
        "offset 5, and 6 records were in the partition": "No record has offset 5 yet: it's the "
        "next record's offset. Count the offsets 0 to 4.",
        "offset 0, and the records move up by one": "Records are appended at the end, and the "
        "offset of a record never changes.",
        "an offset that depends on the other partitions": "Each partition counts its own records: "
        "any of them can have an offset 5.",
    },
    hints=(
        "The first record of a partition has the offset 0. Which offset does the fifth have?",
        "`end` is the offset of the next record, so the last record is one before it.",
        "Five records have the offsets 0 to 4.",
    ),
    discussion="`end - begin` is the number of offsets in use. It's the number of records only if "
    "there are no gaps; compacted topics (chapter 20) and transactions (chapter 04) leave gaps. "
    "An offset identifies a record only together with the topic and the partition.",
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

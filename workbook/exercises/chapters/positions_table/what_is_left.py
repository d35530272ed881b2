"""Chapter 20: What is left."""

from __future__ import annotations

from workbook.exercises.engine.choice import Option, choice

what_is_left = choice(
    name="What is left",
    task="A compacted topic was given six records:\n\n"
    "offset 0: `p1` Bob, 20 AAPL\noffset 1: `p2` Alice, 5 SAP\noffset 2: `p1` Bob, 30 AAPL\n"
    "offset 3: `p2` null\noffset 4: `p3` Carol, 7 IBM\noffset 5: `p1` Bob, 15 AAPL\n\n"
    "All of them have been cleaned, and the time for which tombstones are kept is long over. A new "
    "reader begins at the beginning. Which offsets does it get?",
    options=(
        Option(
            "all of them, 0 to 5: Kafka never deletes a record of a topic that is kept for ever",
            "That is what `cleanup.policy=delete` with a retention without end does. A "
            "compacted topic keeps what is needed to know the latest value of each key, and may "
            "drop the rest.",
        ),
        Option(
            "0, 1 and 4: of each key the record that came first",
            "Those are the oldest ones. A reader wants to know what is true now.",
        ),
        Option(
            "3, 4 and 5: of each key the last record, and the tombstone is one",
            "So it was right after the cleaning. How long must a tombstone stay, and what "
            "for? Read once more how long ago all this was.",
        ),
        Option("4 and 5: of each key the last record, unless it is a tombstone"),
        Option(
            "4 and 5, numbered anew as 0 and 1",
            "The records are right. But what would become of all who have noted offset 5 as "
            "their place?",
        ),
    ),
    hints=(
        "Of each key the last record is needed. Is a tombstone needed for ever?",
        "A tombstone stays long enough for every reader to read it. Once no older record of its "
        "key is left, what would a reader lose without it?",
        "The last ones are 5 for p1, 3 for p2, 4 for p3; and 3 is a tombstone. Offsets are never "
        "given twice.",
    ),
    discussion="A reader who builds a table from 4 and 5 gets the same table as one who saw all "
    "six. A reader who counts the records does not.\n\n"
    "The tombstone has a time limit, `delete.retention.ms`. A reader that was away for longer has "
    "a row that was closed meanwhile, and it never learns of it. After so long it has to begin at "
    "the beginning, with an empty table.",
)

"""Exercises of chapter 00: where a record lands, and what an offset says."""

from __future__ import annotations

from workbook.exercises.engine.choice import Option, choice

same_key = choice(
    name="Ten more clicks",
    task="You stay in the same browser tab and click ten times more. The key of each record is the "
    "tab. Where do the ten records land?",
    options=(
        Option(
            "in turn: partition 0, 1, 2, 0, 1, ...",
            "Taking turns is what a producer may do with records that have no key. What is "
            "the key of yours?",
        ),
        Option(
            "all in the partition that holds the fewest records",
            "Nobody looks at how full a partition is. What did the line under the shop say "
            "about your clicks?",
        ),
        Option("all in the partition where your earlier clicks are"),
        Option(
            "each one anywhere, by chance",
            "Chance would tear a tab's clicks apart, and their order would be lost. What is "
            "the same in all ten records?",
        ),
        Option(
            "in partition 0, because the topic is read from there",
            "All partitions can be read. And yours may be another: look under the shop.",
        ),
    ),
    hints=(
        "Look at the line under the shop: did the partition change between two clicks?",
        "The partition is computed from the key. What is the key of your clicks?",
        "The same key gives the same hash, and the same hash gives the same partition.",
    ),
    discussion="The same key gives the same partition, so a tab's clicks stay in order. The price: "
    "one very busy key makes one partition longer than all others.\n\n"
    "And it holds only while the number of partitions stays: with more partitions the same hash "
    "gives another one. That is why we never resize a topic here.",
)

next_offset = choice(
    name="The next offset",
    task="The table shows a partition with `begin` 0 and `end` 5. One more record arrives in it. "
    "Which offset does that record get, and how many records were there before?",
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

problems = (same_key, next_offset)

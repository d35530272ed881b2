"""Chapter 01: After a restart."""

from __future__ import annotations

from workbook.exercises.engine.choice import Option, choice

after_restart = choice(
    name="After a restart",
    task="1,000 page views lie in one partition, at offsets 0 to 999. The program counts in a "
    "variable. It has counted 500, its group has committed offset 500, and it is killed. We start "
    "it again with the same group, and it reads to the end. Which count does it show?",
    options=(
        Option(
            "1,000: Kafka gave the count back",
            "Kafka keeps the records and the group's offset. What does it know of the variable?",
        ),
        Option("500: it counts only the rest"),
        Option(
            "501: the last record before the end is read twice",
            "A committed offset is the next one to be read, not the last one that was.",
        ),
        Option(
            "1,500: it reads everything again and adds it",
            "Then both must go wrong: the offset would have to be lost, and the variable "
            "to be kept. Which of the two lives in the broker?",
        ),
        Option(
            "0: the group has had its records",
            "The group has had the records before its committed offset. How many lie behind it?",
        ),
    ),
    hints=(
        "There are two memories here: one lives in the broker, one in the program.",
        "Ask of each memory whether it is still there after the kill, and then continue by hand: "
        "where does reading start, and where does counting start?",
        "Reading starts at offset 500, and the variable starts at 0.",
    ),
    discussion="The offset outlived the program and the count did not, so the two no longer belong "
    "together. Had nothing been committed, and were the group to start at the earliest record, the "
    "count would be 1,000 again: by luck, and by reading everything.\n\n"
    "What helps is to keep count and offset together, in one place that survives. That is what "
    "Spark's checkpoint does, and what chapter 04 does by hand.",
)

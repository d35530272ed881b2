"""Chapter 04: After the kill."""

from workbook.classroom.questions import choice

_LOG = (10, 10, 10, 10, 11, 11, 11, 11, 12, 12)
"""The second of the page view at each offset."""


after_the_kill = choice(
    name="After the kill",
    task="One partition contains ten page views. Those at offsets 0 to 3 are of second 10, those "
    "at 4 to 7 of second 11, and those at 8 and 9 of second 12. The loop with auto-commit has read "
    "up to offset 6. The metric of second 10 is delivered, and three views of second 11 are "
    "counted in memory. The client has just committed offset 7 by itself. Now kill -9 ends the "
    "loop, and we start it again with the same group. Which value is published for second 11?",
    options={
        "4: all its views are counted again": "For that, the loop would have to read again from "
        "offset 4. What would make it do that?",
        "3: it continues where it was": "Three is what the process had counted in memory. Does a "
        "process's memory survive kill -9? Besides, the view at offset 7 hasn't been read yet.",
        "1: only the view at offset 7": "",
        "none: second 11 is never published": "The restarted loop reads the view at offset 7, "
        "which is of second 11. What does it do when it reads offset 8?",
        "7: three from before and four again": "The group continues at offset 7, so no view is "
        "read twice. And the three views in memory are gone.",
    },
    hints=(
        "Two places record the progress: the group's offset in the broker, and the count in "
        "memory. Which of them survives?",
        "Begin at the committed offset with an empty memory, and do by hand what the loop does.",
        "After the restart the loop reads offsets 7, 8 and 9. At offset 8 a new second begins.",
    ),
    discussion="Three page views are lost, and nothing looks wrong: second 11 has a value, but "
    "it's too small. Auto-commit records what was read, but we need a record of what is done.\n\n"
    "Offset 4 would have been safe: it's the first record of the second whose metric hasn't been "
    "delivered yet. A restart from there counts all of second 11, and publishes 4.",
)

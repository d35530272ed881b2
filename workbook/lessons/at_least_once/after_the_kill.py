"""Chapter 04: After the kill."""

from __future__ import annotations

from workbook.classroom.questions import Option, choice

_LOG = (10, 10, 10, 10, 11, 11, 11, 11, 12, 12)
"""The second of the page view at each offset."""


after_the_kill = choice(
    name="After the kill",
    task="Ten page views lie in one partition. Offsets 0 to 3 are of second 10, 4 to 7 of second "
    "11, and 8 and 9 of second 12. The loop with auto-commit has read up to offset 6. The metric "
    "of second 10 is delivered, three views of second 11 are counted in memory, and the client has "
    "just committed offset 7 by itself. Then comes kill -9, and we start the loop again with the "
    "same group. Which value is published for second 11?",
    options=(
        Option(
            "4: all its views are counted again",
            "Then the loop would have to read again from offset 4. What would make it go back?",
        ),
        Option(
            "3: it goes on from where it was",
            "Three is what the process had counted. What does kill -9 leave of its memory? And the "
            "view at offset 7 is still to be read.",
        ),
        Option("1: only the view at offset 7"),
        Option(
            "none: second 11 is never published",
            "The view at offset 7 is read after the restart, and it is of second 11. What "
            "happens when offset 8 comes?",
        ),
        Option(
            "7: three from before and four again",
            "Nothing is read twice here, because the group goes on at offset 7; and the three are "
            "gone.",
        ),
    ),
    hints=(
        "Two things know how far we are: the group's offset in the broker, and the count in "
        "memory. Which of them survives?",
        "Begin with an empty memory at the committed offset, and do by hand what the loop does.",
        "The restart reads offsets 7, 8 and 9. At offset 8 the second changes.",
    ),
    discussion="Three page views are lost, and nothing looks wrong: second 11 has a number, it is "
    "only too small. Auto-commit records what was read, and we need to record what is done.\n\n"
    "The offset that would have been safe is 4, the first record of the second whose metric is "
    "not delivered yet. A restart from there counts second 11 in full, and sends 4.",
)

"""Chapter 02: A quiet minute."""

from __future__ import annotations

from workbook.exercises.engine.choice import Option, choice

quiet_minute = choice(
    name="A quiet minute",
    task="The loop that we wrote by hand runs on a topic. Three page views come in second 10. Then "
    "nobody clicks for a whole minute, until one more page view comes. When does the loop emit "
    "second 10?",
    options=(
        Option(
            "at once, with each of the three clicks",
            "Each click makes the count in the map larger. Which line of the loop emits, and "
            "what must have happened before?",
        ),
        Option(
            "when second 11 begins",
            "How would the loop know that second 11 begins? It looks at no clock: all it knows of "
            "time comes from the clicks.",
        ),
        Option(
            "one second after the last of the three clicks",
            "There is no timer in the loop. Between two clicks none of its lines that could "
            "emit is run.",
        ),
        Option("with the next page view, a minute later"),
        Option(
            "never: after such a break second 10 is lost",
            "Second 10 is still in the map, and nothing has removed it. What would complete it?",
        ),
    ),
    hints=(
        "Which line of the loop emits, and when is that line run?",
        "The loop reads the time from the clicks and from nowhere else. What does it know of time "
        "while nobody clicks?",
        "It waits for a change of the second, and only another page view can bring that.",
    ),
    discussion="In event time no time passes while no event comes. At night the last second of the "
    "day waits until morning, and on the chart the shop seems to stand still with three visitors.\n"
    "\nA clock on the wall would emit sooner, and would be wrong whenever clicks are merely "
    "delayed. Spark's watermark has the same patience, because events move it too. Chapter 07 "
    "sends heartbeats, so that time goes on in silence.",
)

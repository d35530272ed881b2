"""Wrong answers to "One step", from a count and a click to the next count."""

from __future__ import annotations

from workbook.exercises.engine.mistakes import Mistake

MISTAKES = [
    Mistake(lambda count, click: count + 1, "It counts every click, actions too."),
    Mistake(
        lambda count, click: count + (click.click_type == "Action"),
        "It counts the actions and leaves out the pages: the condition is inverted.",
    ),
    Mistake(
        lambda count, click: int(click.click_type == "Page"),
        "It forgets the count it was given and starts again at each click.",
    ),
    Mistake(
        lambda count, click: count + 1 if click.click_type == "Page" else 0,
        "An action sets the count back to 0, where it should leave it alone.",
    ),
    Mistake(
        lambda count, click: count,
        "The count never grows: a page view gives back the number that came in. Is the condition "
        "ever true (a type is written `Page`, with a capital letter)? And is what was added given "
        "back?",
    ),
    Mistake(
        lambda count, click: count + (1 if click.click_type == "Page" else -1),
        "An action takes one away: it should neither add nor take.",
    ),
]

"""Wrong answers to "Views per name on Spark", as queries over the rows of clicks."""

from __future__ import annotations

from workbook.exercises.engine.mistakes import Mistake
from workbook.exercises.models.rows import accepted, count, miscounts, name, pages, sum_pages

MISTAKES = [
    *miscounts(name),
    Mistake(
        lambda clicks: count([c for c in clicks if c.click_type == "Page" and c.reason], name),
        "It keeps the rejected records and drops the accepted ones: `reason` is null "
        "where nothing was wrong.",
    ),
    Mistake(
        lambda clicks: count([c for c in accepted(clicks) if c.click_type == "Action"], name),
        "It counts actions instead of pages.",
    ),
    Mistake(
        lambda clicks: sum_pages(clicks, name),
        "Names without a page view appear with 0. Filter before you group: on a stream "
        "each name that is kept costs state.",
    ),
    Mistake(
        lambda clicks: [(at, n) for at, _, n in count(pages(clicks), name, lambda c: c.browser)],
        "A name stands in several rows: it is grouped by more than the name.",
    ),
    Mistake(
        lambda clicks: count(pages(clicks), lambda click: click.name.lower()),
        "It changes the names to small letters. A name stays as it is.",
    ),
]

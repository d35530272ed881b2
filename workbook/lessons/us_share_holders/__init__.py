"""Exercises of chapter 21: who holds a US share?"""

from workbook.classroom.questions import Recall
from workbook.lessons.us_share_holders.changes_of_an_update import changes_of_an_update
from workbook.lessons.us_share_holders.set_with_counts import set_with_counts
from workbook.views import pipeline as draw

positions = draw.topic("positions", compacted=True)

paths = (
    (
        draw.producer("send"),
        positions,
        draw.loop("changes", state="table"),
        draw.loop("count", state="held"),
    ),
    (
        positions,
        draw.query("Changes, sum", state="row, sum"),
        draw.sink("totals", "table in memory"),
    ),
    (positions, draw.query("ktable, aggregate", state="row, tickers"), draw.sink("seen", "list")),
)

problems = (changes_of_an_update, set_with_counts)

recall = Recall(
    {
        "20: A record of the positions topic has a key and the value null. What does it mean?": {
            "the row of this key is deleted": "",
            "nothing: consumers skip it": "It's a tombstone, and a reader that skips it keeps a "
            "row that was closed.",
            "the row is there, and its fields are unknown": "A table has no such row: a null value "
            "removes the key.",
        },
        "20: Why does a filter on a table need the old row?": {
            "it doesn't: it looks at each record alone": "Then a row that no longer matches would "
            "stay downstream for ever.",
            "to emit a delete for a row that matched and no longer does": "",
            "to drop records that are delivered twice": "That's a side effect. What must it emit "
            "when a row stops matching?",
        },
        "05: Two records of one topic have different keys. In which order are they read?": {
            "in the order in which they happened": "A partition keeps the order of appending. It "
            "doesn't know when things happened.",
            "in the order in which they were appended to the topic": "A topic has no order of its "
            "own; each partition has one.",
            "in any order, unless both are in one partition": "",
        },
    }
)

"""Exercises of chapter 22: whom do we ask?"""

from workbook.classroom.questions import Recall
from workbook.lessons.stores_and_instances.ask_the_right_one import ask_the_right_one
from workbook.views import pipeline as draw

producer, by_client = draw.producer("producer"), draw.topic("by_client", 2)
holdings = draw.query("holdings", state="checkpoint")

paths = (
    (producer, draw.topic("by_position", 2), holdings, draw.sink("holders", "table in a file")),
    (holdings, draw.topic("us-share-holders", compacted=True)),
    (producer, by_client, draw.query("instance"), draw.sink("stores", "two dictionaries")),
    (by_client, draw.query("mail", state="checkpoint"), draw.sink("letters", "table in a file")),
)

problems = (ask_the_right_one,)

recall = Recall(
    {
        "21: A position moves from Ada to Bo. What do the groups by client get?": {
            "+1 for Bo": "Then Ada would hold it for ever: the old row must leave.",
            "-1 for Ada, then +1 for Bo": "",
            "one change with both names": "The two groups may be on different machines, so there "
            "are two changes.",
        },
        "20: A topic is compacted. What does a new reader get, from the beginning on?": {
            "exactly one record per key": "The newest records aren't compacted yet, so a key may "
            "have several records.",
            "at least the last record of each key": "",
            "only the records since its group's last commit": "A new group has no commit. It "
            "begins where auto.offset.reset says.",
        },
        "04: A query dies after foreachBatch has written and before the checkpoint knows. Then?": {
            "the micro-batch is lost": "For the checkpoint it isn't done, so Spark doesn't skip "
            "it.",
            "the same micro-batch is repeated, with the same number": "",
            "it is repeated, with the next number": "Spark notes the number and its offsets before "
            "the micro-batch runs.",
        },
    }
)

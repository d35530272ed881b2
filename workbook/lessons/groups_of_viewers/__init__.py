"""Exercises of chapter 45: who are the viewers, and what may the owner see?"""

from workbook.classroom.questions import Recall
from workbook.lessons.groups_of_viewers.hidden_groups import hidden_groups
from workbook.views import pipeline as draw

query = draw.query("ad_statistics: a join", state="hashes")
table = draw.sink("counts, viewers, groups", "tables in PostgreSQL")

paths = (
    (draw.producer("actions"), draw.topic("ad_actions"), query, table),
    (draw.producer("viewers"), draw.topic("viewers"), query),
    (table, draw.sink("the owner's page", "picture")),
)

problems = (hidden_groups,)

recall = Recall(
    {
        "10: Spark joins two streams. What does it need, so that its state doesn't grow for "
        "ever?": {
            "a key on both sides": "A key says which rows belong together. It doesn't say when no "
            "more will arrive.",
            "watermarks on both sides, and a range of time in the condition": "",
            "a checkpoint": "A checkpoint brings the state back after a restart. It removes "
            "nothing from it.",
        },
        "20: A topic of updates is compacted. Does it hold exactly one record of each key?": {
            "yes, the newest one": "The newest record stays. Older ones may still be there, so "
            "each reader must fold.",
            "yes, except for keys with a tombstone": "Older records may still be there, and a "
            "tombstone stays for a while, too.",
            "no, so each reader takes the newest record of each key": "",
        },
        "42: Two days of an ad have a sketch each. What does their merged sketch know?": {
            "about how many different users viewed the ad on these days": "",
            "about how many views the ad had on these days": "A second view by the same user has "
            "the same hash, and a sketch keeps it once.",
            "which users viewed the ad on both days": "A union doesn't say in which of the two "
            "sketches a hash was.",
        },
    }
)

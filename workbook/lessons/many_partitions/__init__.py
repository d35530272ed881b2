"""Exercises of chapter 05: why is one partition a luxury?"""

from workbook.classroom.questions import Recall, choice
from workbook.lessons.many_partitions.slowest_clock import slowest_clock
from workbook.views import pipeline as draw

send = draw.producer("send")
loop = draw.loop("completed", state="clocks")
query = draw.query("per_second", state="window")

paths = (
    (draw.producer("generate"), draw.topic("clicks", 24), loop, draw.sink("told")),
    (draw.producer("visitors"), draw.topic("night", 4), loop),
    (send, draw.topic("slow", 24), query, draw.sink("emitted", "list")),
    (send, draw.topic("backlog", 2), query),
)

slow_partition = choice(
    name="A slow partition",
    task="Partition 1 of a topic is slow: its page views of second 100 arrive when partition 0 has "
    "already delivered second 160. Two programs count page views per second: our loop, by the "
    "minimum of the clocks, and a Spark query in append mode, with a watermark delay of ten "
    "seconds. What happens to these page views?",
    options={
        "both count them, because both wait until partition 1 has caught up": "Only one of the two "
        "waits for the slowest partition. The other follows the newest event time of all "
        "partitions. Which is which?",
        "the loop counts them, because it has waited; Spark drops them as late": "",
        "the loop drops them as late; Spark counts them, because it has waited": "You have "
        "exchanged the two. Which one follows the minimum of the clocks?",
        "both drop them, because second 100 was over long ago": "The clock of partition 1 is still "
        "before second 100. Can the minimum be later?",
        "both emit second 100 twice, first without them and then with them": "The loop emits each "
        "second once, when all clocks have passed it. In append mode Spark also emits each second "
        "once, and never corrects it.",
    },
    hints=(
        "Both programs estimate how far event time has advanced. Which event times does each "
        "program look at?",
        "Partition 0 has delivered second 160. What is the loop's minimum now? And what is Spark's "
        "watermark, ten seconds before the newest event time of all partitions?",
        "The loop's minimum is the clock of partition 1, before 100. Spark's watermark is 150.",
    ),
    discussion="Both programs have to decide how long to wait, and each fails in its own way. The "
    "minimum waits for the slowest partition and loses nothing, but an idle partition makes it "
    "wait for ever. The maximum waits for no partition, so the clicks of a slow one are late, and "
    "the result doesn't show that they were dropped. A longer delay drops fewer clicks, but it "
    "costs memory and time.",
)

problems = (slowest_clock, slow_partition)

recall = Recall(
    {
        "00: One producer writes two records with the same key. Where are they stored?": {
            "in the same partition, in the order of appending": "",
            "in the same partition, in the order of their event times": "The same partition, yes. "
            "But offsets follow the order of appending, because the broker doesn't look at event "
            "times.",
            "in any partition, because the broker spreads the load": "The broker doesn't choose. "
            "The producer's partitioner does, by a hash of the key.",
        },
        "02: A query has a watermark with a delay of five seconds. The newest event time is "
        "12:00:20. Which page views may be dropped?": {
            "those older than 12:00:15": "",
            "those that arrive more than five seconds after they happened": "The time of arrival "
            "doesn't matter. The watermark compares an event time with the newest event time.",
            "none, because a window stays open until all of its page views are there": "No window "
            "knows how many page views are missing. The watermark closes it.",
        },
        "03: The metrics topic has three records for one second, with the same key. What does a "
        "reader do with them?": {
            "it keeps the last value": "",
            "it adds up the three values": "A metric is the whole count of its second. A reader "
            "that adds up counts a repeated metric twice.",
            "it keeps the largest value": "A correction may be smaller. The last value of a key "
            "counts.",
        },
    }
)

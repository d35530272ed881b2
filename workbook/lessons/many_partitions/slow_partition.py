"""Chapter 05: A slow partition."""

from workbook.classroom.questions import choice

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

"""Chapter 05: A slow partition."""

from __future__ import annotations

from workbook.classroom.questions import Option, choice

slow_partition = choice(
    name="A slow partition",
    task="A topic has two partitions. Partition 1 is stuck, and its page views of second 100 "
    "arrive only when those of partition 0 have come to second 160. Two programs count views per "
    "second: our loop with the minimum of the clocks, and a Spark query in append mode with a "
    "watermark of ten seconds. What becomes of these page views?",
    options=(
        Option(
            "both count them: each waits until partition 1 has caught up",
            "One of the two waits for the slowest partition. The other follows the newest "
            "event time that it has seen anywhere. Which is which?",
        ),
        Option("the loop counts them, because it has waited; Spark drops them as late"),
        Option(
            "the loop drops them as late; Spark counts them, because it has waited",
            "You have the two in mind, but which of them takes the minimum of the clocks?",
        ),
        Option(
            "both drop them: second 100 was over long ago",
            "The clock of partition 1 still stands before second 100. How far does the "
            "minimum come?",
        ),
        Option(
            "both emit second 100 twice, first without them and then with them",
            "The loop emits each second once, when all clocks have passed it. And append mode "
            "never takes back a row, nor adds to it.",
        ),
    ),
    hints=(
        "Which event times does each of the two look at, in order to know how far time has come?",
        "With partition 0 at 160, where does the loop's minimum stand? And where does Spark's "
        "watermark stand, ten seconds behind the newest event time of all?",
        "The loop stands where partition 1 stands, before 100. Spark's watermark is at 150.",
    ),
    discussion="Both decide how long to wait, and each fails in its own way. The minimum waits for "
    "the slowest, and loses nothing; an idle partition makes it wait for ever. The maximum over "
    "partitions waits for nobody; a slow partition's clicks come late, and are dropped without a "
    "word in the result. A longer lateness buys patience, and costs state and time.\n\n"
    "What was dropped has to be counted somewhere, or nobody will miss it. The chapter asks the "
    "ledger.",
)

"""Chapter 02: Update and append."""

from __future__ import annotations

from workbook.exercises.engine.choice import Option, choice

two_modes = choice(
    name="Update and append",
    task="The same query runs twice: page views per window of one second, with a watermark of ten "
    "seconds, once in `update` mode and once in `append` mode. Page views come in second 10, and "
    "more in the seconds after it, for a minute. Which one shows second 10 first, and whose number "
    "is final?",
    options=(
        Option(
            "append shows it first, because it has no old rows to look after; both are final",
            "A row that was appended cannot be taken back. So what must Spark be sure of "
            "before it appends second 10?",
        ),
        Option(
            "update shows it first, and what it shows first is final",
            "Update shows what is known after each micro-batch. What if the next one brings "
            "another view of second 10?",
        ),
        Option("update shows it first, and may correct it; append shows it later, once, and final"),
        Option(
            "both show it when the watermark has passed second 10, because it decides for both",
            "One of the two does wait for it. The other sends each row that has changed, "
            "after each micro-batch.",
        ),
        Option(
            "only update shows it; append never does, because a count can always change",
            "Without a watermark it would be so, and Spark refuses such a query. What does "
            "the watermark promise about views of second 10?",
        ),
    ),
    hints=(
        "Think of two readers: one may be corrected, the other may not.",
        "The watermark says that no older views are taken any more. Which mode needs this promise "
        "before it shows a number, and which can do without?",
        "Update sends each changed row at once. Append waits until a row cannot change.",
    ),
    discussion="Append is what our loop does, with ten seconds of patience: it emits a completed "
    "second once. Update is for a chart or a table, where the last value of a second replaces the "
    "one before.\n\n"
    "Final has its price: a view that is later than the watermark is dropped without a word in the "
    "result. And append waits for clicks as the loop did, because only they move the watermark.",
)

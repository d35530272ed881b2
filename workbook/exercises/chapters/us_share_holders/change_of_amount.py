"""Chapter 21: A change of amount."""

from __future__ import annotations

from workbook.exercises.engine.choice import Option, choice

change_of_amount = choice(
    name="A change of amount",
    task="Ada has one position, `p1`, ten shares of AAPL. Now a record says: `p1`, Ada, AAPL, "
    "twenty shares. Each update is worked off by itself, with the adder and the subtractor, and "
    "each result goes to the topic `us-share-holders`. What is written there?",
    options=(
        Option(
            "nothing: Ada held p1 before, and she holds p1 now",
            "In the end nothing has changed, yes. But the fold does not compare; what does it "
            "do with the old row, and what with the new one?",
        ),
        Option(
            "one record: Ada, [p1]",
            "That is what the adder gives. Which of the two functions is called before it?",
        ),
        Option("a tombstone for Ada, then Ada, [p1]"),
        Option(
            "Ada, [p1], then a tombstone for Ada",
            "These are the two results, but the order matters here: like this Ada would be "
            "gone for good.",
        ),
        Option(
            "one record: Ada, [p1, p1]",
            "A set holds `p1` once. And before it is added, something is taken out.",
        ),
    ),
    hints=(
        "An update is two calls. Which ones, and in which order?",
        "What is in Ada's set between the two calls? And what is written for a client whose set "
        "is empty?",
        "The subtractor takes out `p1`, and the set is empty. Then the adder puts `p1` in.",
    ),
    discussion="For a moment Ada holds nothing, and whoever reads the topic just then takes her "
    "off the mailing list. Nothing is wrong with the end, only with the middle.\n\n"
    "Section 5 of the chapter hides the middle, by looking less often. (Since version 3.5 Kafka "
    "Streams keeps both halves in one record when the group stays the same: KIP-904.)",
)

"""Two topics and their leads as a picture."""

from __future__ import annotations

from workbook.views.leads import leads

THERE = {"tracking": [0, 5, 10, 40], "orders": [0, 20]}


def test_it_says_what_was_read_and_who_waits() -> None:
    drawn = leads(THERE, {"tracking": 4, "orders": 2}, 10)
    assert drawn.words == (
        "tracking stands at second 40, 4 of 4 records read, waits; orders stands at second 20, "
        "2 of 2 records read, may go on."
    )
    assert drawn.drawing.width <= 930
    assert drawn.rows[0] == {"topic": "tracking", "read": "0, 5, 10, 40", "waiting": "–"}


def test_at_the_start_both_may_and_after_a_record_one_waits() -> None:
    assert leads(THERE, {"tracking": 0, "orders": 0}, 10).words.count("may go on") == 2
    begun = leads(THERE, {"tracking": 1, "orders": 0}, 10)
    assert "1 of 4 records read, waits; orders has no top yet" in begun.words
    assert begun.figure.count(": waiting<") == 5


def test_a_lead_as_large_as_allowed_goes_on() -> None:
    assert "waits" not in leads({"a": [10], "b": [0]}, {"a": 1, "b": 1}, 10).words
    assert "a stands at second 11, 1 of 1 record read, waits" in (
        leads({"a": [11], "b": [0]}, {"a": 1, "b": 1}, 10).words
    )


def test_nothing_sent_yet() -> None:
    assert "0 of 0 records" in leads({"a": [], "b": []}, {"a": 0, "b": 0}, 10).words

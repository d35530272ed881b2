"""Chapter 04's exercises: what isn't proven by its answers in ``proofs/at_least_once``."""

from __future__ import annotations

import pytest

from workbook.events.clicks import Click, ClickType
from workbook.exercises.chapters.at_least_once.after_the_kill import _LOG
from workbook.exercises.chapters.at_least_once.last_value import last_value, latest
from workbook.exercises.chapters.at_least_once.last_value_mistakes import Record
from workbook.pipelines.page_views.counts import completed_seconds


def test_negative_numbers_get_their_cause():
    def answer(records):
        known = {}
        for record in records:
            try:
                known[int(record.key)] = int(record.value)
            except (TypeError, ValueError):
                continue
        return known

    assert "takes a negative number" in last_value.check(answer).part("Likely cause")


@pytest.mark.parametrize("value", [b"9" * 5_000, b"1e3", b"\x00\x00\x00\x07", b"NaN", b"4\x00"])
def test_no_value_stops_the_reader(value):
    records = [Record(b"10", b"3"), Record(b"10", value), Record(value, b"1"), Record(b"11", b"2")]
    assert latest(records) == {10: 3, 11: 2}


def sent_from(offset):
    log = [Click(0, ClickType.PAGE, "/home", second * 1000, "Firefox") for second in _LOG]
    return [(b"%d" % second, b"%d" % views) for second, views in completed_seconds(log[offset:])]


def test_the_kill_loses_what_was_predicted():
    assert sent_from(0) == [(b"10", b"4"), (b"11", b"4")]
    assert sent_from(7) == [(b"11", b"1")]  # from the offset of the auto-commit
    assert sent_from(4) == [(b"11", b"4")]  # from the safe one

"""The tape: it shows each record once, says where everybody stands, and where the crash cut."""

from __future__ import annotations

import re

import pytest

from workbook.views.picture import Picture
from workbook.views.tape import SHOWN, Place, tape


def offsets_of(picture: Picture) -> list[int]:
    return [int(n) for n in re.findall(r"<title>offset (\d+):", picture.figure)]


def test_places_and_what_lies_between_them_are_named() -> None:
    places = [Place("read", 4), Place("committed", 2)]
    drawn = tape(["a", "b", "c", "d", "e"], places, in_memory=[2, 3])
    assert offsets_of(drawn) == [0, 1, 2, 3, 4]
    assert "5 records, end at 5" in drawn.words
    assert "2 records between committed and read; 2 records only in memory" in drawn.words
    assert {row["place"]: row["offset"] for row in drawn.rows} == {
        "read": 4, "committed": 2, "end": 5,
    }  # fmt: skip
    assert drawn.words in drawn.figure
    assert drawn.words in str(drawn)


def test_an_empty_partition_and_one_record() -> None:
    assert "The partition is empty" in tape([], [Place("committed", 0)]).words
    one = tape(["/home"], [])
    assert offsets_of(one) == [0]
    assert one.words == "1 record, end at 1."


@pytest.mark.parametrize("committed", [0, 3, 500_000, 999_999, 1_000_000])
def test_of_a_million_records_those_around_the_places_are_drawn(committed: int) -> None:
    drawn = tape(range_of(1_000_000), [Place("committed", committed)])
    shown = offsets_of(drawn)
    assert len(shown) == SHOWN
    assert shown == list(range(shown[0], shown[0] + SHOWN))
    assert shown[0] <= committed <= shown[-1] + 1
    assert f"committed at {committed:,}" in drawn.words


def test_a_crash_is_a_cut_with_a_word() -> None:
    drawn = tape(["x"] * 9, [Place("committed", 2)], in_memory=range(2, 7), crash=7)
    assert "crash" in drawn.figure
    assert "5 records only in memory; the crash before offset 7" in drawn.words


def test_a_partition_that_begins_later_and_labels_that_are_html() -> None:
    drawn = tape(["<b>", "y"], [Place("committed", 10)], first=10)
    assert offsets_of(drawn) == [10, 11]
    assert "<b>&" not in drawn.figure.replace("<b>A partition", "")
    assert "&lt;b&gt;" in drawn.figure


def range_of(count: int) -> list[str]:
    return ["r"] * count

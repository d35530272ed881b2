"""Compaction before and after: what went, what stayed and why, in which segment."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from workbook.classroom.table_pictures import Compacted, starts
from workbook.views.compaction import (
    ACTIVE,
    DUE,
    EXPIRED,
    GONE,
    KEYLESS,
    LATEST,
    LOST,
    NEWER,
    SHOWN,
    Stored,
    compaction,
)
from workbook.views.picture import Picture

CHAPTER = [Stored(n, key, n == 7) for n, key in enumerate("12345125311")]
"""Chapter 20's partition: offset 7 is a tombstone, 9 begins the active segment."""


def why(picture: Picture) -> dict[int, str]:
    return {row["offset"]: row["now"] for row in picture.rows}


def boxes(picture: Picture) -> dict[str, tuple[float, float]]:
    """Where each titled box stands."""
    found = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*><title>(.*?)</title>', picture.figure)
    return {title: (float(x), float(y)) for x, y, title in found}


def test_what_went_what_stayed_and_why() -> None:
    drawn = compaction(CHAPTER, [3, 5, 6, 7, 8, 9, 10], [0, 9])
    assert why(drawn) == {
        0: GONE, 1: GONE, 2: GONE, 3: LATEST, 4: GONE, 5: NEWER, 6: LATEST, 7: LATEST, 8: LATEST,
        9: ACTIVE, 10: LATEST,
    }  # fmt: skip
    assert drawn.words == (
        "11 records before, 7 now. Overwritten and gone: 4; the last record of its key: 5; "
        "the last of its key in the closed segments, with a newer one in the active segment: 1; "
        "overwritten, but in the active segment: 1."
    )
    assert [row["segment"] for row in drawn.rows] == ["closed"] * 9 + ["active"] * 2
    assert drawn.rows[7]["key"] == "5 (tombstone)"


def test_before_the_compaction_everything_is_there() -> None:
    drawn = compaction(CHAPTER, range(11), [0, 9])
    assert [n for n, reason in why(drawn).items() if reason == DUE] == [0, 1, 2, 4]
    assert "11 records before, 11 now." in drawn.words
    assert "gone" not in drawn.words


def test_a_tombstone_is_hatched_and_has_a_sign() -> None:
    figures = [compaction([Stored(0, "5", dead)], [0]).figure for dead in (False, True)]
    assert ["<path" in figure for figure in figures] == [False, True]
    assert [">✝5<" in figure for figure in figures] == [False, True]


def test_a_gap_stands_below_the_record_that_went() -> None:
    at = boxes(compaction(CHAPTER, [3, 5, 6, 7, 8, 9, 10], [0, 9]))
    gap, record = at["offset 0 is gone"], at["offset 0: key 1"]
    assert gap[0] == record[0]
    assert gap[1] > record[1]
    assert "offset 3 is gone" not in at
    assert "offset 7: key 5, a tombstone" in at
    assert at["closed segment from offset 0"][0] < at["active segment from offset 9"][0]


def test_letters_below_the_records_say_why_they_stay() -> None:
    figure = compaction(CHAPTER, [3, 5, 6, 7, 8, 9, 10], [0, 9]).figure
    letters = re.findall(r'y="194" text-anchor="middle"[^>]*>(\w?)<', figure)
    assert letters == ["", "", "", "L", "", "C", "L", "L", "L", "A", "L"]


def test_a_tombstone_that_is_gone_and_a_record_that_should_not_be() -> None:
    records = [Stored(0, "a"), Stored(1, "b", True), Stored(2, "c")]
    assert why(compaction(records, [2], [0, 2])) == {0: LOST, 1: EXPIRED, 2: LATEST}


def test_records_without_a_key_are_not_the_same() -> None:
    records = [Stored(0, None), Stored(1, None)]
    drawn = compaction(records, [1])
    assert why(drawn) == {0: LOST, 1: KEYLESS}
    assert drawn.rows[0]["key"] == "none"


def test_an_empty_partition_and_one_record() -> None:
    assert "The partition is empty" in compaction([], []).words
    one = compaction([Stored(5, "a")], [5])
    assert one.words == "1 record before, 1 now. The last record of its key: 1."
    assert one.rows[0]["segment"] == "active"


def test_of_a_million_records_the_last_are_drawn_and_all_are_counted() -> None:
    records = [Stored(n, f"k{n % 1000}") for n in range(1_000_000)]
    drawn = compaction(records, range(999_000, 1_000_000), [0, 500_000])
    assert drawn.words == (
        "1,000,000 records before, 1,000 now. Overwritten and gone: 999,000; "
        f"the last record of its key: 1,000. The last {SHOWN} are drawn."
    )
    assert len(drawn.rows) == SHOWN
    assert drawn.rows[0]["offset"] == 1_000_000 - SHOWN
    assert drawn.drawing.width <= 900


def test_it_draws_a_hundred_thousand_records_in_no_time() -> None:
    records = [Stored(n, f"k{n % 1000}") for n in range(100_000)]
    began = time.perf_counter()
    first = compaction(records, range(99_000, 100_000), [0, 50_000])
    assert time.perf_counter() - began < 1  # 300 ms on a quiet machine: benchmarks/pictures.py
    assert compaction(records, range(99_000, 100_000), [0, 50_000]).figure == first.figure


# --- as a reader finds it ---------------------------------------------------------------------


class Found:
    """A message, as far as a picture asks it."""

    def __init__(
        self, offset: int, key: Any, value: bytes | None = b"1", time: int = 0, partition: int = 0
    ) -> None:
        self.offset, self.key, self.value = (lambda: offset), (lambda: key), (lambda: value)
        self.timestamp, self.partition = (lambda: (1, time)), (lambda: partition)
        self.topic = lambda: TOPIC[0]


TOPIC = [""]


@pytest.fixture(autouse=True)
def topic_of_its_own(request: pytest.FixtureRequest) -> None:
    TOPIC[0] = request.node.name


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ([], []),
        ([0, 0, 0], [0]),
        ([0, 500, 501], [0, 2]),
        ([0, 400, 800, 1200, 1700], [0, 2, 4]),
        ([1000, 0, 1400], [0]),
    ],
)
def test_a_segment_is_closed_by_the_first_record_that_comes_too_late_for_it(
    times: list[int], expected: list[int]
) -> None:
    assert starts(list(enumerate(times)), 500) == expected


def test_a_reader_s_first_look_is_kept() -> None:
    topic = [Found(n, key) for n, key in enumerate([b"a", b"b", b"a"])]
    picture = Compacted(lambda: topic, 500)
    topic.append(Found(3, b"a", None, 1000))
    del topic[0]
    assert why(picture()) == {0: GONE, 1: LATEST, 2: NEWER, 3: LATEST}
    assert picture().rows[3]["key"] == "a (tombstone)"
    assert why(Compacted(lambda: topic, 500)())[0] == GONE, "a second one knows it, too"


def test_one_partition_of_24_is_drawn() -> None:
    topic = [Found(n // 24, str(n).encode(), partition=n % 24) for n in range(240)]
    rows = Compacted(lambda: topic, 500, partition=7)().rows
    assert [row["key"] for row in rows] == [str(n) for n in range(7, 240, 24)]


def test_keys_that_are_no_text_or_not_there() -> None:
    topic = [Found(0, b"\xff"), Found(1, b"\xfe"), Found(2, None), Found(3, "text")]
    assert [row["key"] for row in Compacted(lambda: topic, 500)().rows] == [
        "\\xff", "\\xfe", "none", "text",
    ]  # fmt: skip


def test_an_empty_topic() -> None:
    assert "The partition is empty" in Compacted(lambda: [], 500)().words

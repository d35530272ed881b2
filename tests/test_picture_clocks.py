"""The clocks of partitions: who stands where, and what each rule has closed."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from workbook.views.clocks import clocks
from workbook.views.picture import Picture

NOON = 1_700_049_600_000


def polled(*records: tuple[int, int]) -> pd.DataFrame:
    """Partition and event time in ms after noon, in the order of polling."""
    table = pd.DataFrame(records, columns=["partition", "timestamp"], dtype="int64")
    return table.assign(timestamp=NOON + table["timestamp"])


def hands(picture: Picture) -> dict[int, float]:
    """How high each clock stands."""
    shape = r'<circle cx="[\d.]+" cy="([\d.]+)"[^>]*><title>partition (\d+): [^n]'
    return {int(p): float(y) for y, p in re.findall(shape, picture.figure)}


def hollow(picture: Picture) -> set[int]:
    shape = r'<circle [^>]*fill="none"[^>]*><title>partition (\d+):'
    return {int(p) for p in re.findall(shape, picture.figure)}


def rules(picture: Picture) -> dict[bool, float]:
    """How high the lines stand: False is the minimum's, True the maximum's, which is dashed."""
    shape = (
        r'points="[\d.]+,([\d.]+) [\d.]+,\1" fill="none" stroke="#\w+" stroke-width="2"([^/]*)/>'
    )
    found = re.findall(shape, picture.figure)
    legend = max(float(y) for y, _ in found)
    return {"dasharray" in dash: float(y) for y, dash in found if float(y) < legend}


THREE = polled((0, 0), (0, 9_500), (1, 2_200), (2, 4_800), (0, 9_100))


def test_a_clock_is_the_newest_event_time_of_its_partition() -> None:
    drawn = clocks(THREE, 3)
    at = hands(drawn)
    assert at[0] < at[2] < at[1], "the newest is the highest"
    assert [row["newest event time"] for row in drawn.rows] == [
        "12:00:09.500", "12:00:02.200", "12:00:04.800",
    ]  # fmt: skip
    assert [row["behind the fastest"] for row in drawn.rows] == [
        "0 seconds", "7.3 seconds", "4.7 seconds",
    ]  # fmt: skip
    assert "from 12:00:02.200 (partition 1) to 12:00:09.500 (partition 0)" in drawn.words


def test_each_rule_closes_what_had_ended_by_its_line() -> None:
    drawn = clocks(THREE, 3)
    assert "By the minimum, 1 of 4 windows is closed." in drawn.words
    assert "By the maximum less 5 seconds, 2 of 4 windows are closed" in drawn.words
    assert rules(drawn)[False] == hands(drawn)[1]
    assert hands(drawn)[2] > rules(drawn)[True] > rules(drawn)[False] or (
        hands(drawn)[2] < rules(drawn)[True] < rules(drawn)[False]
    )
    boxes = re.findall(r"<title>(\d+) (closed|open)</title>", drawn.figure)
    assert boxes == [("1", "closed"), ("3", "open"), ("2", "closed"), ("2", "open")]


@pytest.mark.parametrize(("delay", "closed"), [(0, 4), (500, 4), (501, 3), (1_000, 3), (9_000, 0)])
def test_a_window_is_closed_when_the_line_has_reached_its_end(delay: int, closed: int) -> None:
    drawn = clocks(
        polled((0, 0), (0, 1_000), (0, 2_000), (0, 8_000), (0, 9_500)), 1, delay_ms=delay
    )
    windows = {0: 4, 500: 4, 501: 3, 1_000: 3, 9_000: 0}
    assert windows[delay] == closed
    are = "is" if closed == 1 else "are"
    assert f", {closed} of 5 windows {are} closed" in drawn.words.rpartition("By the maximum")[2]
    assert "By the minimum, 4 of 5 windows are closed." in drawn.words


def test_a_partition_that_never_had_a_record_keeps_the_minimum_from_closing_anything() -> None:
    drawn = clocks(THREE, 4)
    assert "3 of 4 partitions have a clock" in drawn.words
    assert "nothing is closed, because partition 3 has no record yet" in drawn.words
    assert "<title>partition 3: no record yet</title>" in drawn.figure
    assert 3 not in hands(drawn)
    assert False not in rules(drawn), "no line of the minimum"
    assert True in rules(drawn)
    assert ("4", "open") in re.findall(r"<title>(\d+) (closed|open)</title>", drawn.figure)
    assert drawn.rows[3] == {
        "partition": 3, "newest event time": "none", "behind the fastest": "–", "its window": "–",
    }  # fmt: skip
    more = clocks(THREE, 6)
    assert "because 3 partitions have no record yet" in more.words
    assert "because partitions 3 and 4 have no record yet" in clocks(THREE, 5).words


def test_a_single_record_moves_the_minimum_past_all() -> None:
    night = polled(*((n % 3, n * 100) for n in range(100)))
    beat = pd.concat([night, polled((3, 10_500))])
    assert "nothing is closed" in clocks(night, 4).words
    after = clocks(beat, 4)
    assert "4 of 4 partitions have a clock" in after.words
    assert "By the minimum, 9 of 11 windows are closed." in after.words
    assert clocks(beat, 4, until=100).words == clocks(night, 4).words


def test_who_stands_in_a_window_that_the_maximum_has_closed_is_hollow() -> None:
    drawn = clocks(THREE, 3)
    assert hollow(drawn) == {1}
    assert (
        "partition 1 stands in one of them: the next click there may come too late" in drawn.words
    )
    assert [row["its window"] for row in drawn.rows] == ["open", "closed by the maximum", "open"]
    both = clocks(polled((0, 20_000), (1, 0), (2, 100)), 3)
    assert "and partitions 1 and 2 stand in one of them" in both.words
    assert hollow(clocks(THREE, 3, delay_ms=60_000)) == set()


def test_going_back_keeps_the_axis() -> None:
    early = clocks(THREE, 3, until=3)
    assert "2 of 3 partitions have a clock" in early.words
    assert hands(early)[0] == hands(clocks(THREE, 3))[0]
    assert hands(early)[1] == hands(clocks(THREE, 3))[1]


def test_an_empty_topic_and_one_record() -> None:
    assert clocks(polled(), 24).words == "None of 24 partitions has a record yet."
    assert clocks(polled(), 1).words == "None of 1 partition has a record yet."
    assert len(clocks(polled(), 24).rows) == 24
    assert clocks(THREE, 3, until=0).words == "None of 3 partitions has a record yet."
    one = clocks(polled((4, 250)), 24)
    assert "1 of 24 partitions has a clock. By the minimum nothing is closed" in one.words
    assert "0 of 1 window is closed" in one.words
    assert list(hands(one)) == [4]


def test_24_partitions_are_all_there_and_fit() -> None:
    drawn = clocks(polled(*((p, 40_000 - 1_000 * p) for p in range(24))), 24)
    assert sorted(hands(drawn)) == list(range(24))
    assert re.findall(r'font-size="10"[^>]*>(\d+)</text>', drawn.figure) == [
        str(p) for p in range(24)
    ]
    assert drawn.drawing.width <= 900
    assert hollow(drawn) == set(range(6, 24))
    assert "and 18 partitions stand in one of them" in drawn.words


def test_a_million_records_and_ones_without_a_time() -> None:
    draw = np.random.default_rng(3)
    table = pd.DataFrame({
        "partition": draw.integers(0, 24, 1_000_000),
        "timestamp": NOON + draw.integers(0, 60_000, 1_000_000),
    })  # fmt: skip
    assert "24 of 24 partitions have a clock" in clocks(table, 24).words
    holes = pd.DataFrame({"partition": [0, 1], "timestamp": [NOON, None]})
    assert "1 of 2 partitions has a clock" in clocks(holes, 2).words


def test_a_partition_beyond_those_asked_for_is_drawn_too() -> None:
    assert "2 of 6 partitions have a clock" in clocks(polled((0, 0), (5, 100)), 2).words


def test_a_long_night_is_drawn_by_its_end_and_counted_whole() -> None:
    night = polled(*((n % 3, n * 500) for n in range(600)))
    whole, recent = clocks(night, 3), clocks(night, 3, recent_ms=30_000)
    assert whole.words == recent.words
    assert "11:59:55" in whole.figure
    assert "12:01:00" in whole.figure
    assert "12:01:00" not in recent.figure
    stuck = pd.concat([polled((3, 0)), night])
    drawn = clocks(stuck, 4, recent_ms=30_000)
    assert hands(drawn)[3] > max(hands(drawn)[p] for p in range(3))
    assert "minutes left out" in drawn.figure


def test_equal_records_are_drawn_equally() -> None:
    assert clocks(THREE, 4).figure == clocks(THREE.copy(), 4).figure
    assert clocks(THREE, 4).words in str(clocks(THREE, 4))

"""An axis of time: true to scale between its cuts, with ticks at round seconds."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from workbook.views.drawing import Drawing
from workbook.views.time_axis import PAUSE, TICK, TimeAxis

WITH_A_PAUSE = [100.0, 104.0, 160.0, 162.0]


def axis(moments: list[float], zero: float = 104.0, longest: float = 10.0) -> TimeAxis:
    return TimeAxis(moments, 50, 450, longest=longest, zero=zero)


def drawn(made: TimeAxis) -> str:
    drawing = Drawing(500, 100)
    made.draw(drawing, 60)
    return drawing.svg("")


def ticks(made: TimeAxis) -> dict[str, float]:
    """Each tick's words and place."""
    found = re.findall(r'<text x="([\d.]+)" y="76"[^>]*>([^<]+)<', drawn(made))
    return {words: float(x) for x, words in found}


def lines(made: TimeAxis) -> list[tuple[float, float]]:
    found = re.findall(r'points="([\d.]+),60 ([\d.]+),60"', drawn(made))
    return [(float(left), float(right)) for left, right in found]


def test_without_a_pause_it_is_one_line_from_end_to_end() -> None:
    made = axis([100.0, 104.0, 108.0])
    assert [made.at(moment) for moment in (100, 102, 104, 108)] == [50, 150, 250, 450]
    assert lines(made) == [(50, 450)]
    assert "//" not in drawn(made).replace("http://", "")


def test_a_pause_takes_the_same_room_however_long_it_is() -> None:
    made = axis(WITH_A_PAUSE)
    scale = (400 - PAUSE) / 6
    assert made.at(100) == 50
    assert made.at(104) == pytest.approx(50 + 4 * scale)
    assert made.at(160) == pytest.approx(made.at(104) + PAUSE)
    assert made.at(162) == pytest.approx(450)
    assert made.at(161) == pytest.approx(450 - scale)
    longer = axis([*WITH_A_PAUSE[:2], 9160.0, 9162.0])
    assert longer.at(9160) == pytest.approx(made.at(160))


def test_a_moment_in_a_pause_lies_within_its_cut() -> None:
    made = axis(WITH_A_PAUSE)
    for moment in (105, 130, 159):
        assert made.at(104) < made.at(moment) < made.at(160)
    assert made.at(90) == 50


def test_a_cut_says_how_long_it_is_in_its_middle_and_no_line_crosses_it() -> None:
    made = axis(WITH_A_PAUSE)
    [(x, words)] = re.findall(r'<text x="([\d.]+)" y="64"[^>]*>(// [^<]+)<', drawn(made))
    assert words == "// 56 s"
    assert float(x) == pytest.approx((made.at(104) + made.at(160)) / 2, abs=0.1)
    assert lines(made) == [
        (50, pytest.approx(made.at(104), abs=0.1)), (pytest.approx(made.at(160), abs=0.1), 450),
    ]  # fmt: skip
    assert "// 1,000 s" in drawn(axis([0.0, 1000.0], zero=0.0))


def test_a_gap_of_just_that_length_is_a_pause() -> None:
    assert "// 10 s" in drawn(axis([100.0, 110.0, 111.0]))
    assert "//" not in drawn(axis([100.0, 109.9, 111.0])).replace("http://", "")


def test_each_tick_stands_where_its_words_say() -> None:
    for moments in (WITH_A_PAUSE, [100.0, 104.0], [103.0, 111.0], [103.1, 103.37], [0.0, 300.0]):
        made = axis(moments, longest=1000.0 if moments[0] == 0.0 else 10.0)
        found = ticks(made)
        assert found, moments
        for words, x in found.items():
            moment = 104.0 + float(words.removesuffix(" s"))
            assert x == pytest.approx(made.at(moment), abs=0.5)
            assert any(left - 0.5 <= x <= right + 0.5 for left, right in lines(made))


def test_ticks_are_round_and_far_enough_apart_and_reach_both_ends() -> None:
    made = axis([100.0, 108.0])
    assert list(ticks(made)) == ["-4 s", "-2 s", "0 s", "+2 s", "+4 s"]
    for (_, one), (_, other) in pairwise(ticks(made).items()):
        assert TICK <= other - one < 2.5 * TICK
    assert list(ticks(axis([104.0, 104.04]))) == ["0 s", "+0.01 s", "+0.02 s", "+0.03 s", "+0.04 s"]
    assert list(ticks(axis([4.0, 604.0], longest=1000.0))) == ["0 s", "+200 s", "+400 s"]


def test_one_moment_and_none() -> None:
    assert ticks(axis([104.0])) == {"0 s": 50.0}
    assert axis([]).at(104.0) == 50.0

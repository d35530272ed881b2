"""The tape: it shows each record once, says where everybody stands, and where the crash cut."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from workbook.views.drawing import ORANGE, RED, wide
from workbook.views.picture import Picture
from workbook.views.tape import SHOWN, Look, Place, Span, tape


def offsets_of(picture: Picture) -> list[int]:
    """The records that have a box of their own."""
    return [int(n) for n in re.findall(r"<title>offset (\d+):", picture.figure)]


def runs_of(picture: Picture) -> list[tuple[int, int]]:
    """The runs of records that share a box: first and last offset."""
    found = re.findall(r"<title>offsets (\d+) to (\d+)<", picture.figure)
    return [(int(first), int(last)) for first, last in found]


def boxes(picture: Picture) -> dict[int, tuple[float, float]]:
    """The records' left edges and widths, by their (first) offset."""
    found = re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>offsets? (\d+)', picture.figure
    )
    return {int(offset): (float(x), float(width)) for x, width, offset in found}


def arrows(picture: Picture) -> dict[str, float]:
    """Where the line ends that stands before each name below the records."""
    found = re.findall(
        r'points="[\d.]+,[\d.]+ ([\d.]+),[\d.]+" fill="none"[^>]*/><polygon[^>]*/>'
        r"<rect[^>]*/><text[^>]*>([^<]*):", picture.figure,
    )  # fmt: skip
    return {name: float(x) for x, name in found}


def test_places_and_what_lies_between_them_are_named() -> None:
    places = [Place("read", 4), Place("committed", 2)]
    drawn = tape(["a", "b", "c", "d", "e"], places)
    assert offsets_of(drawn) == [0, 1, 2, 3, 4]
    assert drawn.words == (
        "5 records, end at 5; committed at 2; read at 4; 2 records between committed and read."
    )
    assert {row["place"]: row["offset"] for row in drawn.rows} == {
        "read": "4", "committed": "2", "end": "5",
    }  # fmt: skip
    assert drawn.words in drawn.figure
    assert drawn.words in str(drawn)


@pytest.mark.parametrize("count", [9, 2000])
def test_an_arrow_stands_before_the_next_record_to_read(count: int) -> None:
    drawn = tape(["x"] * count, [Place("read", 7), Place("committed", 3)])
    left = boxes(drawn)
    found = arrows(drawn)
    assert set(found) == {"read", "committed"}
    assert abs(found["read"] - left[7][0]) <= 2
    assert abs(found["committed"] - left[3][0]) <= 2


def test_a_place_that_nobody_has_yet_and_one_whose_record_is_gone() -> None:
    drawn = tape(["a", "b"], [Place("committed", None), Place("read", 3)], first=10)
    assert "committed: nothing yet" in drawn.words
    assert "read at 3 (the first record left is 10)" in drawn.words
    assert drawn.rows[0] == {"place": "committed", "offset": "none yet"}
    assert "committed: nothing yet" in drawn.figure.replace(drawn.words, "")


def test_two_places_at_the_first_record_left() -> None:
    words = tape(["a", "b"], [Place("one", 10), Place("other", 10)], first=10).words
    assert words == "2 records, end at 12; one at 10; other at 10."


def test_a_run_says_how_many_and_offsets_do_not_cover_each_other() -> None:
    drawn = tape(["r"] * 1_000_000, [Place("committed", 500_000)])
    runs = runs_of(drawn)
    assert re.findall(r">…([\d,]+)…<", drawn.figure) == [
        f"{last - first + 1:,}" for first, last in runs
    ]
    left = boxes(drawn)
    written = [
        (float(x), int(offset))
        for x, offset in re.findall(
            r'<text x="([\d.]+)"[^>]*font-size="11"[^>]*>(\d+)<', drawn.figure
        )
    ]
    assert len(written) >= 4
    for x, offset in written:
        assert abs(x - left[offset][0]) <= 3
    for (x, offset), (following, _) in pairwise(written):
        assert x + wide(str(offset), 11) <= following


@pytest.mark.parametrize(("first", "end"), [(2, 10), (2, 4), (5, 6)])
def test_a_span_s_name_stands_above_the_middle_of_its_bracket_and_no_wider(
    first: int, end: int
) -> None:
    drawn = tape(["x"] * 24, [], spans=[Span("some records that are in memory", first, end)])
    [(left, right)] = re.findall(
        rf'points="([\d.]+),[\d.]+ [^ ]+ [^ ]+ ([\d.]+),[\d.]+" fill="none" stroke="{ORANGE}"',
        drawn.figure,
    )
    placed = boxes(drawn)
    assert abs(float(left) - placed[first][0]) <= 2
    assert abs(float(right) - sum(placed[end - 1])) <= 2
    lines = re.findall(r'<text x="([\d.]+)" y="[\d.]+"[^>]*size="12"[^>]*>([a-z ]+)<', drawn.figure)
    assert " ".join(reversed([words for _, words in lines])) == "some records that are in memory"
    for x, words in lines:
        assert abs(float(x) - (float(left) + float(right)) / 2) <= 2
        assert wide(words) <= float(right) - float(left) + 4


def test_an_empty_partition_and_one_record() -> None:
    assert "The partition is empty" in tape([], [Place("committed", 0)]).words
    assert "end 0" in tape([], []).figure
    one = tape(["/home"], [])
    assert offsets_of(one) == [0]
    assert one.words == "1 record, end at 1."


@pytest.mark.parametrize("committed", [0, 3, 500_000, 999_999, 1_000_000])
def test_of_a_million_records_those_around_the_places_are_drawn(committed: int) -> None:
    drawn = tape(["r"] * 1_000_000, [Place("committed", committed)])
    shown, runs = offsets_of(drawn), runs_of(drawn)
    assert len(shown) + 2 * len(runs) <= SHOWN
    assert committed in shown or committed - 1 in shown
    assert 999_999 in shown
    covered = [n for first, last in runs for n in (first, last)] + shown
    assert (min(covered), max(covered)) == (0, 999_999)
    assert len(shown) + sum(last - first + 1 for first, last in runs) == 1_000_000
    assert f"1,000,000 records, of which {len(shown)} are drawn, end at 1,000,000" in drawn.words
    assert f"committed at {committed:,}" in drawn.words


def test_places_far_apart_are_all_drawn_and_in_their_order() -> None:
    places = [Place(f"p{n}", n * 100_000) for n in range(9)]
    drawn = tape(["r"] * 1_000_000, places)
    assert {n * 100_000 for n in range(9)} <= set(offsets_of(drawn))
    left = [x for _, (x, _) in sorted(boxes(drawn).items())]
    assert left == sorted(left)
    assert drawn.drawing.width <= 900


def test_boxes_lie_side_by_side() -> None:
    drawn = tape(["r"] * 300, [Place("committed", 120)], spans=[Span("held", 120, 180)])
    placed = sorted(boxes(drawn).values())
    for (x, width), (following, _) in pairwise(placed):
        assert x + width <= following <= x + width + 3
    assert placed[-1][0] + placed[-1][1] < drawn.drawing.width


def test_a_crash_is_a_cut_with_a_word_before_the_record() -> None:
    drawn = tape(["x"] * 9, [Place("committed", 2)], crash=7)
    assert "✂ kill -9 here, before 7" in drawn.figure
    assert "kill -9 before offset 7" in drawn.words
    assert {"place": "kill -9 before", "offset": "7"} in drawn.rows
    [x] = re.findall(rf'points="([\d.]+),[^"]*" fill="none" stroke="{RED}"', drawn.figure)
    assert abs(float(x) - boxes(drawn)[7][0]) <= 2


@pytest.mark.parametrize("crash", [None, 3, 12, 13, 20])
def test_below_the_records_each_name_has_a_line_that_no_arrow_crosses(crash: int | None) -> None:
    places = [Place("b", 4), Place("d", 19), Place("a", 2), Place("c", 12)]
    drawn = tape(["x"] * 23, places, crash=crash)
    names = re.findall(
        r'<text x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)"[^>]*>((?:. kill|\w: )[^<]*)<',
        drawn.figure,
    )
    feet = re.findall(r'points="([\d.]+),([\d.]+) [^"]*" [^>]*stroke-width="2"/>', drawn.figure)
    feet += [
        tuple(points.split()[-1].split(","))
        for points in re.findall(r'points="([^"]*)" [^>]*stroke-width="2.5"', drawn.figure)
    ]
    assert len(names) == len(feet) == len({y for _, y, _, _ in names}) == 4 + (crash is not None)
    for x, y, anchor, words in names:
        length = wide(words)
        left = float(x) - (length if anchor == "end" else 0)
        crossing = [
            foot for foot, depth in feet
            if float(depth) > float(y) and left < float(foot) < left + length
        ]  # fmt: skip
        assert crossing == [], words


def test_each_kind_of_span_has_its_name_and_lines_of_its_own() -> None:
    labels = [""] * 8
    plain = tape(labels, []).figure
    drawn = {look: tape(labels, [], spans=[Span("three of them", 2, 5, look)]) for look in Look}
    for picture in drawn.values():
        assert "three of them" in picture.words
        assert {"place": "three of them", "offset": "2 to 4"} in picture.rows
        assert "three of them</text>" in picture.figure
    hatch, dash, inner, cross = 'opacity="0.6"', "stroke-dasharray", "<rect", 'stroke-width="2"'
    assert drawn[Look.HATCHED].figure.count(hatch) > 0 == plain.count(hatch)
    assert drawn[Look.CROSSED].figure.count(dash) == 3
    assert drawn[Look.CROSSED].figure.count(cross) == 3
    assert drawn[Look.DOUBLE].figure.count(inner) == plain.count(inner) + 3
    assert drawn[Look.PLAIN].figure.count(inner) == plain.count(inner)


def test_a_lost_record_s_cross_lies_in_its_box() -> None:
    drawn = tape(["x"] * 9, [], spans=[Span("lost", 2, 5, Look.CROSSED)])
    crosses = re.findall(r'<path d="M([\d.]+) [\d.]+L([\d.]+) [^>]*stroke-width="2"', drawn.figure)
    placed = [boxes(drawn)[offset] for offset in (2, 3, 4)]
    assert len(crosses) == 3
    for (left, right), (x, width) in zip(crosses, placed, strict=True):
        assert x <= float(left) < float(right) <= x + width


def test_a_label_on_a_hatched_record_has_a_ground_to_be_read_on() -> None:
    def grounds(look: Look) -> list[float]:
        figure = tape(["abc"] * 5, [], spans=[Span("s", 1, 3, look)]).figure
        found = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" height="13"', figure)
        return [float(x) + float(width) / 2 for x, width in found]

    middles = [x + width / 2 for x, width in boxes(tape(["abc"] * 5, [])).values()]
    assert grounds(Look.HATCHED) == pytest.approx(middles[1:3])
    assert grounds(Look.CROSSED) == grounds(Look.DOUBLE) == []


@pytest.mark.parametrize("first", [0, 5_000])
def test_up_to_24_records_are_all_drawn(first: int) -> None:
    assert offsets_of(tape(["x"] * SHOWN, [], first=first)) == [*range(first, first + SHOWN)]
    assert runs_of(tape(["x"] * (SHOWN + 1), [], first=first)) != []


@pytest.mark.parametrize("committed", range(0, 60, 7))
def test_a_run_is_longer_than_the_room_it_takes(committed: int) -> None:
    drawn = tape(["x"] * 60, [Place("committed", committed), Place("read", 33)], crash=41)
    assert all(last - first + 1 > 2 for first, last in runs_of(drawn))


def test_a_span_of_one_record_and_one_of_none() -> None:
    drawn = tape(["x"] * 4, [], spans=[Span("one", 1, 2), Span("none", 2, 2)])
    assert {"place": "one", "offset": "1"} in drawn.rows
    assert "none" not in drawn.words


def test_a_record_without_a_label_has_its_offset_in_its_box() -> None:
    drawn = tape({5: "five"}, [], first=3, end=8)
    assert offsets_of(drawn) == [3, 4, 5, 6, 7]
    assert drawn.words == "5 records, end at 8."
    cells = re.findall(r'text-anchor="middle" font-size="10"[^>]*>([^<]+)', drawn.figure)
    assert cells == ["3", "4", "five", "6", "7"]
    assert tape({5: "five"}, [], first=3).words == "3 records, end at 6."
    assert "empty" in tape({}, [], first=3).words


def test_a_span_behind_a_stale_end_keeps_its_name() -> None:
    drawn = tape(["x"] * 4, [], spans=[Span("two that came later", 6, 8)])
    assert "two that came</text>" in drawn.figure
    assert {"place": "two that came later", "offset": "6 to 7"} in drawn.rows


def test_a_partition_that_begins_later_and_labels_that_are_html() -> None:
    drawn = tape(["<b>", "y"], [Place("committed", 10)], first=10)
    assert offsets_of(drawn) == [10, 11]
    assert "<b>&" not in drawn.figure.replace("<b>A partition", "")
    assert "&lt;b&gt;" in drawn.figure


def test_it_is_the_same_each_time() -> None:
    places, spans = [Place("a", 3), Place("b", 700)], [Span("s", 3, 700, Look.CROSSED)]
    once = tape(["x"] * 1000, places, spans=spans, crash=800)
    assert once.figure == tape(["x"] * 1000, places, spans=spans, crash=800).figure


@pytest.mark.parametrize("count", [0, 1, 23, 24, 25, 2000])
@pytest.mark.parametrize("crash", [None, 0, 20])
def test_nothing_lies_outside_the_sheet(count: int, crash: int | None) -> None:
    places = [Place("the loop's next offset", count), Place("committed by counter", 0)]
    spans = [Span("eighteen records, only in memory: lost", 1, min(19, count), Look.CROSSED)]
    drawing = tape(["/basket"] * count, places, spans=spans, crash=crash).drawing
    svg = drawing.svg("")
    corners = [(float(x), float(y)) for x, y in re.findall(r' x="([-\d.]+)" y="([-\d.]+)"', svg)]
    for points in re.findall(r'points="([^"]+)"', svg):
        corners += [tuple(map(float, point.split(","))) for point in points.split()]
    assert all(-2 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in corners)
    for x, anchor, words in re.findall(
        r'<text x="([-\d.]+)" y="[-\d.]+" text-anchor="(\w+)" font-size="12"[^>]*>([^<]+)', svg
    ):
        length = wide(words)
        left = float(x) - {"start": 0, "middle": length / 2, "end": length}[anchor]
        assert left >= 0, words
        assert left + length <= drawing.width, words

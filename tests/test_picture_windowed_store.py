"""A windowed store as a grid: which cells have a row, which have none, and what fetch returns."""

from __future__ import annotations

import re

from workbook.views.axis import moment

from workbook.views.picture import Picture
from workbook.views.windowed_store import LINES, SHOWN, Cell, windowed_store

NINE = 1_800_000_000_000  # a multiple of five seconds
CELLS: list[Cell] = [
    (NINE, "mail", "7"), (NINE, "till", "55"), (NINE + 5000, "till", "90"),
    (NINE + 15_000, "till", "130"), (NINE + 15_000, "mail", "left"),
]  # fmt: skip


def titles(picture: Picture) -> list[str]:
    return re.findall(r"<title>([^<]*)<", picture.figure)


def frames(picture: Picture) -> list[list[float]]:
    """The left, upper, right and lower edge of each frame."""
    found = []
    for points in re.findall(r'<polyline points="([^"]+)"', picture.figure):
        numbers = [tuple(map(float, each.split(","))) for each in points.split()]
        xs, ys = zip(*numbers, strict=True)
        found.append([min(xs), min(ys), max(xs), max(ys)])
    return found


def test_each_group_has_a_cell_in_each_window_also_where_nothing_changed() -> None:
    drawn = windowed_store(CELLS, 5000)
    assert len(titles(drawn)) == 2 * 4
    assert sum(title.endswith(": no row") for title in titles(drawn)) == 3
    assert f"mail, window from {moment(NINE)[:8]}: 7" in titles(drawn)
    assert drawn.figure.count("stroke-dasharray") == 3
    assert drawn.words == "2 groups in 4 windows of 5 s: 5 rows, 3 cells without one."


def test_a_frame_holds_the_windows_that_fetch_returns_both_ends_included() -> None:
    drawn = windowed_store(CELLS, 5000, ("till", NINE + 5000, NINE + 15_000))
    assert drawn.words.endswith(" returns 2 rows.")
    assert "fetch(till, " in drawn.figure
    [(left, top, right, bottom)] = frames(drawn)
    boxes = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)"[^>]*><title>(\w+), [^<]*<', drawn.figure)
    inside = [k for x, y, k in boxes if left < float(x) < right and top < float(y) < bottom]
    assert inside == ["till"] * 3


def test_a_question_for_all_groups_frames_whole_columns() -> None:
    drawn = windowed_store(CELLS, 5000, (None, NINE, NINE))
    assert "fetch_all(" in drawn.words
    assert drawn.words.endswith(" returns 2 rows.")
    assert len(frames(drawn)) == 1


def test_what_isnt_on_the_sheet_has_no_frame() -> None:
    for asked in (("till", NINE - 60_000, NINE - 30_000), ("nobody", NINE, NINE)):
        drawn = windowed_store(CELLS, 5000, asked)
        assert frames(drawn) == []
        assert drawn.words.endswith(" returns 0 rows.")


def test_windows_that_are_gone_are_columns_without_a_row() -> None:
    drawn = windowed_store(CELLS, 5000, since=NINE - 10_000)
    assert sum(title.endswith(": no row") for title in titles(drawn)) == 3 + 4
    assert drawn.rows[0] == {"window from": moment(NINE - 10_000)[:8], "mail": "–", "till": "–"}


def test_an_empty_store_says_so() -> None:
    drawn = windowed_store([], 5000)
    assert drawn.words == "The store has no row yet."
    assert ">empty<" in drawn.figure


def test_of_many_windows_and_groups_the_newest_and_the_first_are_drawn() -> None:
    many = [(NINE + 5000 * n, f"g{k:02}", "1") for n in range(20) for k in range(15)]
    drawn = windowed_store(many, 5000)
    assert len(titles(drawn)) == SHOWN * LINES
    assert "10 windows before, 3 groups more" in drawn.figure
    assert len(drawn.rows) == 20
    ends = [float(x) + 70 for x in re.findall(r'<rect x="([\d.]+)"', drawn.figure)]
    assert max(ends) <= drawn.drawing.width


def test_the_same_stands_in_a_table() -> None:
    assert windowed_store(CELLS, 5000).rows[-1] == {
        "window from": moment(NINE + 15_000)[:8], "mail": "left", "till": "130"
    }  # fmt: skip

"""The table's change: what an update takes out of a group and brings in, and what stands there."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest

from workbook.classroom.table_pictures import (
    corners_of_filter,
    in_words,
    lines_of_groups,
    step_through,
)
from workbook.views.filter_square import PLACES, Met, filter_square
from workbook.views.group_steps import GROUPS, LAST, Step, group_steps
from workbook.views.picture import Picture
from workbook.views.table_change import Change, Update, table_change, table_changes

MOVED = Update(
    "p2",
    "Ada 5 AAPL",
    "Bo 5 AAPL",
    [Change("Ada", -1, "p1, p2", "p1"), Change("Bo", 1, "", "p2")],
)
GREW = Update(
    "p1", "Ada 10", "Ada 20", [Change("Ada", -1, "p1, p2", "p2"), Change("Ada", 1, "p2", "p1, p2")]
)


def titles(picture: Picture) -> list[str]:
    """What the boxes are about, in the order in which they're drawn."""
    return re.findall(r"<title>(.*?)</title>", picture.figure)


def words_at(picture: Picture) -> dict[str, float]:
    """Each text of the drawing, and how far down it stands (the last one, of several)."""
    found = re.findall(r'<text x="[\d.]+" y="([\d.]+)"[^>]*>([^<]*)</text>', picture.figure)
    return {text: float(y) for y, text in found}


# --- one update -------------------------------------------------------------------------------


def test_an_update_takes_the_old_row_out_and_brings_the_new_one_in() -> None:
    drawn = table_change(MOVED)
    assert drawn.words == (
        "p2 was Ada 5 AAPL and is Bo 5 AAPL; −1 in Ada: p1, p2 → p1; +1 in Bo: nothing → p2. "
        "After −1 and before +1, p2 is in no group."
    )
    assert titles(drawn) == [
        "old row: Ada 5 AAPL", "new row: Bo 5 AAPL",
        "Ada: p1, p2", "Ada: p1", "Bo: nothing", "Bo: p2",
    ]  # fmt: skip
    at = words_at(drawn)
    assert at["−1"] < at["+1"]
    assert abs(at["Ada"] - at["−1"]) < 2 > abs(at["Bo"] - at["+1"])


def test_the_rows_of_an_update_are_the_same_as_a_table() -> None:
    assert list(table_change(MOVED).rows) == [
        {
            "update": 1, "key": "p2", "old row": "Ada 5 AAPL", "new row": "Bo 5 AAPL",
            "change": "−1", "group": "Ada", "before": "p1, p2", "after": "p1",
        },
        {
            "update": 1, "key": "p2", "old row": "Ada 5 AAPL", "new row": "Bo 5 AAPL",
            "change": "+1", "group": "Bo", "before": "nothing", "after": "p2",
        },
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (Update("p3", None, "Bo 7 SAP"), "p3 is new: Bo 7 SAP: no change, so each group stays"),
        (Update("p9", None, None), "p9 had no row and has none: no change"),
        (Update("p1", "Ada", "Ada"), "p1 is Ada, as before: no change"),
        (Update("p1", "Ada", None, [Change("Ada", -1, "p1", "")]),
         "p1 was Ada and is closed; −1 in Ada: p1 → nothing."),
        (Update("p1", None, "Ada", [Change("Ada", 1, "", "p1")]),
         "p1 is new: Ada; +1 in Ada: nothing → p1."),
    ],
)  # fmt: skip
def test_what_becomes_of_a_row_is_said(update: Update, words: str) -> None:
    drawn = table_change(update)
    assert drawn.words.startswith(words)
    assert "is in no group" not in drawn.words
    assert len(drawn.rows) == 1


def test_a_lone_addition_stands_beside_the_new_row() -> None:
    new = words_at(table_change(Update("p1", None, "Ada", [Change("Ada", 1, "", "p1")])))
    old = words_at(table_change(Update("p1", "Ada", None, [Change("Ada", -1, "p1", "")])))
    assert abs(new["+1"] - new["new"]) < 2
    assert abs(old["−1"] - old["old"]) < 2


def test_a_change_begins_at_its_row() -> None:
    lines = re.findall(r'<polyline points="226,([\d.]+) 296,([\d.]+)"', table_change(MOVED).figure)
    assert [start == end for start, end in lines] == [True, True]
    assert float(lines[0][0]) < float(lines[1][0])


def test_a_result_leads_to_the_same_one_before_the_next_change() -> None:
    faint = 'stroke="var(--jp-border-color1, #bdbdbd)" stroke-width="1.5"'
    assert faint in table_change(GREW).figure
    assert faint not in table_change(MOVED).figure


def test_long_words_are_cut_and_html_is_text() -> None:
    row = "<b>" + "x" * 200
    drawn = table_change(Update("k", None, row, [Change("g" * 99, 1, "", row)]))
    assert "<b>x" not in drawn.drawing.svg("")
    assert max(map(len, words_at(drawn))) < 40
    assert f"new row: {row}".replace("<b>", "&lt;b&gt;") in titles(drawn)


# --- step by step -----------------------------------------------------------------------------


def test_updates_are_steps_of_which_the_first_is_chosen() -> None:
    stepper = table_changes([MOVED, GREW])
    page = stepper._repr_html_()
    assert stepper.words == "2 updates, 4 changes."
    assert re.findall(r"<label[^>]*>([^<]*)</label>", page) == ["1: p2", "2: p1"]
    assert re.findall(r'shortcuts="true"( checked)?>', page) == [" checked", ""]
    assert page.count('<div class="step">') == 2
    assert page.index("p2 was Ada") < page.index("p1 was Ada")
    assert [row["update"] for row in stepper.rows] == [1, 1, 2, 2]
    assert str(stepper).startswith("2 updates, 4 changes.\n1: p2: p2 was Ada 5 AAPL")


def test_two_steppers_in_a_page_do_not_share_their_buttons() -> None:
    stepper = table_changes([MOVED])
    names = [re.findall(r'name="([\w-]+)"', stepper._repr_html_()) for _ in range(2)]
    assert names[0] != names[1]


def test_no_update_and_one() -> None:
    assert table_changes([])._repr_html_() == "<p>0 updates, 0 changes.</p>"
    assert table_changes([Update("p", None, None)]).words == "1 update, 0 changes."


def test_of_many_updates_the_last_are_steps() -> None:
    stepper = table_changes([Update(f"p{n}", None, "row") for n in range(100_000)])
    assert stepper.words == "100,000 updates, 0 changes. The last 24 updates are drawn."
    assert stepper.names[0] == "99977: p99976"
    assert stepper.rows[0]["update"] == 99_977
    assert len(stepper.steps) == 24


# --- the steps of groups ----------------------------------------------------------------------

EMITTED = [
    Step("Ada", 1, "p1", "AAPL ×1"),
    Step("Bo", 1, "p2", "IBM ×1"),
    Step("Ada", -1, "p1", None),
]


def test_each_group_has_its_steps_on_a_line_of_its_own() -> None:
    drawn = group_steps(EMITTED)
    assert (
        drawn.words == "3 changes in 2 groups; Ada: 2 changes, deleted; Bo: 1 change, now IBM ×1."
    )
    assert titles(drawn) == [
        "Ada after 0 changes: not there", "Ada after 1 change: AAPL ×1",
        "Ada after 2 changes: ✗ deleted",
        "Bo after 0 changes: not there", "Bo after 1 change: IBM ×1",
    ]  # fmt: skip
    assert [row["result"] for row in drawn.rows] == [
        "not there → AAPL ×1", "AAPL ×1 → deleted", "not there → IBM ×1",
    ]  # fmt: skip
    assert [row["row"] for row in drawn.rows] == ["+1 p1", "−1 p1", "+1 p2"]
    at = words_at(drawn)
    assert at["Ada"] < at["Bo"]
    assert drawn.drawing.width <= 900


def test_a_removal_is_dashed() -> None:
    arrows = [
        "stroke-dasharray" in line
        for line in re.findall(r"<polyline[^>]*>", group_steps(EMITTED).figure)
    ]
    assert arrows == [False, True, False]


def test_no_step_yet() -> None:
    drawn = group_steps([])
    assert drawn.words == "No change has been emitted yet."
    assert "no change yet" in drawn.figure
    assert drawn.twin == ""


def test_of_many_groups_and_steps_the_latest_are_drawn_and_the_words_say_so() -> None:
    steps = [Step(f"c{n % 24}", 1, f"p{n}", f"×{n}") for n in range(240)]
    drawn = group_steps(steps)
    assert drawn.words.startswith("240 changes in 24 groups; c16: 10 changes, now ×232; ")
    assert drawn.words.endswith(
        f"Only the {GROUPS} groups that changed last are drawn. "
        f"Of each group the last {LAST} changes are drawn."
    )
    assert [row["change"] for row in drawn.rows[:LAST]] == [6, 7, 8, 9, 10]
    assert len(drawn.rows) == GROUPS * LAST
    assert "c15" not in words_at(drawn)
    assert len(titles(drawn)) == GROUPS * (LAST + 1)


def test_it_draws_a_hundred_thousand_steps_in_no_time() -> None:
    steps = [Step(f"c{n % 24}", 1, "p", "×1") for n in range(100_000)]
    began = time.perf_counter()
    first = group_steps(steps)
    assert time.perf_counter() - began < 1  # 300 ms on a quiet machine: benchmarks/pictures.py
    assert group_steps(steps).figure == first.figure


# --- the square of a filter -------------------------------------------------------------------


def test_each_update_stands_in_its_corner() -> None:
    drawn = filter_square([
        Met("1", None, "Bob", False, True, "row"),
        Met("3", "Al AAPL", "Al SAP", True, False, "delete"),
        Met("5", "Carol", None, True, False, "delete"),
    ])  # fmt: skip
    assert drawn.words == (
        "3 updates met the filter. Only now: 1 (emitted: 1 row). "
        "Only before: 2 (emitted: 2 deletes)."
    )
    at = words_at(drawn)
    assert at["1: no row → Bob"] < at["3: Al AAPL → Al SAP"] < at["5: Carol → no row"]
    assert titles(drawn) == [
        "neither before nor now: no update came here", "only now: emitted: 1 row",
        "only before: emitted: 2 deletes", "before and now: no update came here",
    ]  # fmt: skip


def test_a_corner_of_many_shows_three_and_counts_them_all() -> None:
    met = [Met(f"day-{n}", None, None, False, False, "nothing") for n in range(1000)]
    drawn = filter_square([*met, Met("1", "a", "a", True, True, "nothing")])
    assert "Neither before nor now: 1,000 (emitted: nothing)." in drawn.words
    assert "… and 997 more" in words_at(drawn)
    assert len([row for row in drawn.rows if row["corner"] == PLACES[False, False]]) == 3


def test_a_corner_with_rows_and_nothing() -> None:
    met = [Met("1", "a", "b", True, True, "row"), Met("1", "b", "b", True, True, "nothing")]
    assert "Before and now: 2 (emitted: nothing for 1, 1 row)." in filter_square(met).words


def test_no_update_has_met_the_filter() -> None:
    drawn = filter_square([])
    assert drawn.words == "No update has met the filter yet."
    assert len(titles(drawn)) == 4


# --- from a run -------------------------------------------------------------------------------


def row(client: str, amount: int, exchange: str = "NYSE") -> dict[str, Any]:
    return {"client": client, "ticker": "AAPL", "amount": amount, "exchange": exchange}


def test_rows_become_words() -> None:
    assert in_words(row("Ada", 10)) == "Ada 10 AAPL NYSE"
    assert in_words({"amount": 3}) == "3"
    assert in_words(None) is None
    assert in_words("not JSON") == "not JSON"


def test_changes_by_hand_fold_what_each_group_has() -> None:
    ada, more, bo = row("Ada", 10), row("Ada", 20), row("Bo", 5, "XETRA")
    stepper = step_through([
        ("p1", None, ada, [("Ada", 1, ada)]),
        ("p3", None, bo, []),
        ("p1", ada, more, [("Ada", -1, ada), ("Ada", 1, more)]),
        ("p1", more, None, [("Ada", -1, more)]),
        ("p9", None, None, [("Ada", -1, None)]),
    ])  # fmt: skip
    assert [r["before"] + " → " + r["after"] for r in stepper.rows] == [
        "nothing → p1: 10 AAPL", " → ",
        "p1: 10 AAPL → nothing", "nothing → p1: 20 AAPL",
        "p1: 20 AAPL → nothing", "nothing → nothing",
    ]  # fmt: skip


def test_rows_that_spark_emitted() -> None:
    seen = [
        {"client": "Ada", "change": "add", "position": "p1", "tickers": {"IBM": 2, "AAPL": 1},
         "deleted": False},
        {"client": "Ada", "change": "remove", "position": "p1", "tickers": None, "deleted": True},
        {"client": "Bo", "change": "add", "position": "p2", "tickers": {}, "deleted": False},
    ]  # fmt: skip
    assert lines_of_groups(seen).words == (
        "3 changes in 2 groups; Ada: 2 changes, deleted; Bo: 1 change, now none."
    )
    assert lines_of_groups(seen).rows[0]["result"] == "not there → AAPL ×1, IBM ×2"
    assert [found["row"] for found in lines_of_groups(seen).rows] == ["+1 p1", "−1 p1", "+1 p2"]


def test_what_a_filter_emitted_stands_in_the_corner_where_it_belongs() -> None:
    ny, abroad = row("Bob", 1), row("Bob", 1, "LSE")
    met: list[Any] = [("1", None, ny, ny), ("1", ny, abroad, "delete"), ("2", None, None, None)]
    drawn = corners_of_filter(met, lambda held: held["exchange"] == "NYSE")
    assert [(r["corner"], r["emitted"]) for r in drawn.rows] == [
        ("neither before nor now", "nothing"), ("only now", "row"), ("only before", "delete"),
    ]  # fmt: skip

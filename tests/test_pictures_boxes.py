"""Rows of boxes and grids: data in, words and rows out."""

import re
from typing import Any

from workbook.classroom.chapter import declared
from workbook.views import pipeline as draw
from workbook.views.boxes import Box
from workbook.views.picture import NOTHING
from workbook.views.table_change import CHANGES, group_steps, table_changes
from workbook.views.table_change import LAST as UPDATES
from workbook.views.windowed_store import LINES, windowed_store

T = 1_700_000_000_000


def test_a_part_of_a_pipeline_is_drawn_once_and_named_again() -> None:
    clicks, count, shown = draw.topic("clicks", 2), draw.loop("count", "map"), draw.sink("shown")
    drawn = draw.pipeline(
        (draw.producer("shop"), clicks, count, shown),
        (clicks, draw.query("by_spark"), shown),
        (draw.topic("orders"), count),
    )
    assert drawn.words == (
        "shop → clicks → count → shown; clicks → by_spark → shown; orders → count."
    )
    assert drawn.rows[1:3] == [
        {"part": "clicks", "kind": "topic, 2 partitions", "state": "–",
         "goes on to": "count, by_spark"},
        {"part": "count", "kind": "loop", "state": "map", "goes on to": "shown"},
    ]  # fmt: skip
    named = [[box.name for box in line if isinstance(box, Box)] for _, line in drawn.drawing.lines]
    assert named[1:] == [["↑ clicks", "by_spark", "↑ shown"], ["orders", "↑ count"]]
    assert drawn.figure.count("state: map") == 1
    assert draw.pipeline().words == NOTHING
    evil = draw.pipeline((draw.topic("<b>"),))
    assert "<b><b>" not in evil.figure


def test_each_chapter_declares_its_pipeline() -> None:
    assert declared("06_rebalance")[0][1].name == "clicks"
    assert declared("mob_ninety_minutes") == ()
    assert declared("99_nowhere") == ()


def emitted(client: str, change: str, position: str, deleted: bool = False) -> dict[str, Any]:
    what = {"client": client, "change": change, "position": position, "deleted": deleted}
    return {**what, "tickers": {"AAPL": 1}}


def test_the_latest_changes_of_each_group_are_drawn() -> None:
    drawn = group_steps([emitted("Al", "add", "p1"), emitted("Bo", "add", "p2"),
                         emitted("Al", "subtract", "p1", deleted=True)])  # fmt: skip
    assert drawn.words == "3 changes in 2 groups."
    assert "✗ deleted" in drawn.figure
    assert drawn.rows[1] == {
        "group": "Al", "change": 2, "row": "−1 p1", "result": "AAPL ×1 → deleted",
    }  # fmt: skip
    many = group_steps([emitted("Al", "add", f"p{n}") for n in range(CHANGES + 3)])
    assert f"Drawn: the last {CHANGES} changes of the 1 groups" in many.words
    assert len(many.rows) == CHANGES


def test_a_windowed_store_is_a_grid_with_what_a_question_returns() -> None:
    start = T // 10_000 * 10_000
    cells = [(start, "till", "3"), (start + 20_000, "office", "1"), (start + 20_000, "till", "3")]
    drawn = windowed_store(cells, 10_000, ("till", start, start + 10_000))
    assert drawn.words == "3 rows in 3 windows. fetch(till, 22:13:20, 22:13:30) returns 1 row."
    assert drawn.figure.count("1.5px dashed") == 3
    assert re.findall(r'title="([^"]*), returned"', drawn.figure) == ["till, 22:13:20"]
    assert drawn.rows[1] == {"window from": "22:13:30", "office": "–", "till": "–"}
    older = windowed_store(cells, 10_000, (None, start, start + 20_000), since=start - 10_000)
    assert "fetch_all(22:13:20, 22:13:40) returns 3 rows." in older.words
    assert len(older.rows) == 4
    assert "A double frame" not in windowed_store(cells, 10_000).caption
    assert windowed_store([], 10_000).words == NOTHING
    many = windowed_store([(start, f"g{n:02}", "1") for n in range(LINES + 1)], 10_000)
    assert f"the first {LINES} groups" in many.words


def test_an_update_is_a_row_that_goes_and_one_that_comes() -> None:
    bob, ann = ({"client": name, "amount": 1, "ticker": "IBM"} for name in ("Bob", "Ann"))
    drawn = table_changes([
        ("p1", None, bob, [("Bob", 1, bob)]),
        ("p1", bob, ann, [("Bob", -1, bob), ("Ann", 1, ann)]),
        ("p1", ann, None, []),
    ])  # fmt: skip
    assert drawn.picture.words == (
        "key: p1; old row: no row; new row: Bob 1 IBM; change: +1; group: Bob; before: nothing; "
        "after: p1: 1 IBM."
    )
    drawn.on.click()
    assert [row["change"] for row in drawn.picture.rows] == ["−1", "+1"]
    assert drawn.picture.words.endswith("After −1 and before +1, p1 is in no group.")
    assert "Ann after" in drawn.picture.figure
    drawn.on.click()
    assert "old row: Ann 1 IBM; new row: no row; change: none" in drawn.picture.words
    assert drawn.picture.figure.count("no change") == 2


def test_of_many_updates_the_last_ones_are_steps() -> None:
    drawn = table_changes([(f"p{n}", None, {"a": n}, []) for n in range(UPDATES + 3)])
    assert len(drawn.slider.options) == UPDATES
    assert drawn.slider.options[0] == ("4 of 27: p3", 0)
    drawn.on.click()
    assert drawn.picture.words.startswith("key: p4; old row: no row; new row: 4")

"""Strips of records, and the changes of a table: data in, words and rows out."""

from __future__ import annotations

import re
from typing import Any

import pytest

from workbook.classroom.tapes import drawn as of_loop
from workbook.kafka.tail import Seen
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
from workbook.views.restart import Moment, Record, restart
from workbook.views.strip import CUT, END
from workbook.views.table_change import LAST, Change, Update, table_change, table_changes
from workbook.views.tape import SHOWN as FEW
from workbook.views.tape import Look, Place, Span, tape


def boxes(picture: Picture, line: int = 0) -> list[Any]:
    return list(picture.drawing.lines[line][1])


# --- the tape ---------------------------------------------------------------------------------


def test_a_tape_says_where_each_place_is_and_what_lies_between() -> None:
    span = Span("two in memory", 2, 4)
    drawn = tape(["a", "b", "c", "d", "e"], [Place("read", 4), Place("committed", 2)], spans=[span])
    assert drawn.words == (
        "5 records, end at 5; committed at 2; read at 4; 2 records between committed and read; "
        "two in memory."
    )
    assert [(box.above, box.below, box.look) for box in boxes(drawn)] == [
        ("0", "", ""), ("1", "", ""), ("2", "▲2", "hatched"), ("3", "", "hatched"),
        ("4", "▲1", ""), ("5", "", END),
    ]  # fmt: skip
    assert drawn.rows == [
        {"place": "read", "offset": "4"}, {"place": "committed", "offset": "2"},
        {"place": "two in memory", "offset": "2 to 3"}, {"place": "end", "offset": "5"},
    ]  # fmt: skip
    assert "▲2 committed: 2" in drawn.figure


@pytest.mark.parametrize("committed", [0, 3, 500_000, 999_999, 1_000_000])
def test_of_a_million_records_those_around_the_places_are_drawn(committed: int) -> None:
    drawn = tape(["r"] * 1_000_000, [Place("committed", committed)], crash=committed)
    found = boxes(drawn)
    assert len(found) <= FEW + 2
    assert sum("▲1" in box.below for box in found) == 1
    runs = [int(re.sub(r"\D", "", box.label)) for box in found if "…" in box.label]
    singles = [box for box in found if box.look == "" and "…" not in box.label]
    assert sum(runs) + len(singles) == 1_000_000
    [cut] = [box for box in found if box.look == CUT]
    assert cut.above == f"{committed:,}"
    assert f"kill -9 before offset {committed:,}" in drawn.words


def test_an_empty_partition_records_that_are_gone_and_places_that_are_not_known() -> None:
    assert tape([], []).words.startswith("The partition is empty")
    drawn = tape(["x"], [Place("a", 3), Place("b", None)], first=7)
    assert drawn.words == "1 record, end at 8; a at 3 (the first record left is 7); b: nothing yet."
    assert boxes(drawn)[0].below == "▲1"
    assert (
        "<b>" not in tape(["<b>"], []).figure.partition("<figcaption")[0].replace("<b></b>", "")[:0]
    )
    assert boxes(tape({5: "five"}, [], first=3, end=8))[2].label == "five"
    beyond = tape(["x"], [Place("stale", 9)])
    assert boxes(beyond)[-1].below == "▲1"


def test_a_loop_that_was_begun_anew_has_forgotten_what_came_before() -> None:
    seen = Seen(first=0, end=6, committed=2, labels=dict.fromkeys(range(6), "a"), silent=True)
    drawn = of_loop(seen, "counter", 4, 5)
    assert "4 records forgotten by the count" in drawn.words
    assert "1 record read, their count in memory alone" in drawn.words
    assert "doesn't answer" in drawn.caption
    assert [box.look for box in boxes(drawn)][:5] == ["crossed"] * 4 + [Look.HATCHED.value]


# --- a restart --------------------------------------------------------------------------------

LABELS = ["v1", "v2", "v3", "v1", "v2", "v4", "v4", "v5", "v2", "v3", "v5", "v6"]
SINK: list[Record] = [("v1", [0, 3], 0), ("v4", [5, 6], 1), ("v2", [1, 4, 8], 1)]
AGAIN: list[Record] = [
    ("v1", [3], 1), ("v4", [5, 6], 1), ("v2", [1, 4, 8], 1), ("v3", [2, 9], 1), ("v5", [7, 10], 1),
]  # fmt: skip
RUN: list[Moment] = [
    (0, 3, {"v1": [0], "v2": [1], "v3": [2]}, []),
    (3, 6, {"v2": [1, 4], "v3": [2], "v4": [5]}, SINK[:1]),
    (6, 8, {"v2": [1, 4], "v3": [2], "v5": [7]}, SINK[:2]),
    (8, 12, {"v3": [2, 9], "v5": [7, 10], "v6": [11]}, SINK),
    (1, 12, {"v6": [11]}, SINK + AGAIN),
]


def test_a_restart_says_what_is_open_and_where_it_begins() -> None:
    drawn = restart(LABELS, RUN, 3)
    assert drawn.words == (
        "Reading goes on at 8 of 12; v2, v3, v5 open; 2 records in the sink, the last of which "
        "says 1; 0 records read more than once; 0 messages emitted more than once."
    )
    looks = {box.above: box.look for box in boxes(drawn) if box.label.startswith("v")}
    assert {offset for offset, look in looks.items() if look == "hatched"} == {"1", "2", "4", "7"}
    assert {offset for offset, look in looks.items() if look == "unread"} == {"8", "9", "10", "11"}


def test_after_a_kill_some_records_are_read_twice_and_some_visits_emitted_twice() -> None:
    assert restart(LABELS, RUN, 4).words.startswith("Killed at 12 of 12")
    assert [box.above for box in boxes(restart(LABELS, RUN, 4)) if box.look == CUT] == ["12"]
    drawn = restart(LABELS, RUN)
    assert "11 records read more than once; 6 messages emitted more than once." in drawn.words
    marks = [box.below for box in boxes(drawn) if box.label.startswith("v")]
    assert marks == ["✓", *["✓✓↻", "✓↻"], *["✓✓↻"] * 4, *["✓↻", "✓✓↻", "✓↻", "✓↻"], "↻"]
    assert "a new start" in [box.label for box in boxes(drawn)]
    lost = restart(["a", "b"], [(0, 2, {}, [("a", [0], 1)])])
    assert lost.words.endswith("1 message lost.")
    assert "none of them read yet" in restart(LABELS, []).words
    assert drawn.rows[-1]["the sink says"] == 1


# --- compaction -------------------------------------------------------------------------------

CHAPTER = [Stored(n, key, n == 7) for n, key in enumerate("12345125311")]
"""Chapter 20's partition: offset 7 is a tombstone, 9 begins the active segment."""


def why(picture: Picture) -> dict[int, str]:
    return {row["offset"]: row["now"] for row in picture.rows}


def test_compaction_says_what_went_what_stayed_and_why() -> None:
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
    before, now = boxes(drawn), boxes(drawn, 1)
    assert [box.label for box in before] == [
        "closed", *"1234512", "✝5", "3", "active", "1", "1",
    ]  # fmt: skip
    assert [box.look for box in now if box.above in ("0", "1", "2", "4")] == ["gone"] * 4
    assert [box.below for box in now if box.below] == ["L", "C", "L", "L", "L", "A", "L"]
    assert drawn.rows[7]["key"] == "5 (tombstone)"


def test_compaction_before_it_ran_of_tombstones_of_keys_that_are_missing_and_of_many() -> None:
    due = compaction(CHAPTER, range(11), [0, 9])
    assert [n for n, reason in why(due).items() if reason == DUE] == [0, 1, 2, 4]
    odd = [Stored(0, "a", True), Stored(1, None), Stored(2, "b"), Stored(3, "c")]
    assert why(compaction(odd, [1, 3], [0, 3])) == {0: EXPIRED, 1: KEYLESS, 2: LOST, 3: LATEST}
    assert "nothing to compact" in compaction([], []).words
    many = compaction([Stored(n, str(n)) for n in range(99)], range(99))
    assert many.words.endswith(f"The last {SHOWN} are drawn.")
    assert len(many.rows) == SHOWN


# --- a table's changes ------------------------------------------------------------------------


def test_an_update_is_a_row_that_goes_and_one_that_comes() -> None:
    moved = Update(
        "p1", "Bob: 1", "Ann: 1", [Change("Bob", -1, "p1", ""), Change("Ann", 1, "", "p1")]
    )
    drawn = table_change(moved)
    assert drawn.words == (
        "p1 was Bob: 1 and is Ann: 1; −1 in Bob: p1 → nothing; +1 in Ann: nothing → p1. "
        "After −1 and before +1, p1 is in no group."
    )
    assert [row["change"] for row in drawn.rows] == ["−1", "+1"]
    assert "is new: x" in table_change(Update("p", None, "x")).words
    assert "is closed" in table_change(Update("p", "x", None)).words
    assert "no change, so each group stays" in table_change(Update("p", "x", "x")).words


def test_of_many_updates_the_last_ones_are_steps() -> None:
    drawn = table_changes([Update(f"p{n}", None, "x") for n in range(LAST + 3)])
    assert len(drawn.steps) == LAST
    assert drawn.words == f"27 updates, 0 changes. The last {LAST} updates are drawn."
    assert drawn.rows[0]["update"] == 4
    page = drawn._repr_html_()
    assert page.count('type="radio"') == LAST
    assert "<p>" in table_changes([])._repr_html_()

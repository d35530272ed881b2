"""A restart as a picture: what is open, emitted, read twice, and where the sink says to begin."""

from __future__ import annotations

import re

import pytest

from workbook.views.picture import Picture
from workbook.views.restart import SHOWN, Moment, Record, restart

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


def states(picture: Picture) -> dict[int, str]:
    """The state of each record of the source, by its offset."""
    found = re.findall(r"<title>offset (\d+): \w+, ([\w ]+)<", picture.figure)
    return {int(offset): state for offset, state in found}


def marks(picture: Picture) -> list[str]:
    return re.findall(r">(✓*↻?)</text>", picture.figure)


def test_it_says_what_is_open_and_where_a_restart_begins() -> None:
    assert restart(LABELS, RUN, 3).words == (
        "Reading goes on at 8 of 12; v2, v3, v5 open; 2 records in the sink, the last of which "
        "says 1; 0 records read more than once; 0 messages emitted more than once."
    )
    assert "2 records in the sink, the last of which says 1" in restart(LABELS, RUN, 3).figure


def test_each_record_of_the_source_has_its_state_in_words() -> None:
    drawn = states(restart(LABELS, RUN, 3))
    assert {offset for offset, state in drawn.items() if state == "open"} == {1, 2, 4, 7}
    assert {offset for offset, state in drawn.items() if state == "emitted"} == {0, 3, 5, 6}
    assert {offset for offset, state in drawn.items() if state == "not read"} == {8, 9, 10, 11}


def test_a_restart_reads_some_records_twice_and_emits_some_visits_twice() -> None:
    drawn = restart(LABELS, RUN)
    assert marks(drawn) == ["✓", *["✓✓↻", "✓↻"], *["✓✓↻"] * 4, *["✓↻", "✓✓↻", "✓↻", "✓↻"], "↻"]
    assert "11 records read more than once; 6 messages emitted more than once." in drawn.words
    assert "a restart begins at 1" in drawn.figure
    assert "a new start: 1 to 11" in drawn.figure


def test_a_loop_that_is_begun_anew_was_killed_before() -> None:
    assert "killed at 12" in restart(LABELS, RUN, 4).figure
    assert restart(LABELS, RUN, 4).words.startswith("Killed at 12 of 12;")
    for until in (3, 5):
        assert "killed" not in restart(LABELS, RUN, until).figure.lower()


def test_what_is_neither_open_nor_in_the_sink_is_lost() -> None:
    wrong = [*RUN[:4], (11, 12, {"v6": [11]}, SINK)]
    drawn = restart(LABELS, wrong)
    assert {offset for offset, state in states(drawn).items() if state == "lost"} == {2, 7, 9, 10}
    assert drawn.words.endswith("; 4 messages lost.")


def test_what_is_emitted_more_than_twice_has_a_number() -> None:
    again = [*RUN, (1, 12, {"v6": [11]}, SINK + AGAIN * 5)]
    drawn = restart(LABELS, again)
    assert ">6✓↻<" in drawn.figure
    assert f"the last {SHOWN} of 28 records" in drawn.figure


@pytest.mark.parametrize("until", [0, 1])
def test_an_empty_sink_says_nothing(until: int) -> None:
    drawn = restart(LABELS, RUN, until)
    assert "a restart begins" not in drawn.figure
    assert ">empty<" in drawn.figure
    nothing = "so nothing says where to begin" if until else "none of them read yet"
    assert nothing in drawn.words


def test_a_record_that_says_nothing_has_no_arrow() -> None:
    drawn = restart(LABELS, [(0, 12, {}, [("v1", [0, 3], None)])])
    assert "which don't say where to begin" in drawn.words
    assert "a restart begins" not in drawn.figure


def test_the_same_stands_in_a_table() -> None:
    assert restart(LABELS, RUN, 3).rows[-1] == {
        "batch": 3,
        "read": "6: v4, 7: v5",
        "open": "v2, v3, v5",
        "emitted": "v4",
        "the sink says": 1,
    }
    assert restart(LABELS, RUN, 1).rows[0]["the sink says"] == "–"


def test_a_slider_moves_nothing_but_what_happens() -> None:
    def places(until: int) -> list[str]:
        return re.findall(r'x="([\d.]+)"[^>]*><title>offset ', restart(LABELS, RUN, until).figure)

    assert places(0) == places(2) == places(5)


def test_of_a_long_partition_the_last_records_are_drawn() -> None:
    labels = [f"v{n}" for n in range(100)]
    drawn = restart(labels, [(60, 100, {"v40": [40]}, [("v50", [50], 40)])])
    assert sorted(states(drawn)) == list(range(100 - SHOWN, 100))
    assert "a restart begins at 40" in drawn.figure
    ends = [float(x) for x in re.findall(r'<rect x="([\d.]+)"', drawn.figure)]
    assert max(ends) < drawn.drawing.width

"""What a kill found, as a tape: which records were in memory alone, and what a restart does."""

import pytest

from workbook.crashlab.crashes.base import Traced
from workbook.crashlab.points import READ, NoteRead, read_in
from workbook.crashlab.report import Stopped, tapes


def traced(published: dict[int, int], records: int = 20, actions: tuple[int, ...] = ()) -> Traced:
    """Twenty records; those in ``published`` lie in results of these offsets."""
    counted = frozenset(range(records)) - frozenset(actions)
    return Traced("page view", records, counted, published)


FIRST_TEN = dict.fromkeys(range(10), 0)
LATER = FIRST_TEN | dict.fromkeys(range(10, 20), 1)
GAPS = {n: 0 for n in FIRST_TEN if n not in (3, 4, 5)}
DONE, AGAIN = "counted and published: done", "counted and published: read again"
LOST, KEPT = "counted, but not published: lost", "counted, but not published: read again"


@pytest.mark.parametrize(
    ("given", "stop", "expected"),
    [
        (traced(FIRST_TEN), Stopped(0, 12, 6, 1),
         {f"6 page views {DONE}": "0 to 5", f"4 page views {AGAIN}": "6 to 9",
          f"2 page views {KEPT}": "10 to 11"}),
        (traced(LATER), Stopped(0, 15, 10, 1),  # published after the kill: it was in memory
         {f"10 page views {DONE}": "0 to 9", f"5 page views {KEPT}": "10 to 14"}),
        (traced(LATER), Stopped(0, 15, 10, 2),
         {f"10 page views {DONE}": "0 to 9", f"5 page views {AGAIN}": "10 to 14"}),
        (traced(GAPS, actions=(4, 11)), Stopped(0, 13, 10, 1),
         {f"3 page views {DONE}": "0 to 2", f"2 page views {LOST}": "3 to 5",
          f"4 page views {DONE}": "6 to 9", f"2 page views {KEPT}": "10 to 12"}),
        (traced(FIRST_TEN), Stopped(13, 16, 14, 1),  # the last life's records alone
         {f"1 page view {LOST}": "13", f"2 page views {KEPT}": "14 to 15"}),
        (traced({}), Stopped(0, 2, None, 0), {f"2 page views {KEPT}": "0 to 1"}),
        (traced(FIRST_TEN), Stopped(0, 0, None, 0), {}),
    ],
)  # fmt: skip
def test_a_kill_decides_the_fate_of_each_record(given, stop, expected) -> None:
    [picture] = tapes(given, [stop])
    assert {row["place"]: row["offset"] for row in picture.rows[1:-2]
            if row["place"] != "not read yet"} == expected  # fmt: skip
    begins = "nothing committed" if stop.committed is None else "last commit"
    assert f"{begins}, so a restart begins here: {stop.committed or 0}" in picture.words
    assert f"kill -9 before: {stop.read}" in picture.words


def test_of_many_gaps_the_two_longest_are_bracketed_and_all_are_counted() -> None:
    unpublished = {0, 3, 4, 8, 12, 13, 14, 17}
    published = {n: 0 for n in range(20) if n not in unpublished}
    drawn, second = tapes(traced(published), [Stopped(0, 20, 20, 1)] * 2)
    assert [row["offset"] for row in drawn.rows if "page view" in row["place"]] == [
        "3 to 4", "5 to 7", "9 to 11", "12 to 14",
    ]  # fmt: skip
    assert drawn.words.count("(8 in all)") == drawn.words.count("(12 in all)") == 2
    assert second.caption.startswith("Kill 2 of 2.")


def test_a_note_is_there_at_once_and_the_last_one_counts(tmp_path) -> None:
    note = NoteRead(tmp_path)
    assert read_in(tmp_path) is None
    for offset in (7, 1234, 1235):
        note(offset)
        assert read_in(tmp_path) == offset
    (tmp_path / READ).write_text("")
    assert read_in(tmp_path) is None

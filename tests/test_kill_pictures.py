"""What a kill found, as a tape: which records were in memory alone, and what a restart does."""

from workbook.crashlab.crashes.base import Traced
from workbook.crashlab.kill_pictures import Stopped, tapes
from workbook.crashlab.plan import READ, NoteRead, read_in
from workbook.views.picture import Picture


def traced(published: dict[int, int], records: int = 20, actions: tuple[int, ...] = ()) -> Traced:
    """Twenty records; those in ``published`` lie in results of these offsets."""
    counted = frozenset(range(records)) - frozenset(actions)
    return Traced("page view", records, counted, published)


def spans(picture: Picture) -> dict[str, str]:
    return {
        row["place"]: row["offset"]
        for row in picture.rows
        if "page view" in row["place"]
    }  # fmt: skip


def one(given: Traced, stop: Stopped) -> Picture:
    [picture] = tapes(given, [stop])
    return picture


FIRST_TEN = dict.fromkeys(range(10), 0)


def test_a_bookmark_ahead_of_the_results_loses_what_was_in_memory() -> None:
    drawn = one(traced(FIRST_TEN), Stopped(0, read=15, committed=13, results=1))
    assert spans(drawn) == {
        "10 page views counted and published: done": "0 to 9",
        "3 page views counted, but not published: lost": "10 to 12",
        "2 page views counted, but not published: read again": "13 to 14",
    }
    assert "last commit, so a restart begins here: 13" in drawn.words
    assert "kill -9 before: 15" in drawn.words


def test_a_bookmark_behind_the_results_reads_them_again() -> None:
    drawn = one(traced(FIRST_TEN), Stopped(0, read=12, committed=6, results=1))
    assert spans(drawn) == {
        "6 page views counted and published: done": "0 to 5",
        "4 page views counted and published: read again": "6 to 9",
        "2 page views counted, but not published: read again": "10 to 11",
    }


def test_what_was_published_after_the_kill_was_in_memory_when_it_fell() -> None:
    later = FIRST_TEN | dict.fromkeys(range(10, 20), 1)
    done = {"10 page views counted and published: done": "0 to 9"}
    drawn = one(traced(later), Stopped(0, read=15, committed=10, results=1))
    assert spans(drawn) == done | {
        "5 page views counted, but not published: read again": "10 to 14"
    }
    drawn = one(traced(later), Stopped(0, read=15, committed=10, results=2))
    assert spans(drawn) == done | {"5 page views counted and published: read again": "10 to 14"}


def test_a_gap_is_bracketed_apart_and_records_that_do_not_count_part_nothing() -> None:
    gap = {n: 0 for n in FIRST_TEN if n not in (3, 4, 5)}
    drawn = one(traced(gap, actions=(4, 11)), Stopped(0, read=13, committed=10, results=1))
    assert spans(drawn) == {
        "3 page views counted and published: done": "0 to 2",
        "2 page views counted, but not published: lost": "3 to 5",
        "4 page views counted and published: done": "6 to 9",
        "2 page views counted, but not published: read again": "10 to 12",
    }
    assert "1 page view counted, but" in one(traced(gap), Stopped(0, 4, 10, 1)).words


def test_nothing_committed_and_nothing_read() -> None:
    drawn = one(traced(FIRST_TEN), Stopped(0, read=0, committed=None, results=0))
    assert "nothing committed, so a restart begins here: 0" in drawn.words
    assert spans(drawn) == {}
    drawn = one(traced({}), Stopped(0, read=2, committed=None, results=0))
    assert spans(drawn) == {"2 page views counted, but not published: read again": "0 to 1"}


def test_of_many_gaps_the_two_longest_are_bracketed_and_all_are_counted() -> None:
    unpublished = {0, 3, 4, 8, 12, 13, 14, 17}
    published = {n: 0 for n in range(20) if n not in unpublished}
    drawn = one(traced(published), Stopped(0, read=20, committed=20, results=1))
    assert [row["offset"] for row in drawn.rows if "page view" in row["place"]] == [
        "3 to 4", "5 to 7", "9 to 11", "12 to 14",
    ]  # fmt: skip
    assert drawn.words.count("(8 in all)") == drawn.words.count("(12 in all)") == 2


def test_a_note_is_there_at_once_and_the_last_one_counts(tmp_path) -> None:
    assert read_in(tmp_path) is None
    note = NoteRead(tmp_path)
    assert read_in(tmp_path) is None
    note(7)
    assert read_in(tmp_path) == 7
    note(1234)
    note(1235)
    assert read_in(tmp_path) == 1235
    (tmp_path / READ).write_text("")
    assert read_in(tmp_path) is None

"""Keys, partitions, members: who writes where, who reads what, and what changed hands."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from workbook.views.group import BUSIEST, STEPS, who_reads, who_writes
from workbook.views.picture import Picture
from workbook.views.shares import SAMPLE, Step, ranges

A_ALL = {"A": {0, 1, 2, 3, 4, 5}}
TO_A, TO_B = ("A", "assigned", [0, 1, 2]), ("B", "assigned", [3, 4, 5])
BY_RANGE: list[Step] = [("A", "revoked", [0, 1, 2, 3, 4, 5]), TO_A, TO_B]
COOPERATIVE: list[Step] = [("A", "revoked", [3, 4, 5]), TO_B]
SHARED = {"A": {0, 1, 2}, "B": {3, 4, 5}}


def texts(picture: Picture) -> dict[str, tuple[float, float]]:
    """Where each text stands; of equal ones the last."""
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)<', picture.figure)
    return {words: (float(x), float(y)) for x, y, words in found}


def lines(picture: Picture) -> list[tuple[float, float, float, float, bool]]:
    """From where to where each line goes, and whether it's dashed."""
    found = re.findall(
        r'<polyline points="([\d.]+),([\d.]+) ([\d.]+),([\d.]+)"([^>]*)', picture.figure
    )
    return [(*map(float, its), "dasharray" in more) for *its, more in found]  # type: ignore[misc]


def boxes(picture: Picture) -> dict[str, tuple[float, float, float]]:
    """The left, top and height of each box with a title."""
    found = re.findall(
        r'<rect x="([\d.]+)" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"[^>]*>'
        r"<title>([^<]*)</title>",
        picture.figure,
    )
    return {title: (float(x), float(y), float(height)) for x, y, height, title in found}


def middle(picture: Picture, box: str) -> float:
    _, top, height = boxes(picture)[box]
    return top + height / 2


def squares(picture: Picture) -> list[str]:
    """Who had each partition, step by step, as drawn."""
    found = re.findall(r"<title>partition (\d+): ([^<]+)</title>", picture.figure)
    count = 1 + max(int(partition) for partition, _ in found)
    return [" ".join(who for p, who in found if int(p) == each) for each in range(count)]


def test_a_line_goes_from_each_key_to_its_partition() -> None:
    drawn = who_writes([("tab-a", 0), ("tab-b", 2), ("tab-b", 2), ("tab-c", 2)], 3)
    at = texts(drawn)
    for key, partition in (("tab-a · 1", 0), ("tab-b · 2", 2), ("tab-c · 1", 2)):
        y = at[key][1] - 4
        [its] = [line for line in lines(drawn) if line[1] == pytest.approx(y)]
        assert its[3] == pytest.approx(middle(drawn, f"partition {partition}"))
        assert its[0] > at[key][0]
        assert its[2] == boxes(drawn)[f"partition {partition}"][0]
    assert len(lines(drawn)) == 3
    assert drawn.words == (
        "4 records in 3 partitions: 1, 0, 3. 3 keys; each lies in one partition."
    )
    assert [tuple(row.values()) for row in drawn.rows] == [(0, 1, 1), (1, 0, 0), (2, 3, 2)]


def test_records_without_a_key_have_dashed_lines_and_a_sentence() -> None:
    drawn = who_writes([(None, 0), (None, 2), ("a", 1)], 3)
    assert sorted(dashed for *_, dashed in lines(drawn)) == [False, True, True]
    assert "2 records have no key and lie in partitions 0, 2." in drawn.words
    assert "1 key; it lies in one partition." in drawn.words
    assert drawn.rows[0] == {"partition": 0, "records": 1, "keys": 0}
    assert "1 record has no key and lies in partition 1." in who_writes([(None, 1)], 2).words


def test_a_key_in_several_partitions_is_named_and_drawn_thick() -> None:
    drawn = who_writes([("a", 0), ("a", 2), ("b", 1)], 3)
    assert "2 keys; 1 lies in several partitions (a in 0, 2)." in drawn.words
    assert drawn.figure.count('stroke-width="2.5"') == 2
    many = who_writes([(f"k{n}", place) for n in range(5) for place in range(9)], 9)
    assert (
        "5 lie in several partitions (k0 in 9 partitions; k1 in 9 partitions; k2 in 9 partitions; "
        "and 2 more)." in many.words
    )


def test_of_many_keys_the_busiest_are_drawn_and_the_marked_one() -> None:
    written = [(f"tab-{n}", n % 3) for n in range(40) for _ in range(n + 1)]
    drawn = who_writes(written, 3, mark="tab-0")
    shown = {words.split(" · ")[0] for words in texts(drawn) if " · " in words}
    assert shown == {f"tab-{n}" for n in range(40 - BUSIEST + 1, 40)} | {"tab-0"}
    assert "… and 28 more" in texts(drawn)
    assert len(lines(drawn)) == BUSIEST
    assert "40 keys, 12 of them drawn; each lies in one partition." in drawn.words
    assert drawn.words.endswith("tab-0 lies in partition 0.")
    assert re.search(r'font-weight="600">tab-0 · 1<', drawn.figure)
    assert "tab-0 ·" not in who_writes(written, 3).figure
    assert "nobody" not in who_writes(written, 3, mark="nobody").words


def test_keys_stand_in_the_order_of_their_partitions() -> None:
    at = texts(who_writes([("a", 2), ("b", 0), ("c", 1), (None, 0)], 3))
    assert sorted(at, key=lambda words: at[words][1])[2:] != []
    order = [words for words in sorted(at, key=lambda w: at[w][1]) if " · " in words]
    assert order == ["b · 1", "c · 1", "a · 1", "no key · 1"]


@pytest.mark.parametrize("partitions", [1, 3, 24])
def test_an_empty_topic(partitions: int) -> None:
    drawn = who_writes([], partitions)
    assert drawn.words == "The topic is empty."
    assert len(boxes(drawn)) == partitions == len(drawn.rows)
    assert lines(drawn) == []


def test_one_record() -> None:
    assert who_writes([("a", 0)], 1).words == (
        "1 record in 1 partition: 1. 1 key; it lies in one partition."
    )


def test_24_partitions_fit_on_the_page_and_do_not_overlap() -> None:
    written = [(f"key-{n}", n % 24) for n in range(48)] + [("key-0", 0)]
    drawn = who_reads({"A": range(12), "B": range(12, 24)}, [], 24, written=written)
    tops = sorted((top, top + height) for _, top, height in boxes(drawn).values() if height < 30)
    assert all(low <= top for (_, low), (top, _) in pairwise(tops))
    assert tops[-1][1] < drawn.drawing.height < 600
    assert drawn.drawing.width <= 900
    assert "49 records in 24 partitions: between 2 and 3 in each." in drawn.words
    assert "A reads partitions 0–11; B reads partitions 12–23." in drawn.words


def test_of_a_million_records_a_sample_is_counted_and_says_so() -> None:
    written = [(f"k{n % 7}", n % 2) for n in range(1_000_000)]
    drawn = who_writes(written, 2)
    assert drawn.words.startswith(f"A sample of {SAMPLE:,} of 1,000,000 records in 2 partitions: ")
    counts = [int(row["records"]) for row in drawn.rows]
    assert sum(counts) == SAMPLE
    assert all(abs(count - SAMPLE / 2) < SAMPLE / 50 for count in counts)
    assert "sample" not in who_writes(written[:SAMPLE], 2).words
    assert drawn.figure == who_writes(written, 2).figure


def test_keys_that_are_no_text_long_ones_and_html() -> None:
    drawn = who_writes([(b"\xff\xfe", 0), (b"x" * 500, 0), ("<b>", 0), (b"", 0)], 1)
    assert "\\xff\\xfe · 1" in texts(drawn)
    assert "xxxxxxxxxxxx… · 1" in texts(drawn)
    assert "&lt;b&gt; · 1" in drawn.figure
    assert "4 keys" in drawn.words
    assert "(empty) · 1" in texts(drawn)
    assert " lies in partition" not in drawn.words


def test_a_partition_beyond_the_last_one_is_drawn_too() -> None:
    assert [row["records"] for row in who_writes([("a", 3)], 2).rows] == [0, 0, 0, 1]
    assert len(who_reads({"A": {4}}, [], 2).rows) == 5


def test_a_line_goes_from_each_partition_to_its_reader() -> None:
    drawn = who_reads(SHARED, [], 6)
    for name, partitions in SHARED.items():
        its = [line for line in lines(drawn) if line[3] == pytest.approx(middle(drawn, name))]
        assert [line[1] for line in its] == [middle(drawn, f"partition {p}") for p in partitions]
        assert all(line[2] == boxes(drawn)[name][0] for line in its)
    assert drawn.words == "A reads partitions 0–2; B reads partitions 3–5."
    assert [row["read by"] for row in drawn.rows] == [*"AAABBB"]
    assert {dashed for *_, dashed in lines(drawn)} == {False, True}
    assert "squares" not in drawn.caption


def test_a_partition_that_nobody_reads_is_marked_in_words() -> None:
    drawn = who_reads({"A": {0, 2}}, [], 4)
    assert drawn.figure.count("nobody reads it") == 2
    assert texts(drawn)["nobody reads it"][1] == pytest.approx(middle(drawn, "partition 3") + 4)
    assert drawn.words == "A reads partitions 0, 2. Nobody reads partitions 1, 3."
    assert [row["read by"] for row in drawn.rows] == ["A", "nobody", "A", "nobody"]
    assert "nobody" not in who_writes([("a", 0)], 2).figure


def test_no_member_and_one_that_reads_nothing() -> None:
    empty = who_reads({}, [], 1)
    assert empty.words == "The group has no member. Nobody reads partition 0."
    idle = who_reads({"A": {0}, "B": set()}, [], 1)
    assert idle.words == "A reads partition 0; B reads nothing."
    assert "reads nothing" in texts(idle)


def test_two_readers_of_one_partition_are_said() -> None:
    assert "Partition 1 has 2 readers: A, B." in who_reads({"A": {0, 1}, "B": {1}}, [], 2).words


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (
            BY_RANGE,
            "3 hand-overs of partitions: 6 taken away, 3 given to another reader, 3 given "
            "back to the same one.",
        ),
        (
            COOPERATIVE,
            "3 hand-overs of partitions: 3 taken away, 3 given to another reader.",
        ),
        (
            BY_RANGE[:1],
            "No hand-over: 6 taken away, 6 not yet given to anybody.",
        ),
        ([TO_A], "No hand-over."),
        (
            [("B", "lost", [3]), ("A", "assigned", [3])],
            "One hand-over of a partition: 1 taken away, 1 given to another reader.",
        ),
        (
            [("B", "revoked", [3, 4, 5]), TO_B],
            "No hand-over: 3 taken away, 3 given back to the same one.",
        ),
    ],
)
def test_what_changed_hands_is_counted(log: list[Step], said: str) -> None:
    assert who_reads(SHARED, log, 6).words.endswith(f"B reads partitions 3–5. {said}")


def test_the_squares_show_who_had_a_partition_step_by_step() -> None:
    drawn = who_reads(SHARED, BY_RANGE, 6)
    assert squares(drawn) == ["A nobody A A"] * 3 + ["A nobody nobody B"] * 3
    assert [row["had by, step by step"] for row in drawn.rows] == ["A – A A"] * 3 + ["A – – B"] * 3
    assert squares(who_reads(SHARED, COOPERATIVE, 6)) == ["A A A"] * 3 + ["A nobody B"] * 3
    assert "squares" in drawn.caption
    plain = who_reads(SHARED, COOPERATIVE, 6).figure.count("<path")
    assert drawn.figure.count("<path") > plain > 0  # hatched, where nobody had it
    first = who_reads(A_ALL, [("A", "assigned", range(6))], 6)
    assert squares(first) == ["nobody A"] * 6


def test_of_a_long_log_the_newest_steps_are_drawn() -> None:
    log: list[Step] = []
    for _ in range(100):
        log += [("A", "revoked", [0]), ("A", "assigned", [0])]
    drawn = who_reads({"A": {0}}, log, 1)
    assert squares(drawn) == [" ".join(["nobody", "A"] * (STEPS // 2))]
    assert drawn.rows[0]["had by, step by step"] == " ".join("–A" * (STEPS // 2))
    assert drawn.drawing.width <= 900
    again = who_reads({"A": {0}}, [*log[:2], ("A", "assigned", [0])], 1)
    assert "1 taken away, 1 given back" in again.words
    assert "100 taken away, 100 given back" in drawn.words


def test_equal_data_give_an_equal_picture() -> None:
    one = who_reads({"A": {2, 0, 1}}, BY_RANGE[:2], 6)
    assert one.figure == who_reads({"A": {1, 2, 0}}, BY_RANGE[:2], 6).figure


def test_numbers_in_short() -> None:
    assert ranges([5, 0, 1, 2]) == "0–2, 5"
    assert ranges([0, 1, 7]) == "0, 1, 7"
    assert ranges([0, 2, 4]) == "0, 2, 4"
    assert ranges([]) == ""

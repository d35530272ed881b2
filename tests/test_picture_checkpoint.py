"""The checkpoint as a timeline: which files were there when the kill fell, and where they stand."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from workbook.views.checkpoint import checkpoint
from workbook.views.drawing import GREY, RED, wide
from workbook.views.picture import Picture

KILL = 100.0


def batch(number: int, at: float, *kinds: str) -> list[tuple[str, int, float]]:
    """The files of a micro-batch, one each 0.3 s."""
    wanted = kinds or ("offsets", "state", "commits")
    return [(kind, number, at + 0.3 * step) for step, kind in enumerate(wanted)]


KILLED = [
    *batch(9, 96.0), *batch(10, 97.5), *batch(11, 99.0, "offsets", "state"),
]  # fmt: skip
AGAIN = [*KILLED, ("state", 11, 130.0), ("commits", 11, 130.5), *batch(12, 131.0)]


def marks(picture: Picture) -> dict[str, list[float]]:
    """The middle of each file's mark, by "kind/number", from left to right."""
    found: dict[str, list[float]] = {}
    for x, width, name in re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>(\w+/\d+)</title>',
        picture.figure,
    ):
        found.setdefault(name, []).append(float(x) + float(width) / 2)
    return {name: sorted(places) for name, places in found.items()}


def missing(picture: Picture) -> list[str]:
    return re.findall(r"<title>(\w+/\d+) is missing", picture.figure)


def cut(picture: Picture) -> float:
    [x] = re.findall(rf'points="([\d.]+),[^"]*" fill="none" stroke="{RED}"', picture.figure)
    return float(x)


def test_a_kill_between_state_and_commits() -> None:
    drawn = checkpoint(KILLED, kills=[KILL], planned={9: 1000, 10: 1100, 11: 1200})
    assert drawn.words == (
        "When the kill fell, micro-batch 11 (offsets 1,100 to 1,199) was in offsets and state, "
        "and not in commits. The last one in commits was 10."
    )
    assert drawn.rows[-1] == {
        "micro-batch": "11", "reads up to offset": "1,200",
        "offsets": "-1.00 s", "state": "-0.70 s", "commits": "–",
    }  # fmt: skip
    assert missing(drawn) == ["commits/11"]
    assert "✂ kill -9" in drawn.figure


@pytest.mark.parametrize("planned", [{}, {11: 1200}, {10: 1100}])
def test_offsets_that_are_not_known_are_not_named(planned: dict[int, int]) -> None:
    drawn = checkpoint(KILLED, kills=[KILL], planned=planned)
    assert "micro-batch 11 was in offsets and state" in drawn.words
    assert [row.get("reads up to offset") for row in drawn.rows] == [
        None if not planned else f"{planned[n]:,}" if n in planned else "?" for n in (9, 10, 11)
    ]


def test_a_file_stands_where_its_time_is_and_the_kill_behind_it() -> None:
    drawn = checkpoint(KILLED, kills=[KILL])
    at = marks(drawn)
    assert len(at) == 8
    for number in (9, 10):
        [[planned], [counted], [done]] = (
            at[f"{kind}/{number}"] for kind in ("offsets", "state", "commits")
        )
        assert counted - planned == pytest.approx(done - counted)
    [first], [later] = at["offsets/9"], at["offsets/11"]
    assert (later - first) / (at["state/9"][0] - first) == pytest.approx(3.0 / 0.3)
    assert max(place for places in at.values() for place in places) < cut(drawn)
    assert (cut(drawn) - later) / (later - first) == pytest.approx(1.0 / 3.0)


def test_a_kill_right_behind_the_plan_and_one_behind_the_commit() -> None:
    planned = checkpoint([*batch(3, 90.0), *batch(4, 92.0, "offsets")], kills=[93.0])
    assert "micro-batch 4 was in offsets, and not in state or commits." in planned.words
    assert missing(planned) == ["state/4", "commits/4"]
    done = checkpoint([*batch(3, 90.0), *batch(4, 92.0)], kills=[93.0])
    assert done.words == (
        "When the kill fell, each planned micro-batch was in commits. "
        "The last one in commits was 4."
    )
    assert missing(done) == []


def test_after_the_start_again_the_same_micro_batch_is_written_once_more() -> None:
    drawn = checkpoint(AGAIN, kills=[KILL], starts=[125.0])
    assert "and not in commits" in drawn.words
    assert "Since then 11 was written to state and commits." in drawn.words
    assert drawn.rows[2]["state"] == "-0.70 s, +30.00 s"
    assert drawn.rows[2]["commits"] == "+30.50 s"
    before, after = marks(drawn)["state/11"]
    assert before < cut(drawn) < after
    assert "▶ started again" in drawn.figure
    assert missing(drawn) == ["commits/11"]  # what the kill has found stays
    dashed = 'stroke-dasharray="5 4"'
    assert drawn.figure.count(dashed) == 2  # the start, and the plan that's read once more


def test_a_long_pause_is_cut_short_and_says_its_length() -> None:
    drawn = checkpoint(AGAIN, kills=[KILL], starts=[125.0])
    assert "// 25 s" in drawn.figure
    assert drawn.drawing.width <= 900
    quick = checkpoint(AGAIN[:-5], kills=[KILL])
    assert "//" not in quick.figure.replace("http://", "")


def test_without_a_kill_the_last_micro_batch_of_each_kind() -> None:
    drawn = checkpoint(KILLED)
    assert drawn.words == "The last micro-batch in offsets: 11, in state: 11, in commits: 10."
    assert "kill" not in drawn.figure
    assert [row["state"] for row in drawn.rows] == ["-3.00 s", "-1.50 s", "+0.00 s"]
    one = checkpoint(batch(0, 5.0, "offsets"))
    assert one.words == "The last micro-batch in offsets: 0, in state: none, in commits: none."
    assert len(marks(one)) == 1


def test_a_query_that_has_planned_nothing() -> None:
    assert "no micro-batch yet" in checkpoint([]).words
    assert checkpoint([]).rows == ()
    assert "no micro-batch yet" in checkpoint([], kills=[3.0]).words
    late = checkpoint(batch(0, 5.0), kills=[3.0])
    assert late.words == "When the kill fell, no micro-batch was planned."


def test_of_many_micro_batches_those_around_the_kill_are_drawn() -> None:
    files = [file for n in range(1000) for file in batch(n, n * 1.0)]
    drawn = checkpoint(files, kills=[500.95])
    assert [row["micro-batch"] for row in drawn.rows] == [str(n) for n in range(496, 503)]
    assert "The last one in commits was 500." in drawn.words
    assert drawn.words.endswith("1,000 micro-batches have files here, 7 are drawn.")
    assert [row["micro-batch"] for row in checkpoint(files).rows][-1] == "999"


def test_of_several_files_of_a_kind_the_last_one_counts() -> None:
    files = [("offsets", 0, 1.0), *(("state", 0, 1.1 + n / 100) for n in range(24))]
    drawn = checkpoint(files, kills=[2.0])
    assert drawn.rows[0]["state"] == "-0.67 s"
    assert len(marks(drawn)["state/0"]) == 1


def test_what_is_missing_stands_right_behind_the_last_kill_with_its_cross() -> None:
    drawn = checkpoint([*KILLED, ("offsets", 12, 99.9)], kills=[98.0, KILL])
    cuts = re.findall(rf'points="([\d.]+),[^"]*" fill="none" stroke="{RED}"', drawn.figure)
    assert missing(drawn) == ["state/12", "commits/12"]
    for x, width in re.findall(
        r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>\w+/12 is', drawn.figure
    ):
        left, right = float(x), float(x) + float(width)
        assert max(map(float, cuts)) < left < max(map(float, cuts)) + 20
        assert f'<path d="M{right - 4:g} ' in drawn.figure


def test_a_long_number_has_a_wider_mark() -> None:
    drawn = checkpoint([*batch(1_234_567, 90.0), *batch(1_234_568, 95.0, "offsets")], kills=[97.0])
    for width, number in re.findall(r'width="([\d.]+)"[^>]*><title>\w+/(\d+)', drawn.figure):
        assert float(width) >= wide(number)


def test_only_what_is_long_for_this_query_is_a_pause() -> None:
    slow = [file for n in range(5) for file in batch(n, n * 6.0)]
    assert ">// " not in checkpoint(slow).figure
    assert ">// " in checkpoint([*slow, *batch(5, 60.0)]).figure
    quick = [file for n in range(5) for file in batch(n, n * 1.0)]
    assert ">// " not in checkpoint([*quick, *batch(5, 7.5)]).figure
    assert "// 4 s" in checkpoint([*quick, *batch(5, 9.0)]).figure


def test_each_file_is_joined_with_the_one_before_it() -> None:
    drawn = checkpoint(AGAIN, kills=[KILL])
    joined = re.findall(
        rf'points="([\d.]+),[\d.]+ ([\d.]+),[\d.]+" fill="none" stroke="{GREY}" '
        r'stroke-width="1"( stroke-dasharray)?', drawn.figure,
    )  # fmt: skip
    ends = {
        (round(float(left)), round(float(right))): bool(dashed) for left, right, dashed in joined
    }
    at = {name: [round(x) for x in places] for name, places in marks(drawn).items()}
    for number in (9, 10, 12):
        for one, other in (("offsets", "state"), ("state", "commits")):
            assert ends.pop((at[f"{one}/{number}"][0], at[f"{other}/{number}"][0])) is False
    planned, (counted, again), done = at["offsets/11"][0], at["state/11"], at["commits/11"][0]
    assert ends == {(planned, counted): False, (planned, again): True, (again, done): False}


def test_of_two_kills_the_last_one_is_told() -> None:
    files = [*batch(1, 10.0, "offsets"), *batch(1, 20.0, "state", "commits"), *batch(2, 21.0)]
    drawn = checkpoint(files, kills=[11.0, 22.0], starts=[15.0])
    assert "each planned micro-batch was in commits" in drawn.words
    assert drawn.figure.count("✂ kill -9") == 2
    assert drawn.rows[0]["state"] == "-2.00 s"
    other_way = checkpoint(files[::-1], kills=[22.0, 11.0], starts=[15.0])
    assert (drawn.words, drawn.rows) == (other_way.words, other_way.rows)
    more = [*files, ("state", 1, 10.5), ("state", 1, 12.0), ("state", 1, 23.0)]
    lives = checkpoint(more, kills=[22.0, 11.0]).rows[0]["state"]
    assert lives == "-11.50 s, -2.00 s, +1.00 s"


def test_marks_that_would_cover_each_other_become_lines() -> None:
    files = [file for n in range(5) for file in batch(n, 50 + n * 0.001)]
    drawn = checkpoint([*batch(0, 40.0, "offsets"), *files], kills=[60.0])
    numbers = re.findall(r'font-weight="600">(\d+)</text>', drawn.figure)
    assert numbers.count("4") == 3
    placed = sorted(
        (float(x), float(x) + float(width))
        for x, width, kind in re.findall(
            r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>(\w+)/', drawn.figure
        )
        if kind == "commits" and float(width) > 10
    )
    assert all(end <= begin for (_, end), (begin, _) in pairwise(placed))


def test_it_is_the_same_in_whatever_order_the_files_come() -> None:
    once = checkpoint(AGAIN, kills=[KILL], starts=[125.0]).figure
    assert checkpoint(AGAIN[::-1], kills=[KILL], starts=[125.0]).figure == once

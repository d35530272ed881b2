"""The life of groups as a picture: states by members, commits and the clock."""

from __future__ import annotations

from workbook.views.group_life import Look, group_life, phases

KILLED = [
    Look(100, "billing", 1, [100]),
    Look(101, "billing", 1, [101]),
    Look(109, "billing", 0, [101]),
]


def states(looks: list[Look], group: str, now: float, quiet: float = 5) -> list[tuple[str, float]]:
    return [(phase.state, phase.begin) for phase in phases(looks, group, now, quiet)]


def test_a_killed_group_is_idle_until_its_session_ends_and_then_empty() -> None:
    assert states(KILLED, "billing", 120) == [("active", 100), ("idle", 106), ("empty", 109)]


def test_time_alone_makes_an_active_group_idle_and_never_empty() -> None:
    looks = KILLED[:2]
    assert states(looks, "billing", 105) == [("active", 100)]
    assert states(looks, "billing", 9_999) == [("active", 100), ("idle", 106)]


def test_a_commit_makes_an_idle_group_active_again() -> None:
    looks = [*KILLED[:2], Look(110, "billing", 1, [110])]
    assert [state for state, _ in states(looks, "billing", 111)] == ["active", "idle", "active"]


def test_members_need_no_commit_and_commits_without_a_description_are_unknown() -> None:
    looks = [Look(1, "new", 2, []), Look(1, "tool", None, [1]), Look(5, "tool", None, [])]
    assert states(looks, "new", 9) == [("active", 1), ("idle", 6)]
    assert states(looks, "tool", 9) == [("unknown", 1), ("left", 5)]


def test_it_says_each_state_and_what_was_done_and_draws_them_by_more_than_colour() -> None:
    drawn = group_life(KILLED, [(103, "billing", "kill -9")], 120, 5)
    assert drawn.words == "billing: kill -9 in second 3, empty since second 9."
    assert "active 0 to 6 s, idle 6 to 9 s, empty 9 to 20 s" in drawn.rows[0]["its life"]
    assert drawn.rows[0]["commits seen"] == "2 commits"
    assert drawn.figure.count("<title>") == 4, "three bars and a cross"
    assert drawn.figure.count("stroke-dasharray") >= 2, "empty is dashed, in the lane and below it"
    assert drawn.drawing.width <= 930


def test_long_pauses_are_cut_and_what_is_old_is_left_out() -> None:
    looks = [Look(0, "a", 1, [0]), Look(1_000, "a", 1, [1_000]), Look(1_100, "a", 0, [1_000])]
    drawn = group_life(looks, [(1, "a", "long ago"), (1_050, "a", "stop")], 1_110, 10)
    assert "// " not in group_life(looks[1:], [], 1_010, 10).figure
    assert ">stop<" in drawn.figure
    assert ">long ago<" not in drawn.figure


def test_no_group_yet() -> None:
    assert group_life([], [], 5, 10).words == "No group yet."

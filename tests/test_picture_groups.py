"""The groups as a table, and their lag over time as lines with a name at each end."""

from __future__ import annotations

import re
from typing import Any

import pytest
from workbook.views.lag import LINES, STALE_MS, lag_over_time

from workbook.views.groups import SHOWN, board, groups_table

NOW = 1_700_000_000_000
MINUTE = 60_000


def row(group: str, **more: Any) -> dict[str, Any]:
    plain = {
        "group": group,
        "state": "active",
        "members": 2,
        "client_ids": [f"{group}-1", f"{group}-2"],
        "topics": ["orders"],
        "lag": 12_345,
        "seconds": 95.25,
        "at_least": False,
        "commit_age": 3.0,
        "remarks": [],
    }
    return {**plain, **more}


def said(html: str) -> str:
    return re.sub("<[^>]+>", " ", html).replace("\N{NO-BREAK SPACE}", " ")


def test_the_table_says_all_of_a_group_without_colour() -> None:
    words = said(groups_table([row("billing", remarks=["Maybe shared."])]))
    for cell in ("billing", "● active", "12,345", "95.2", "3 seconds ago", "Maybe shared."):
        assert cell in words
    assert "billing-1 and billing-2" in words


def test_what_is_unknown_and_a_lower_bound_are_said_to_be() -> None:
    unknown = row("a", state="unknown", lag=None, seconds=None, commit_age=None, client_ids=[])
    words = said(groups_table([unknown, row("b", at_least=True)]))
    assert words.count("unknown") == 3
    assert "never" in words
    assert "at least 95.2" in words


def test_names_are_text_and_many_groups_are_counted() -> None:
    page = groups_table([row(f"<b>{n}") for n in range(SHOWN + 3)])
    assert "<b>0" not in page
    assert "and 3 more groups" in said(page)
    assert "no group yet" in said(groups_table([]))


@pytest.mark.parametrize(
    ("age_s", "first"),
    [(20, "1 min ago"), (90, "2 min ago"), (299, "5 min ago"), (3000, "10 min ago")],
)
def test_the_axis_is_as_long_as_what_is_known(age_s: int, first: str) -> None:
    drawn = lag_over_time({"a": [(NOW - age_s * 1000, 5), (NOW, 7)]}, NOW)
    assert f">{first}<" in drawn.figure
    assert not any(f">{n} min ago<" in drawn.figure for n in range(int(first.split()[0]) + 1, 12))


def test_lines_have_their_groups_at_their_ends_and_words_say_where_they_go() -> None:
    drawn = lag_over_time(
        {
            "up": [(NOW - 9 * MINUTE, 0), (NOW, 900)],
            "down": [(NOW - 2 * MINUTE, 0), (NOW - MINUTE, 800), (NOW, 100)],
            "still": [(NOW - 20 * MINUTE, 7), (NOW, 7)],
        },
        NOW,
    )
    assert drawn.words == (
        "up is 900 messages behind, growing; down is 100 messages behind, shrinking; "
        "still is 7 messages behind, steady."
    )
    assert drawn.rows[0] == {
        "group": "up",
        "ten minutes ago": "–",
        "five": "400",
        "one": "800",
        "now": "900",
        "highest": "900",
    }
    assert drawn.rows[2]["ten minutes ago"] == "7"
    for label in (">900 up<", ">100 down<", ">7 still<"):
        assert label in drawn.figure
    assert drawn.drawing.width <= 930


def test_names_never_meet_and_the_rest_is_counted() -> None:
    many = {f"g{n}": [(NOW - MINUTE, n), (NOW, 3)] for n in range(LINES + 2)}
    drawn = lag_over_time(many, NOW)
    heights = [float(y) for y in re.findall(r'y="([\d.]+)"[^>]*>3 g\d', drawn.figure)]
    assert len(heights) == LINES
    assert min(abs(a - b) for a in heights for b in heights if a != b) >= 14
    assert drawn.words.endswith("2 more groups in the table.")
    assert len(drawn.rows) == LINES + 2


def test_without_a_lag_it_says_so() -> None:
    assert lag_over_time({}, NOW).words == "No lag is known yet."
    assert lag_over_time({"a": []}, NOW).rows == []
    assert "1 message behind" in lag_over_time({"a": [(NOW, 1)]}, NOW).words
    old = lag_over_time({"a": [(NOW - 30 * MINUTE, 5)]}, NOW)
    assert old.words == "a was 5 messages behind when that was last known."


def test_a_lag_that_is_no_longer_known_is_said_to_be_the_last_one() -> None:
    points = [(NOW - 9 * MINUTE, 3), (NOW - STALE_MS, 5)]
    drawn = lag_over_time({"a": points, "b": [(NOW - STALE_MS + 1, 7)]}, NOW)
    assert drawn.words == (
        "b is 7 messages behind, steady; a was 5 messages behind when that was last known."
    )
    assert [row["now"] for row in drawn.rows] == ["7", "–"]
    assert drawn.rows[1]["one"] == "5"
    assert ">? a<" in drawn.figure
    assert ">7 b<" in drawn.figure


def test_the_board_has_all_three_and_warns_while_the_broker_is_silent() -> None:
    gone = {"group": "dead", "how": "deleted", "ago": 33.0, "client_ids": ("d-1",), "lag": None}
    drawn = board([row("a")], {"a": [(NOW, 5)]}, NOW, [gone], silent=True)
    words = said(drawn.figure)
    for part in ("12,345", "5 a", "✕ deleted", "33 seconds ago", "⚠ The broker doesn't answer"):
        assert part in words
    assert "⚠" not in board([row("a")], {}, NOW).figure
    assert '"group": "a"' in repr(drawn)
    assert "highest" in drawn.twin


def test_a_line_that_rose_for_long_and_falls_now_is_shrinking() -> None:
    points = [(NOW - 23_000, 270), (NOW - 13_000, 650), (NOW - 8_000, 990), (NOW - 3_000, 903)]
    assert lag_over_time({"a": points}, NOW).words == "a is 903 messages behind, shrinking."

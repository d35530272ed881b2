"""The groups as a table, and their lag over time as lines with a name at each end."""

from __future__ import annotations

import re
from typing import Any

from workbook.views.groups import SHOWN, board, groups_table
from workbook.views.lag import lag_over_time

NOW = 1_700_000_000_000


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


def test_the_board_has_all_three_and_warns_while_the_broker_is_silent() -> None:
    gone = {"group": "dead", "how": "deleted", "ago": 33.0, "client_ids": ("d-1",), "lag": None}
    drawn = board([row("a")], {"a": [(NOW, 5)]}, NOW, [gone], silent=True)
    words = said(drawn.figure)
    for part in ("12,345", "✕ deleted", "33 seconds ago", "⚠ The broker doesn't answer"):
        assert part in words
    assert "⚠" not in board([row("a")], {}, NOW).figure
    assert '"group": "a"' in repr(drawn)
    assert "highest" in drawn.twin


def test_a_line_that_rose_for_long_and_falls_now_is_shrinking() -> None:
    points = [(NOW - 23_000, 270), (NOW - 13_000, 650), (NOW - 8_000, 990), (NOW - 3_000, 903)]
    assert lag_over_time({"a": points}, NOW).words == "a is 903 messages behind, shrinking."

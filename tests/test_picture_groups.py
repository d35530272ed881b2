"""The groups as a table, and their lag over time as lines in words."""

import re
from typing import Any

from workbook.views.groups import SHOWN, board, groups_table
from workbook.views.picture import NOTHING

NOW = 1_700_000_000_000
MINUTE = 60_000


def row(group: str, lag: int | None = 12_345, **more: Any) -> dict[str, Any]:
    plain = {
        "group": group,
        "state": "active",
        "members": 2,
        "client_ids": [f"{group}-1", f"{group}-2"],
        "topics": ["orders.32-windowed-store.a3e7"],
        "lag": lag,
        "seconds": None if lag is None else 95.25,
        "at_least": False,
        "commit_age": 3.0,
        "remarks": [],
    }
    return {**plain, **more}


def said(html: str) -> str:
    return re.sub("<[^>]+>", " ", html)


def test_the_table_says_all_of_a_group_without_colour_and_what_is_unknown() -> None:
    words = said(groups_table([row("billing", remarks=["Maybe shared."])]))
    for cell in ("billing", "● active", "12,345", "95.2", "3 seconds ago", "Maybe shared."):
        assert cell in words
    assert "billing-1 and billing-2" in words
    assert "a3e7" not in words  # nobody reads a random suffix
    unknown = row("a", None, state="unknown", commit_age=None, client_ids=[])
    words = said(groups_table([unknown, row("b", at_least=True)]))
    assert words.count("unknown") == 3
    assert "never" in words
    assert "at least 95.2" in words
    page = groups_table([row(f"<b>{n}") for n in range(SHOWN + 3)])
    assert "<b>0" not in page
    assert "and 3 more groups" in said(page)
    assert "no group yet" in said(groups_table([]))


def test_words_and_table_say_where_each_line_goes() -> None:
    lines = {
        "up": [(NOW - 9 * MINUTE, 0), (NOW, 900)],
        "down": [(NOW - 2 * MINUTE, 0), (NOW - MINUTE, 800), (NOW, 100)],
        "still": [(NOW - 20 * MINUTE, 7), (NOW, 7)],
        "lost": [(NOW - MINUTE, 3)],
    }
    rows = [row("up", 900), row("down", 100), row("still", 7), row("lost", None), row("new", None)]
    drawn = board(rows, lines, NOW)
    assert drawn.words == "up: 900 behind; down: 100 behind; still: 7 behind; lost: – behind."
    known = {"a minute ago": "800", "now": "100", "highest": "800"}
    assert drawn.rows[1] == {"group": "down", **known}
    assert [row["now"] for row in drawn.rows] == ["900", "100", "7", "–"]
    assert board([], {}, NOW).words == NOTHING


def test_the_board_has_all_three_and_warns_where_lags_are_old() -> None:
    gone = {"group": "dead", "how": "deleted", "ago": 33.0, "client_ids": ("d-1",), "lag": None}
    drawn = board([row("a")], {"a": [(NOW, 12_345)]}, NOW, [gone], trouble="Silence")
    words = said(drawn.figure)
    for part in ("12,345", "✕ deleted", "33 seconds ago", "⚠ Silence: lags are old."):
        assert part in words
    assert "⚠" not in board([row("a")], {}, NOW).figure
    assert '"group": "a"' in repr(drawn)

"""The state of two runs on one axis, and what a rule makes of recorded streams."""

from __future__ import annotations

import pytest

from workbook.classroom.leads import walked
from workbook.sources.clamp import goes_on
from workbook.views.open_state import SHOWN, Curve, open_state

HOUR = (
    [*sorted((n + after, f"v{n}") for n in range(600) for after in (0, 10)), (900, None)],
    [*((n + 15, f"v{n}") for n in range(600)), (900, None)],
)
"""A visit begins each second, with two pages and an order; heartbeats end both streams."""


def anyhow(own: int | None, other: int | None, max_lead: int) -> bool:
    return True


def test_without_a_clamp_all_visits_are_open_at_once() -> None:
    curve = walked("none", HOUR, 45, anyhow, 0, 120)
    assert curve.peak[1] == 600
    assert curve.came == 1201 + 45
    assert curve.points[-1] == (1802, 0)


@pytest.mark.parametrize("lead", [10, 60, 120])
def test_with_one_they_are_bounded_by_lead_and_time_out(lead: int) -> None:
    curve = walked("some", HOUR, 45, goes_on, lead, 120)
    assert curve.peak[1] == lead + 120 + 15 + 1  # its length is 15
    assert curve.points[-1] == (1802, 0)


def test_it_says_where_most_visits_were_open_and_where_it_waited() -> None:
    plain = Curve("no clamp", [(0, 0), (60, 50), (100, 0)], 60)
    held = Curve("maxLead 1 s", [(0, 0), (10, 3), (100, 0)], 10)
    drawn = open_state([plain, held])
    assert drawn.words == (
        "no clamp: up to 50 visits open, after 60 messages; it waited for orders after 60; 0 open "
        "in the end, after 100. maxLead 1 s: up to 3 visits open, after 10 messages; it waited for "
        "orders after 10; 0 open in the end, after 100."
    )
    assert drawn.figure.count("<title>no clamp") == 3
    assert "no clamp: up to 50" in drawn.figure
    assert drawn.rows[1] == {"run": "no clamp", "messages read": "60", "open": "50"}
    assert drawn.drawing.width <= 930


def test_nothing_one_point_and_many() -> None:
    assert open_state([]).words == "Nothing was read yet."
    assert "nothing read yet" in open_state([Curve("a", [])]).words
    assert "up to 0" in open_state([Curve("a", [(0, 0)])]).figure
    many = Curve("a", [(n, n % 7) for n in range(1000)])
    assert len(open_state([many]).rows) <= SHOWN + 3

"""The table that a terminal shows while a system runs."""

from __future__ import annotations

import io
import re

from rich.console import Console

from workbook.commands.screen import ROWS, Screen
from workbook.systems.base import Shown


def screen(*, terminal: bool, now: list[float]) -> tuple[Screen, io.StringIO]:
    there = io.StringIO()
    console = Console(file=there, force_terminal=terminal, width=40, highlight=False)
    return Screen(console, lambda: now[0]), there


def pages(number: int) -> Shown:
    return Shown(("page", "views"), [(f"/[red]{n}", f"{n:,}") for n in range(number)])


def test_a_terminal_shows_the_table_its_rest_and_the_line_and_is_clean_at_the_end() -> None:
    now = [0.0]
    made, there = screen(terminal=True, now=now)
    with made:
        made.show(lambda: pages(ROWS + 3), "1,000 messages/s")
        text = there.getvalue()
    assert "page" in text
    assert "/[red]9" in text  # as it is, and no colour
    assert "/[red]10" not in text
    assert "and 3 more" in text
    assert "1,000 messages/s" in text
    assert re.search(r"\x1b\[\d*[AK]", there.getvalue()[len(text) :])  # taken away again


def test_it_is_drawn_four_times_a_second_at_most() -> None:
    now, asked = [0.0], []
    made, _ = screen(terminal=True, now=now)

    def table() -> Shown:
        asked.append(now[0])
        return pages(1)

    with made:
        for tick in range(100):
            now[0] = tick / 100
            made.show(table, "line")
    assert asked == [0.0, 0.25, 0.5, 0.75]


def test_elsewhere_there_is_none() -> None:
    made, there = screen(terminal=False, now=[0.0])
    with made:
        assert not made.is_there
    assert there.getvalue() == ""

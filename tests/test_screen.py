"""The table that a terminal shows while a system runs."""

import io
import re
from dataclasses import replace

from rich.console import Console

from workbook.cli.screen import FRAME, Screen
from workbook.systems.base import Shown

HEIGHT = 20
ROWS = HEIGHT - FRAME


def screen(*, terminal: bool, now: list[float]) -> tuple[Screen, io.StringIO]:
    there = io.StringIO()
    console = Console(file=there, force_terminal=terminal, width=40, height=HEIGHT, highlight=False)
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
    assert f"/[red]{ROWS - 1}" in text  # as it is, and no colour
    assert f"/[red]{ROWS} " not in text
    assert "and 3 more" in text
    assert "1,000 messages/s" in text
    assert re.search(r"\x1b\[\d*[AK]", there.getvalue()[len(text) :])  # taken away again


def test_names_neither_steer_the_terminal_nor_begin_a_line() -> None:
    made, there = screen(terminal=True, now=[0.0])
    evil = "x\x1b]0;title\x07\ny"
    with made:
        made.show(lambda: Shown(("group",), [(evil,)], 0, [evil]), evil)
        assert there.getvalue().count("x�]0;title��y") == 3
    assert "\x07" not in there.getvalue()


def test_rows_that_were_not_written_out_are_counted_too() -> None:
    made, there = screen(terminal=True, now=[0.0])
    with made:
        made.show(lambda: replace(pages(ROWS + 1), more=7), "line")
    assert "and 8 more" in there.getvalue()


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


def test_a_row_is_a_line_and_as_many_are_shown_as_fit() -> None:
    made, there = screen(terminal=True, now=[0.0])
    rows = [(f"group-{n}", "remark " * 20) for n in range(50)]
    with made:
        made.show(lambda: Shown(("group", "remarks"), rows), "50 groups " * 9)
        text = there.getvalue()
    shown = [n for n in range(50) if f"group-{n} " in text]
    assert shown == list(range(ROWS))
    assert f"and {50 - len(shown)} more" in text
    assert re.search(r"50 groups[^\n]*…", text)


def test_notes_take_a_third_of_the_screen_at_most_and_the_line_stays_below() -> None:
    made, there = screen(terminal=True, now=[0.0])
    notes = [f"note-{n} " + "word " * 30 for n in range(9)]
    rows = [(f"group-{n}", "7") for n in range(50)]
    with made:
        made.show(lambda: Shown(("group", "lag in messages"), rows, 0, notes), "the line")
        text = there.getvalue()
    assert re.findall(r"note-\d", text) == ["note-0"]  # it takes four of twenty lines
    assert text.index("note-0") < text.index("the line")
    assert re.findall(r"group-\d+", text)[-1] == f"group-{ROWS - 4 - 1}"

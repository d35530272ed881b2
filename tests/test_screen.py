"""What a terminal shows while a system runs."""

import io

from rich.console import Console
from rich.live import Live

from workbook.cli.screen import drawn
from workbook.systems.base import Shown


def seen(line: str, shown: Shown, *alerts: str) -> str:
    there = io.StringIO()
    console = Console(file=there, force_terminal=True, width=40, height=20, highlight=False)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        live.update(drawn(line, alerts, shown, console.height), refresh=True)
        return there.getvalue()


def test_the_line_an_alert_and_as_many_rows_as_fit_are_shown() -> None:
    rows = [(f"/[red]{n}", "remark " * 20) for n in range(50)]
    text = seen("9 messages/s " * 9, Shown(("page", "remarks"), rows, 7), "The lag grows.")
    assert text.index("9 messages/s") < text.index("The lag grows.") < text.index("57 rows")
    shown = [n for n in range(50) if f"/[red]{n} " in text]  # as it is, and no colour
    assert shown == list(range(len(shown)))
    assert 8 < len(shown) < 20
    assert text.count("\n") < 20


def test_names_neither_steer_the_terminal_nor_begin_a_line() -> None:
    evil = "x\x1b]0;title\x07\ny"
    text = seen(evil, Shown(("group",), [(evil,)], 0, [evil]))
    assert text.count("x�]0;title��y") == 3
    assert "\x07" not in text


def test_of_thousands_of_rows_only_those_are_made_that_can_fit() -> None:
    rows = [(f"/{n}",) for n in range(20_000)]
    table = drawn("", [], Shown(("page",), rows), 20).renderables[-1]
    assert (table.row_count, table.title) == (20, "20,000 rows")

"""The line that commands write over, on a terminal and elsewhere."""

import io
import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console
from rich.live import Live

from workbook.cli.console import Line, as_typed
from workbook.cli.screen import Writes, drawn, follow
from workbook.spark.progress import Progress, Tells
from workbook.systems.base import Shown, Started


def shown_in(seconds: int) -> None:
    """Ten changes a second on a line of its own, by a clock of its own."""
    now = 0.0
    line = Line(lambda: now)
    for tick in range(seconds * 10):
        now = tick / 10
        line.show(f"{tick} events")
    line.show("all events", last=True)


def test_a_pipe_gets_a_line_every_five_seconds_and_the_last(capsys) -> None:
    shown_in(12)
    assert capsys.readouterr().out.splitlines() == [
        "0 events",
        "50 events",
        "100 events",
        "all events",
    ]


def test_a_terminal_is_written_over_four_times_a_second_at_most(capsys, monkeypatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda: os.terminal_size((40, 20)))
    shown_in(3)
    texts = [text.strip() for text in capsys.readouterr().out.split("\r")[1:]]
    assert texts[:3] == ["0 events", "3 events", "6 events"]
    assert 2 < len(texts) <= 3 * 4 + 1
    assert texts[-1] == "all events"


def test_what_others_named_neither_steers_the_terminal_nor_begins_a_line(capsys) -> None:
    Line().show("group \x1b]0;title\x07\x1b[2J\rEnded:\n1\x9b2J", last=True)
    assert capsys.readouterr().out == "group �]0;title��[2J�Ended:�1�2J\n"


def test_a_command_is_written_as_typed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/workbook/__main__.py"])
    monkeypatch.setattr(sys, "orig_argv", [".venv/bin/python", "-m", "workbook"])
    once = as_typed("See python -m workbook doctor.")
    assert once == "See .venv/bin/python -m workbook doctor."
    assert as_typed(once) == once


# --- what a terminal shows while a system runs ------------------------------------------------


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


# --- the line of a running query, at its end --------------------------------------------------


def test_the_last_line_has_what_was_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    lags = ["?"]

    class Lags(Tells):
        def line(self) -> str:
            return f"lag {lags[-1]}"

    running: Any = SimpleNamespace(
        wait=lambda _: True,
        is_active=False,
        stop=lambda: None,
        progress=Progress(Lags()),
    )
    started = Started(running, [], lambda: Shown((), ()), list, settle=lambda: lags.append("3"))
    nobody: Any = None
    follow(started, Writes(), nobody, nobody)
    assert "lag 3" in capsys.readouterr().out

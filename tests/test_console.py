"""The line that commands write over, on a terminal and elsewhere."""

import os
import sys

import pytest

from workbook.cli.console import Line, as_typed


def shown_in(seconds: int) -> None:
    """Ten changes a second on a line of its own, by a clock of its own."""
    now = 0.0
    line = Line(lambda: now)
    for tick in range(seconds * 10):
        now = tick / 10
        line.show(f"{tick} events")
    line.show("all events", last=True)


def test_a_pipe_gets_a_line_every_five_seconds_and_the_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown_in(12)
    assert capsys.readouterr().out.splitlines() == [
        "0 events",
        "50 events",
        "100 events",
        "all events",
    ]


def test_a_terminal_is_written_over_four_times_a_second_at_most(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(os, "get_terminal_size", lambda: os.terminal_size((40, 20)))
    shown_in(3)
    texts = [text.strip() for text in capsys.readouterr().out.split("\r")[1:]]
    assert texts[:3] == ["0 events", "3 events", "6 events"]
    assert 2 < len(texts) <= 3 * 4 + 1
    assert texts[-1] == "all events"


def test_what_others_named_neither_steers_the_terminal_nor_begins_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Line().show("group \x1b]0;title\x07\x1b[2J\rEnded:\n1\x9b2J", last=True)
    assert capsys.readouterr().out == "group �]0;title��[2J�Ended:�1�2J\n"


def test_a_command_is_written_as_typed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/somewhere/workbook/__main__.py"])
    monkeypatch.setattr(sys, "orig_argv", [".venv/bin/python", "-m", "workbook"])
    once = as_typed("See python -m workbook doctor.")
    assert once == "See .venv/bin/python -m workbook doctor."
    assert as_typed(once) == once

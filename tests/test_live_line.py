"""The line of a running query, at its end."""

from types import SimpleNamespace
from typing import Any

import pytest

from workbook.cli.screen import Writes, follow
from workbook.spark.progress import Progress, Tells
from workbook.systems.base import Shown, Started


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

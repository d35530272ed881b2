"""The line of a running query, at its end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from workbook.systems.progress import GroupsProgress

from workbook.commands.live_line import Writes, follow
from workbook.systems.base import Shown, Started


class Dashboard:
    """Groups whose lag is known once somebody has waited for it."""

    lag = "?"

    def settle(self) -> None:
        self.lag = "3"

    def look(self) -> None: ...

    def __str__(self) -> str:
        return f"lag {self.lag}"


def test_the_last_line_has_what_was_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    queries: Any = SimpleNamespace(wait=lambda _: True, is_active=False, stop=lambda: None)
    dashboard: Any = Dashboard()
    progress = GroupsProgress(dashboard)
    progress.ended.set()
    started = Started(queries, progress, lambda: Shown((), ()), list)
    nobody: Any = None
    follow(started, Writes(), nobody, nobody)
    assert "lag 3" in capsys.readouterr().out

"""Where a process of the crash lab kills itself: counted passes, commits and micro-batches."""

import os
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import pytest
from labs import until

from workbook.crashlab import points
from workbook.crashlab.points import KillAt, KillInTask, Plan, kill_after_commit


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Record who is killed, by process id, and kill nobody."""
    found: list[int] = []
    monkeypatch.setattr(points, "kill_family", lambda pid, folder, point: found.append(pid))
    return found


def plan(folder: Path, point: str, passes: int) -> Plan:
    return Plan("page_views", "spark", (), {}, str(folder), "g", 9, 0, point, passes)


def test_the_kill_comes_at_the_chosen_pass_of_the_chosen_point(tmp_path, killed) -> None:
    at = KillAt(plan(tmp_path, "before-send", 2), Namespace())
    for point in ("before-send", "before-checkpoint", "before-checkpoint"):
        at(point)
    assert not killed
    at("before-send")
    assert killed == [os.getpid()]
    at("before-send")
    assert killed == [os.getpid()], "at no later pass"


def test_commits_are_counted_from_the_last_one_of_a_former_life(
    tmp_path: Path, killed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (0, 3, 9, 10):
        (tmp_path / str(number)).touch()
    later = iter((11, 12))  # one commit comes between two looks
    looks = SimpleNamespace(sleep=lambda _: (tmp_path / str(next(later))).touch())
    monkeypatch.setattr(points, "time", looks)
    kill_after_commit(plan(tmp_path, "after-commit", 2), tmp_path)
    until(lambda: killed == [os.getpid()], "the kill", within=20)
    assert not [*later], "at no commit before"


def test_a_kill_within_a_micro_batch_is_armed_by_its_number_in_this_life(tmp_path: Path) -> None:
    former = KillInTask(plan(tmp_path, "mid-batch", 1), Namespace())
    former.arm()
    assert former._is_time()
    at = KillAt(plan(tmp_path, "mid-batch", 2), Namespace())
    task = at._in_task
    assert task is not None
    assert not task._is_time(), "what was armed in a former life is forgotten"
    for point in ("before-compute", "before-store", "before-checkpoint"):
        at(point)
    assert not task._is_time(), "one micro-batch, whatever points it passes"
    at("before-compute")
    assert task._is_time()

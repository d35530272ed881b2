"""Where a process of the crash lab kills itself: counted passes, commits and micro-batches."""

import os
import sys
import time
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from labs import until

from workbook.crashlab import points
from workbook.crashlab.points import NOTE, KillAt, KillInTask, Plan, kill_after_commit, kill_family


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
    looks: list[None] = []

    def look_again(seconds: float) -> None:
        looks.append(None)
        time.sleep(seconds)

    monkeypatch.setattr(points, "time", SimpleNamespace(sleep=look_again))
    kill_after_commit(plan(tmp_path, "after-commit", 2), tmp_path)
    (tmp_path / "11").touch()
    seen = len(looks)
    until(lambda: len(looks) > seen + 1, "a look at the checkpoint", within=20)
    assert not killed
    (tmp_path / "12").touch()
    until(lambda: killed == [os.getpid()], "the kill", within=20)


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


def test_a_kill_takes_what_the_process_has_started_and_notes_when(tmp_path: Path) -> None:
    code = "import subprocess; subprocess.run(['sleep', '600'])"
    process = psutil.Popen([sys.executable, "-c", code])
    until(process.children, "its child")
    [child] = process.children()
    kill_family(process.pid, tmp_path, "after-send")
    process.wait(10)
    until(
        lambda: not child.is_running() or child.status() == "zombie", "the child's end", within=20
    )
    at, point = (tmp_path / NOTE).read_text().split()
    assert (float(at) > process.create_time(), point) == (True, "after-send")

"""Solved exercises stay solved: the answer outlives the kernel that checked it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from workbook.classroom.render import State
from workbook.lessons.page_view_counter import one_step
from workbook.lessons.start_here import next_offset


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / ".solved.json"
    monkeypatch.setenv("WORKBOOK_SOLVED", str(file))
    return file


def mine(count, value):
    return count + (json.loads(value)["click_type"] == "Page")


def test_a_solved_exercise_shows_the_answer_when_the_stub_comes_back(kept: Path) -> None:
    assert one_step.check(...).state is State.NOT_ATTEMPTED
    assert one_step.check(mine).state is State.CORRECT
    card = one_step.check(...)
    assert card.state is State.SOLVED_BEFORE
    assert "return count + (json.loads(value)" in repr(card)


def test_a_wrong_answer_is_not_kept(kept: Path) -> None:
    next_offset.check("b")
    assert not kept.exists()
    next_offset.check("a")
    assert json.loads(kept.read_text()) == {"The next offset": "'a'"}


def test_a_file_that_was_cut_off_loses_nothing_but_itself(kept: Path) -> None:
    kept.write_text('{"The')
    assert next_offset.check(...).state is State.NOT_ATTEMPTED
    assert next_offset.check("a").state is State.CORRECT
    assert next_offset.check(...).state is State.SOLVED_BEFORE


def test_without_a_lab_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBOOK_SOLVED", raising=False)
    monkeypatch.chdir(tmp_path)
    next_offset.check("a")
    assert list(tmp_path.iterdir()) == []

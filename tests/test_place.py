"""The place in the book: counted from the solved exercises, whatever the file of them holds."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from workbook.classroom.core import text_of
from workbook.classroom.place import exercises, place, remember, solved


def names(book: dict[str, list[str]]) -> list[str]:
    return [name for names in book.values() for name in names]


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / ".solved.json"
    monkeypatch.setenv("WORKBOOK_SOLVED", str(file))
    return file


def test_every_exercise_of_the_book_is_known_by_its_name() -> None:
    for notebook, found in exercises().items():
        stem = notebook.partition("_")[2] if notebook[0].isdigit() else notebook
        lesson = importlib.import_module(f"workbook.lessons.{stem}")
        assert sorted(found) == sorted(problem.name for problem in lesson.problems)
    every = names(exercises())
    assert len(every) == len(set(every)), "two exercises have one name"


def test_the_next_chapter_is_where_the_last_exercise_passed_or_the_one_behind_it(kept) -> None:
    book, total = exercises(), len(names(exercises()))
    assert repr(place()) == f"0 of {total} exercises; next: 00 start_here"
    first, second = book["02_views_per_second"]
    remember(first, "1")
    assert repr(place()) == f"1 of {total} exercises; next: 02 views_per_second"
    remember(second, "1")
    assert repr(place()) == f"2 of {total} exercises; next: 03 metrics_topic"
    page = place()._repr_html_()
    assert "<a href='03_metrics_topic.ipynb'>03 metrics_topic</a>" in page
    assert "2 of 2" in page
    for name in names(book):
        remember(name, "1")
    assert repr(place()) == f"{total} of {total} exercises; you've solved them all"


@pytest.mark.parametrize("text", ["", "{", "[1]", "7", '{"Publish a count": 7}', '{"gone": "x"}'])
def test_a_file_that_is_cut_off_or_of_another_version_counts_for_nothing(kept, text) -> None:
    kept.write_text(text)
    assert repr(place()).startswith("0 of ")
    damaged = not text.startswith("{") or text == "{"
    remember("Publish a count", text_of("b"))
    assert repr(place()).startswith("1 of ")
    assert solved()["Publish a count"] == "'b'"  # as a cell has it
    assert json.loads(kept.read_text()) == solved()
    assert [f.read_text() for f in kept.parent.glob("*.damaged")] == [text] * damaged


def test_two_kernels_that_solve_at_once_lose_nothing(kept) -> None:
    code = "import sys; from workbook.classroom.place import remember\n"
    code += "for number in range(30): remember(f'{sys.argv[1]} {number}', '1')"
    kernels = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "ab"]
    assert [kernel.wait(60) for kernel in kernels] == [0, 0]
    assert len(solved()) == 60


def test_outside_the_lab_nothing_is_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("WORKBOOK_SOLVED", raising=False)
    monkeypatch.chdir(tmp_path)
    remember("Publish a count", "1")
    assert (solved(), list(tmp_path.iterdir())) == ({}, [])

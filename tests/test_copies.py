"""Learners' copies: a newer chapter comes beside one's work, never over it."""

import json
from pathlib import Path

import pytest

from workbook.stack.notebook_copies import refresh


def write(path: Path, *sources: str, output: str = "") -> None:
    cells = [
        {"cell_type": "code", "source": [source], "outputs": [output] if output else []}
        for source in sources
    ]
    path.write_text(json.dumps({"cells": cells}))


def told(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]


@pytest.fixture
def chapters(tmp_path: Path) -> Path:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    write(folder / "00_a.ipynb", "first")
    return folder


@pytest.fixture
def copies(chapters: Path, tmp_path: Path) -> Path:
    return refresh(chapters, tmp_path / "mine")


def test_a_copy_that_was_only_run_is_replaced(chapters: Path, copies: Path) -> None:
    write(copies / "00_a.ipynb", "first", output="42")
    write(chapters / "00_a.ipynb", "better")
    refresh(chapters, copies)
    assert told(copies / "00_a.ipynb") == ["better"]


def test_a_newer_chapter_comes_beside_ones_work(chapters: Path, copies: Path) -> None:
    newer, said = copies / "newer_00_a.ipynb", list[str]()
    write(copies / "00_a.ipynb", "mine")
    refresh(chapters, copies)
    assert not newer.exists()
    write(chapters / "00_a.ipynb", "better")
    for _ in range(2):
        refresh(chapters, copies, said.append)
    assert told(copies / "00_a.ipynb") == ["mine"]
    assert told(newer) == ["better"]
    assert len(said) == 1
    write(newer, "mine again")
    write(chapters / "00_a.ipynb", "best")
    refresh(chapters, copies, said.append)
    assert told(copies / "00_a.ipynb") == ["mine"]
    assert told(newer) == ["mine again"]


def test_a_newer_one_taken_over_is_not_offered_again(chapters: Path, copies: Path) -> None:
    write(copies / "00_a.ipynb", "mine")
    write(chapters / "00_a.ipynb", "better")
    refresh(chapters, copies, lambda said: None)
    (copies / "newer_00_a.ipynb").replace(copies / "00_a.ipynb")
    refresh(chapters, copies)
    assert [p.name for p in copies.glob("*.ipynb")] == ["00_a.ipynb"]


def test_an_update_that_is_cut_short_leaves_the_copy_as_it_was(
    chapters: Path, copies: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(chapters / "00_a.ipynb", "better")
    monkeypatch.setattr(Path, "replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        refresh(chapters, copies)
    assert sorted(p.name for p in copies.iterdir()) == [".copied.json", "00_a.ipynb"]
    assert told(copies / "00_a.ipynb") == ["first"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("00_a.ipynb", text) for text in ('{"cells": [', "[]", "null", '{"cells": [1]}')),
        *((".copied.json", text) for text in ('{"00', "[1]", "null")),
    ],
)
def test_what_is_cut_off_or_no_notebook_counts_as_work(chapters, copies, name, text) -> None:
    (copies / name).write_text(text)
    before = (copies / "00_a.ipynb").read_text()
    write(chapters / "00_a.ipynb", "better")
    refresh(chapters, copies, lambda said: None)
    assert (copies / "00_a.ipynb").read_text() == before

"""What every notebook keeps to; that each one runs is nbval's part (`make notebooks`)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chapters import NOTEBOOKS, stem


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request: pytest.FixtureRequest) -> dict[str, Any]:
    return json.loads(request.param.read_text())


def code_cells(notebook: dict[str, Any]) -> list[str]:
    return ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"]


def test_outputs_are_stripped(notebook: dict[str, Any]) -> None:
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_a_kernel_is_named_so_that_no_dialog_asks(notebook: dict[str, Any]) -> None:
    assert notebook["metadata"]["kernelspec"]["name"] == "python3"


def test_code_cells_are_short(notebook: dict[str, Any]) -> None:
    assert [cell for cell in code_cells(notebook) if len(cell.splitlines()) > 15] == []


def test_code_lines_fit_on_a_laptop(notebook: dict[str, Any]) -> None:
    lines = [line for cell in code_cells(notebook) for line in cell.splitlines()]
    assert [line for line in lines if len(line) > 84] == []


def test_no_more_than_three_code_cells_in_a_row(notebook: dict[str, Any]) -> None:
    kinds = "".join(cell["cell_type"][0] for cell in notebook["cells"])
    assert "cccc" not in kinds


def test_nothing_is_imported_by_magic(notebook: dict[str, Any]) -> None:
    assert [c for c in code_cells(notebook) if "import *" in c or "%run" in c] == []


def test_the_length_is_readable(notebook: dict[str, Any]) -> None:
    prose = ["".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == "markdown"]
    assert 800 <= sum(len(text.split()) for text in prose) <= 2700


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_readme_has_a_line_for_it(path: Path) -> None:
    readme = (path.parents[1] / "README.md").read_text().splitlines()
    chapter = f"| [{path.stem}](notebooks/{path.name})"
    exercises = f"[{stem(path)}](workbook/exercises/chapters/{stem(path)}/)"
    assert [line for line in readme if line.startswith(chapter) and exercises in line], (
        f"README's table of chapters has no line that begins with {chapter} and links {exercises}"
    )

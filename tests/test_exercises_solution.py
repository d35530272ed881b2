"""A solution that is shown runs where it's pasted: in the notebook of its exercise."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from chapters import NOTEBOOKS, given_to, problems

from workbook.classroom.choice import ChoiceProblem
from workbook.classroom.core import Problem
from workbook.classroom.solution import as_a_cell, stub_name, without_annotations

EXERCISES = [
    pytest.param(path, problem, id=f"{path.stem} {problem.name}")
    for path in NOTEBOOKS
    for problem in problems(path)
    if not isinstance(problem, ChoiceProblem)  # its answer is a button
]


def names_of(notebook: Path, problem: Problem) -> dict[str, Any]:
    """What the imports of the cells before an exercise's own define; nothing else is run."""
    names: dict[str, Any] = {}
    for cell in json.loads(notebook.read_text())["cells"]:
        text = "".join(cell["source"])
        if text.startswith(problem.stub.rstrip()):
            return names
        if cell["cell_type"] == "code":
            body = [n for n in ast.parse(text).body if isinstance(n, (ast.Import, ast.ImportFrom))]
            exec(compile(ast.Module(body, []), "<imports>", "exec"), names)
    raise AssertionError(f"no cell of {notebook.name} begins with the stub of {problem.name}")


@pytest.mark.parametrize(("notebook", "problem"), EXERCISES)
def test_a_shown_solution_runs_in_its_notebook(
    notebook: Path, problem: Problem, request: pytest.FixtureRequest
) -> None:
    names = names_of(notebook, problem)
    exec(problem.solution().part(""), names)
    answer = names[stub_name(problem.stub)]
    card = problem.check(answer, **given_to(problem, request))
    assert card.correct, card


LIMIT = 3
Row = dict[str, int]


def helper(row: Row) -> int:
    return min(row["n"], LIMIT)


def solved(
    rows: list[Row],
    *more: Row,
    limit: int | None = None,
    **other: Any,
) -> list[int]:  # annotated in every place
    """Größer: a text that isn't ASCII."""
    found: list[int] = []
    words: Path
    for row in rows:
        found.append(helper(row))
    words = Path("ä") if not found else Path(json.dumps(found))
    return found if len(rows) < 2 else [*solved(rows[:1]), len(str(words))]


def test_names_of_the_module_come_along_and_annotations_do_not():
    text = as_a_cell(solved, "def mine(rows):\n    ...\n")
    names: dict[str, Any] = {}
    exec(text, names)
    assert names["mine"]([{"n": 1}, {"n": 9}]) == [1, 6]
    assert text.startswith(
        "import json\nfrom pathlib import Path\n\n\nLIMIT = 3\n\n\ndef helper(row):\n"
    )
    assert "def mine(\n    rows,\n    *more,\n    limit = None,\n    **other,\n):  # annot" in text
    assert "    found = []\n" in text
    assert ": Any" not in text
    assert "Row" not in text


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("def f(a: int = 1) -> dict[str, int]:\n    return a\n", "def f(a=1):\n    return a\n"),
        ("def f() -> None:\n    ö: str = '->'\n", "def f():\n    ö = '->'\n"),
        ("x: int\n", "x = None\n"),
        ("def f(a, /, b):\n    return lambda: a\n", "def f(a, /, b):\n    return lambda: a\n"),
    ],
)
def test_only_annotations_are_cut(text: str, cut: str) -> None:
    assert ast.dump(ast.parse(without_annotations(text))) == ast.dump(ast.parse(cut))


def test_a_choice_is_shown_with_its_variable():
    assert as_a_cell("c", 'prediction = ...  # "a", "b" or "c"\n') == "prediction = 'c'"

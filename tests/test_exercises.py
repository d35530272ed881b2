"""Each chapter has its exercises, and every exercise is proven."""

from __future__ import annotations

import time
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from chapters import NOTEBOOKS, problems, stem
from proof import Catalogue, catalogue_of, prove

from workbook.classroom.choice import Choice
from workbook.classroom.core import Problem
from workbook.classroom.mistakes import cause_of_rows, named

CHAPTERS = Path(__file__).parents[1] / "workbook" / "lessons"
FOLDERS = sorted(
    file.parent for file in CHAPTERS.glob("*/__init__.py") if file.parent.name != "models"
)
EXERCISES = [
    pytest.param(path, problem, id=f"{path.stem}-{problem.name}")
    for path in NOTEBOOKS
    for problem in problems(path)
    if not problem.wrong  # else it stands in test_lessons.py
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_each_folder_has_its_notebook(folder: Path) -> None:
    assert [path.name for path in NOTEBOOKS if stem(path) == folder.name], (
        f"{folder.name} has no notebook: expected notebooks/<number>_{folder.name}.ipynb"
    )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_notebook_has_its_folder(path: Path) -> None:
    assert problems(path), f"{path.name} has no exercises: expected {CHAPTERS / stem(path)}"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_each_name_stands_once(path: Path) -> None:
    names = [problem.name for problem in problems(path)]
    assert len(set(names)) == len(names)


def catalogue(path: Path, problem: Problem) -> Catalogue:
    """Its answers: a choice has them in its options, any other has a module of its own."""
    if isinstance(problem.diagnose, Choice):
        return catalogue_of(problem.diagnose, problem.reference)
    chapter = vars(import_module(f"workbook.lessons.{stem(path)}"))
    [name] = [name for name, value in chapter.items() if value is problem]
    return import_module(f"proofs.{stem(path)}.{name}").catalogue


@pytest.mark.parametrize(("path", "problem"), EXERCISES)
def test_the_exercise_is_proven(
    path: Path, problem: Problem, request: pytest.FixtureRequest
) -> None:
    answers = catalogue(path, problem)
    given = {"spark": request.getfixturevalue("spark")} if answers.spark else {}
    prove(problem, answers, **given)


@pytest.mark.parametrize(
    "file",
    [f.with_stem(f.stem.removesuffix("_mistakes")) for f in CHAPTERS.glob("*/*spark_mistakes.py")],
    ids=lambda file: f"{file.parent.name}-{file.stem}",
)
def test_each_mistake_on_rows_gets_its_own_cause(file: Path) -> None:
    module = f"workbook.lessons.{file.parent.name}.{file.stem}"
    asked = import_module(module)
    columns = [column.split()[0] for column in asked._SCHEMA.split(", ")]
    for mistake in asked.MISTAKES:
        rows = mistake.model(named(columns, asked._ROWS))
        assert cause_of_rows(asked.MISTAKES, columns, asked._ROWS, rows) == mistake.cause


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_checks_without_spark_take_less_than_a_second(path: Path) -> None:
    times = []
    for _ in range(2):  # the machine may have been busy once
        began = time.monotonic()
        for problem in problems(path):
            if "spark" not in signature(problem.diagnose).parameters:
                problem.check(problem.reference)
        times.append(time.monotonic() - began)
    assert min(times) < 1

"""The notebooks as tests read them: their cells, and where the exercises stand."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

import pytest

from workbook.classroom.core import Problem
from workbook.classroom.questions import ChoiceProblem

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@dataclass(frozen=True)
class Place:
    """An exercise in a chapter: the cell with its stub, and the name that it binds there."""

    problem: Problem
    cell: int
    name: str
    shown_as: str


def cells(path: Path) -> list[str]:
    """The code cells of a notebook, in order."""
    return texts(path, "code")


def folded(path: Path) -> list[bool]:
    """Whether each code cell, in order, is folded: nobody has to read it."""
    found = json.loads(path.read_text())["cells"]
    cells = [cell["metadata"] for cell in found if cell["cell_type"] == "code"]
    return [cell.get("jupyter", {}).get("source_hidden", False) for cell in cells]


def texts(path: Path, kind: str) -> list[str]:
    """The cells of a kind, "code" or "markdown", in order."""
    found = json.loads(path.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == kind]


def turns(path: Path) -> dict[int, tuple[int, int]]:
    """The minutes from and to which the keyboard is a section's driver's."""
    pattern = re.compile(r"^## (\d+)\. .*?minutes (\d+) to (\d+)\.", re.MULTILINE | re.DOTALL)
    text = "\n".join(texts(path, "markdown"))
    return {int(n): (int(begin), int(end)) for n, begin, end in pattern.findall(text)}


def number_of(path: Path) -> str:
    """The two digits of a chapter; "" for a session of its own, which has no place among them."""
    first = path.stem.partition("_")[0]
    return first if first.isdigit() else ""


def stem(path: Path) -> str:
    """A notebook's name without its number."""
    return path.stem.removeprefix(f"{number_of(path)}_")


def problems(path: Path) -> tuple[Problem, ...]:
    """The exercises of a notebook, from the folder that bears its name; none without a folder."""
    name = f"workbook.lessons.{stem(path)}"
    return import_module(name).problems if find_spec(name) else ()


def needs(problem: Problem) -> set[str]:
    """What a check needs besides the answer: Spark, or PostgreSQL."""
    return {"spark", "url"} & set(signature(problem.diagnose).parameters)


def given_to(problem: Problem, request: pytest.FixtureRequest) -> dict[str, Any]:
    """What the notebook hands to its check besides the answer."""
    return {name: request.getfixturevalue(name) for name in needs(problem)}


def names_before(path: Path, problem: Problem) -> dict[str, Any]:
    """What the imports of the cells before an exercise's own define; nothing else is run."""
    names: dict[str, Any] = {}
    for text in cells(path):
        if text.startswith(problem.stub.rstrip()):
            return names
        body = [n for n in ast.parse(text).body if isinstance(n, (ast.Import, ast.ImportFrom))]
        exec(compile(ast.Module(body, []), "<imports>", "exec"), names)
    raise AssertionError(f"no cell of {path.name} begins with the stub of {problem.name}")


def places(path: Path) -> Iterator[Place]:
    """The exercises that are written in cells; ``shown_as`` is the problem's name in it."""
    for problem in problems(path):
        if isinstance(problem, ChoiceProblem):  # its options are buttons
            continue
        stub = problem.stub.rstrip()
        for number, cell in enumerate(cells(path)):
            checks = list(_checks(cell)) if cell.startswith(stub) else []
            if checks and _is_of(path, checks[0].func.value.id, problem):
                name = checks[0].args[0].id
                yield Place(problem, number, name, checks[0].func.value.id)


def shown_choices(path: Path) -> list[Problem]:
    """The choices that some cell ends with, so that their buttons are on display."""
    return [
        problem
        for problem in problems(path)
        for cell in cells(path)
        if isinstance(problem, ChoiceProblem)
        and _is_of(path, cell.strip().rpartition("\n")[2], problem)
    ]


def _checks(cell: str) -> Iterator[ast.Call]:
    for node in ast.walk(ast.parse(cell)):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "check":
            yield node


def _is_of(path: Path, name: str, problem: Problem) -> bool:
    """Whether a notebook imports this very problem under this name."""
    for cell in cells(path):
        for node in ast.walk(ast.parse(cell)):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return getattr(import_module(node.module), alias.name, None) is problem
    return False

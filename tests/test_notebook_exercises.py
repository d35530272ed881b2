"""An exercise breaks no notebook: what it needs is there, and no cell trusts a wrong answer."""

import ast
import builtins
import dis
import inspect
from pathlib import Path
from types import CodeType

import pytest
from chapters import NOTEBOOKS, Place, cells, folded, places, problems, shown_choices

from workbook.classroom.errors import bound

EXERCISES = [
    pytest.param(path, place, id=f"{path.stem}-{place.name}-{place.cell}")
    for path in NOTEBOOKS
    for place in places(path)
]
BY_HAND = [
    case for case in EXERCISES if inspect.isfunction(case.values[1].problem.reference)
]  # and not a prediction


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_exercise_has_its_place(path: Path) -> None:
    placed = [place.problem for place in places(path)] + shown_choices(path)
    assert sorted(each.name for each in placed) == sorted(each.name for each in problems(path))


def bound_before(path: Path, cell: int) -> set[str]:
    """The names that the cells above, save folded ones, have imported, defined or assigned."""
    above = zip(cells(path)[:cell], folded(path), strict=False)
    return {name for text, hidden in above if not hidden for name in bound(ast.parse(text))}


def needed(code: CodeType) -> set[str]:
    """The global names that a function's body takes, without Python's own."""
    loads = ("LOAD_GLOBAL", "LOAD_NAME")
    names = {i.argval for i in dis.get_instructions(code) if i.opname in loads}
    inner = [needed(part) for part in code.co_consts if isinstance(part, CodeType)]
    return names.union(*inner) - set(dir(builtins))


@pytest.mark.parametrize(("path", "place"), BY_HAND)
def test_what_an_answer_needs_stands_in_a_cell_before_it(path: Path, place: Place) -> None:
    reference = place.problem.reference
    # A text may as well stand in the answer itself.
    wanted = {n for n in needed(reference.__code__) if type(reference.__globals__[n]) is not str}
    assert wanted - bound_before(path, place.cell) == set()


def uses(tree: ast.AST, name: str) -> int:
    """How often code takes a name's value."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return sum(node.id == name and isinstance(node.ctx, ast.Load) for node in nodes)


@pytest.mark.parametrize(("path", "place"), BY_HAND)
def test_a_later_cell_uses_each_answer(path: Path, place: Place) -> None:
    later = ast.parse("\n".join(cells(path)[place.cell + 1 :]))
    assert uses(later, place.name) >= 2, "used by `resolve` alone"


def first_use(path: Path, place: Place) -> str:
    """The first statement below an exercise that takes its answer; "" where the name goes on."""
    for cell in cells(path)[place.cell + 1 :]:
        for statement in ast.parse(cell).body:
            if uses(statement, place.name):
                return ast.unparse(statement)
            if place.name in bound(statement):
                return ""
    return ""


@pytest.mark.parametrize(("path", "place"), EXERCISES)
def test_an_answer_is_resolved_before_any_cell_uses_it(path: Path, place: Place) -> None:
    used = first_use(path, place)
    assert used in ("", f"{place.name} = {place.shown_as}.resolve({place.name})")

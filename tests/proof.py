"""Proof of a chapter's exercises: every stub, hint, reference, right and wrong answer.

After rustlings, whose CI proves that each stub fails and each solution passes.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from workbook.exercises.core import Problem
from workbook.exercises.render import State

CAUSE = "Likely cause"


@dataclass(frozen=True)
class Catalogue:
    """What learners may answer: right variants, and wrong ones with a piece of their diagnosis."""

    right: Sequence[Any]
    wrong: Sequence[tuple[Any, str]]
    given: Mapping[str, Any] = field(default_factory=dict)


def prove_complete(module: ModuleType, catalogues: Sequence[Problem]) -> None:
    """Every problem of the module has a catalogue, and each name stands once."""
    names = [p.name for p in module.problems]
    assert names == [p.name for p in catalogues]
    assert len(set(names)) == len(names)


def prove(problem: Problem, catalogue: Catalogue) -> None:
    """All that must hold for one exercise."""
    prove_words(problem)
    prove_hints(problem)
    prove_stub(problem, catalogue.given)
    prove_right(problem, catalogue)
    prove_wrong(problem, catalogue)


def prove_words(problem: Problem) -> None:
    """There is a task, and a discussion that shows once an answer passes."""
    assert problem.task.strip()
    assert problem.discussion.strip()


def prove_hints(problem: Problem) -> None:
    """One to three hints, none empty, and the first two hold no line of the solution."""
    assert 1 <= len(problem.hints) <= 3
    assert all(hint.strip() for hint in problem.hints)
    for hint in problem.hints[:2]:
        told = [line for line in solution_lines(problem) if line in hint]
        assert not told, f"{problem.name}: the hint {hint!r} tells {told}"


def solution_lines(problem: Problem) -> list[str]:
    """The reference's lines without those that tell nothing (``else:``), or the right value."""
    if not inspect.isfunction(problem.reference):
        return [repr(problem.reference), f"{problem.reference})"]
    lines = textwrap.dedent(inspect.getsource(problem.reference)).splitlines()[1:]
    return [line.strip() for line in lines if len(line.strip()) > len("continue")]


def prove_stub(problem: Problem, given: Mapping[str, Any]) -> None:
    """The stub leaves a gap, runs, is not attempted, and the reference stands in for it."""
    assert "..." in problem.stub
    stub = stub_of(problem)
    assert problem.check(stub, **given).state is State.NOT_ATTEMPTED
    assert problem.resolve(stub) is problem.reference


def stub_of(problem: Problem) -> Any:
    """What the stub's cell defines last."""
    names: dict[str, Any] = {}
    exec(problem.stub, names)
    return list(names.values())[-1]


def prove_right(problem: Problem, catalogue: Catalogue) -> None:
    """The reference and at least two answers written differently pass, and stay themselves."""
    assert len(catalogue.right) >= 2
    for answer in (problem.reference, *catalogue.right):
        card = problem.check(answer, **catalogue.given)
        assert card.correct, f"{answer!r} should pass:\n{card}"
        assert card.part("Discussion") == problem.discussion
        assert problem.resolve(answer) is answer


def prove_wrong(problem: Problem, catalogue: Catalogue) -> None:
    """At least six wrong answers fail, each with a diagnosis of its own."""
    assert len(catalogue.wrong) >= 6
    causes: dict[str, Any] = {}
    for answer, piece in catalogue.wrong:
        card = problem.check(answer, **catalogue.given)
        assert card.state is State.NOT_YET, f"{answer!r} should fail:\n{card}"
        cause = card.part(CAUSE)
        assert piece in cause, f"{answer!r} should be told {piece!r}:\n{card}"
        assert cause not in causes, f"{answer!r} and {causes[cause]!r} both get {cause!r}"
        assert problem.resolve(answer) is answer
        causes[cause] = answer

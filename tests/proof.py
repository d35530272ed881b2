"""Proof of an exercise: its stub, hints, reference, right and wrong answers.

After rustlings, whose CI proves that each stub fails and each solution passes.
"""

from __future__ import annotations

import inspect
import io
import textwrap
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import Any

from workbook.classroom.choice import NO_LETTER, NO_OPTION, Choice
from workbook.classroom.core import Problem
from workbook.classroom.judging import Mistake
from workbook.classroom.render import State

CAUSE = "Likely cause"


@dataclass(frozen=True)
class Catalogue:
    """What learners may answer: right variants, and wrong ones with a piece of their diagnosis.

    ``shortcuts`` are more wrong ones, which may share a diagnosis: rules on names, sizes or order
    that hold in a few cases only. ``spark`` says that the check is given a session. ``models`` are
    the exercise's own mistakes that can be called like an answer: each one must get its own cause.
    ``same`` are other ways to a wrong idea, each beside an answer whose cause it must get.
    """

    right: Sequence[Any]
    wrong: Sequence[tuple[Any, str]]
    spark: bool = False
    models: Sequence[Mistake] = ()
    shortcuts: Sequence[tuple[Any, str]] = ()
    same: Sequence[tuple[Any, Any]] = ()


def catalogue_of(choice: Choice, right: str) -> Catalogue:
    """What may be answered to a choice: each letter, one that isn't there, and no letter."""
    after_the_last = chr(ord(max(choice.options)) + 1)
    causes = [(letter, each.cause) for letter, each in choice.options.items() if letter != right]
    return Catalogue(
        right=[right.upper(), f" {right} "],
        wrong=[*causes, (after_the_last, NO_OPTION), (2, NO_LETTER)],
    )


def prove(problem: Problem, catalogue: Catalogue, **given: Any) -> None:
    """All that must hold for one exercise; ``given`` goes to each check."""
    prove_words(problem)
    prove_hints(problem)
    prove_stub(problem, given)
    prove_right(problem, catalogue, given)
    prove_wrong(problem, catalogue, given)
    prove_models(problem, catalogue, given)
    prove_same(problem, catalogue, given)


def prove_lesson(problem: Problem, **given: Any) -> None:
    """All that must hold for an exercise in one declaration, which has its own answers."""
    catalogue = Catalogue(right=problem.right, wrong=(), models=problem.wrong)
    prove_words(problem)
    prove_hints(problem)
    prove_stub(problem, given)
    prove_right(problem, catalogue, given)
    assert len({idea.cause for idea in problem.wrong}) >= 5
    prove_models(problem, catalogue, given)


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
    assert resolved(problem, stub, "the reference stands in") is problem.reference


def stub_of(problem: Problem) -> Any:
    """What the stub's cell defines last."""
    names: dict[str, Any] = {}
    exec(problem.stub, names)
    return list(names.values())[-1]


def prove_right(problem: Problem, catalogue: Catalogue, given: Mapping[str, Any]) -> None:
    """The reference and at least two answers written differently pass, and stay themselves."""
    assert len(catalogue.right) >= 2
    for answer in (problem.reference, *catalogue.right):
        card = problem.check(answer, **given)
        assert card.correct, f"{named(answer)} should pass:\n{card}"
        assert card.part("Discussion") == problem.discussion
        assert resolved(problem, answer, "") is answer


def prove_wrong(problem: Problem, catalogue: Catalogue, given: Mapping[str, Any]) -> None:
    """At least six wrong answers fail, each with a diagnosis of its own."""
    assert len(catalogue.wrong) >= 6, (
        f"{problem.name}: expected six wrong answers, but got {len(catalogue.wrong)}. A choice has "
        "one for each wrong option, and two that are no option: give it five options."
    )
    causes: dict[str, Any] = {}
    for answer, piece in catalogue.wrong:
        card = problem.check(answer, **given)
        assert card.state is State.NOT_YET, f"{named(answer)} should fail:\n{card}"
        cause = card.part(CAUSE)
        assert piece in cause, f"{named(answer)} should be told {piece!r}:\n{card}"
        assert cause not in causes, f"{named(answer)} and {named(causes[cause])} both get {cause!r}"
        assert resolved(problem, answer, "not solved yet") is problem.reference
        causes[cause] = answer
    for answer, piece in catalogue.shortcuts:
        card = problem.check(answer, **given)
        assert card.state is State.NOT_YET, f"{named(answer)} should fail:\n{card}"
        assert piece in card.part(CAUSE), f"{named(answer)} should be told {piece!r}:\n{card}"


def prove_models(problem: Problem, catalogue: Catalogue, given: Mapping[str, Any]) -> None:
    """Each model of a mistake is told its own cause, not that of one before it."""
    for mistake in catalogue.models:
        card = problem.check(lambda *args, model=mistake.model: model(*args), **given)
        assert card.part(CAUSE) == mistake.cause, f"should be told {mistake.cause!r}:\n{card}"


def prove_same(problem: Problem, catalogue: Catalogue, given: Mapping[str, Any]) -> None:
    """One wrong idea has one cause, in whichever way it's written."""
    for answer, like in catalogue.same:
        cards = problem.check(answer, **given), problem.check(like, **given)
        assert cards[0].part(CAUSE) == cards[1].part(CAUSE), f"{named(answer)}:\n{cards[0]}"


def named(answer: Any) -> str:
    """An answer as it's found in the catalogue: the name of a lambda says nothing."""
    code = getattr(answer, "__code__", None)
    return f"{answer.__name__} in line {code.co_firstlineno}" if code else repr(answer)


def resolved(problem: Problem, answer: Any, said: str) -> Any:
    """What the notebook goes on with; ``resolve`` must say this, and nothing where it is empty."""
    with redirect_stdout(io.StringIO()) as out:
        handed_on = problem.resolve(answer)
    assert said in out.getvalue()
    assert bool(said) == bool(out.getvalue())
    return handed_on

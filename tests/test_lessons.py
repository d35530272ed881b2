"""Every exercise proves itself: stub, hints, reference, right answers and wrong ideas.

After rustlings, whose CI proves that each stub fails and each solution passes.
"""

import inspect
import io
import textwrap
import time
from contextlib import redirect_stdout
from typing import Any

import pytest
from chapters import NOTEBOOKS, given_to, names_before, needs, problems, stem

from workbook.classroom.core import STANDS_IN, Problem, stub_name
from workbook.classroom.questions import NO_LETTER, NO_OPTION, ChoiceProblem
from workbook.classroom.render import Card, State
from workbook.lessons.page_view_counter.on_spark import on_spark
from workbook.lessons.views_per_second.by_rule import by_rule, rule

CAUSE = "Likely cause"
LESSONS = {
    f"{stem(path)}: {each.name}": (path, each) for path in NOTEBOOKS for each in problems(path)
}
WITHOUT_SERVERS = [
    name
    for name, (_, each) in LESSONS.items()
    if not isinstance(each, ChoiceProblem) and not needs(each)
]


@pytest.mark.parametrize("name", LESSONS)
def test_it_proves_itself(name: str, request: pytest.FixtureRequest) -> None:
    problem = LESSONS[name][1]
    given = given_to(problem, request)
    prove_words(problem)
    stub = run_stub(problem)
    assert problem.check(stub, **given).state is State.NOT_ATTEMPTED
    assert resolved(problem, stub, STANDS_IN) is problem.reference
    options = problem.options if isinstance(problem, ChoiceProblem) else {}
    again = [] if given else [problem.reference]  # the machine may be busy once
    more, seconds = [f" {problem.reference} "] if options else [], list[float]()
    for answer in (problem.reference, *again, *problem.right, *more):
        began = time.monotonic()
        card = problem.check(answer, **given)
        seconds.append(time.monotonic() - began)
        assert card.correct, f"{named(answer)} should pass:\n{card}"
        assert card.part("Discussion") == problem.discussion
        assert resolved(problem, answer, "") is answer
    assert given or min(seconds) < 1, "a check without Spark takes less than a second"
    if options:
        expected = {letter: cause for letter, (_, cause) in options.items() if cause}
        expected |= {"z": NO_OPTION, 2: NO_LETTER}
        for letter, cause in expected.items():
            assert cause in problem.check(letter).part(CAUSE)
        return
    assert len({idea.cause for idea in problem.wrong}) >= 5
    for idea in problem.wrong:
        card = problem.check(lambda *args, model=idea.model: model(*args), **given)
        assert card.state is State.NOT_YET, f"{named(idea.model)} should fail:\n{card}"
        assert card.part(CAUSE) == idea.cause, f"should be told {idea.cause!r}:\n{card}"
    assert resolved(problem, card, STANDS_IN) is problem.reference


def prove_words(problem: Problem) -> None:
    """A task, a discussion, one to three hints; the first two hold no line of the solution."""
    assert problem.task.strip()
    assert problem.discussion.strip()
    assert 1 <= len(problem.hints) <= 3
    assert all(hint.strip() for hint in problem.hints)
    if inspect.isfunction(problem.reference):
        text = textwrap.dedent(inspect.getsource(problem.reference))
        lines = [line.strip() for line in text.splitlines()[1:] if len(line.strip()) > 8]
        told = [line for line in lines for hint in problem.hints[:2] if line in hint]
        assert not told, f"{problem.name}: a hint tells {told}"


def run_stub(problem: Problem) -> Any:
    assert "..." in problem.stub
    names: dict[str, Any] = {}
    exec(problem.stub, names)
    return names[stub_name(problem.stub)]


def named(answer: Any) -> str:
    """An answer as it's found in its file: the name of a lambda says nothing."""
    code = getattr(answer, "__code__", None)
    return f"{answer.__name__} in line {code.co_firstlineno}" if code else repr(answer)


def resolved(problem: Problem, answer: Any, said: str) -> Any:
    """What the notebook goes on with; ``resolve`` must say this, and nothing where it is empty."""
    with redirect_stdout(io.StringIO()) as out:
        handed_on = problem.resolve(answer)
    assert said in out.getvalue()
    assert bool(said) == bool(out.getvalue())
    return handed_on


@pytest.mark.parametrize("name", WITHOUT_SERVERS)
def test_a_shown_solution_runs_in_its_notebook(name: str) -> None:
    path, problem = LESSONS[name]
    names = names_before(path, problem)
    exec(problem.solution().part(""), names)
    card: Card = problem.check(names[stub_name(problem.stub)])
    assert card.correct, card


def test_a_check_on_spark_without_a_session_says_how() -> None:
    assert "spark=spark" in repr(on_spark.check(on_spark.reference))


@pytest.mark.parametrize("form", [lambda pairs: pairs, list])
def test_an_answer_that_emits_the_last_second_hears_so(form: Any) -> None:
    cause = by_rule.check(lambda clicks: form(rule(last=True)(clicks))).part(CAUSE)
    assert cause.startswith("It emits the last second, too")

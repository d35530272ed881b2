"""Build an exercise from one declaration: a reference, cases to read, random cases, wrong ideas.

An answer passes if it returns the reference's value in every case: in the ``cases``, each of which
has a sentence, and in the random cases of ``draw``. If a wrong answer returns the values of a
``wrong`` idea in every case, the card names that idea's cause. Otherwise the card shows the first
case that fails, with its sentence. The declaration is also the exercise's test:
``tests/test_lessons.py`` checks that each ``right`` answer passes and that each wrong idea gets its
own cause.
"""

import inspect
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import wraps
from itertools import islice
from typing import Any

from workbook.classroom.core import Problem
from workbook.classroom.judging import Case, Mistake, NotYet, by_cases, not_callable_so

RANDOM_CASES, SEED = 40, 7
MOST_YIELDED = 500
BY_CHANCE = "This input was drawn by chance. Follow it through your lines: where do they go wrong?"

Answer = Callable[..., Any]
Read = tuple[str, tuple[Any, ...]]


def case(why: str, *args: Any) -> Read:
    """Return a case to read: the sentence for a card, and the arguments (or a table's rows)."""
    return why, args


def wrong(cause: str, *models: Answer) -> list[Mistake]:
    """Return one wrong idea: its cause, and the wrong answers that have it."""
    return [Mistake(model, cause) for model in models]


def exercise(
    reference: Answer,
    *,
    cases: Sequence[Read],
    draw: Callable[[random.Random, int], tuple[Any, ...]],
    wrong: Sequence[Sequence[Mistake]],
    right: Sequence[Answer],
    rehearse: Callable[[Answer], Answer] | None = None,
    notices: Callable[[Any, Any], str] = lambda value, expected: "",
    kind: type[Problem] = Problem,
    **words: Any,
) -> Any:
    """Build an exercise of a ``kind``; ``words`` are its name, task, hints and discussion.

    ``draw`` gets a random generator and a size from 0 to 39, and returns a case's arguments.
    ``rehearse`` turns an answer that takes a reader and a screen into a function of a case's
    arguments. Where the reference yields, an answer may yield, too, or return a list or a tuple.
    ``notices`` gets a wrong value and the expected one, and returns a cause that
    neither a case nor a wrong idea knows, or ''. If ``words`` contain no ``stub``, the stub is
    ``stub_of(reference)``.
    """
    chance, mistakes = random.Random(SEED), [each for idea in wrong for each in idea]
    random_cases = [case(BY_CHANCE, *draw(chance, size)) for size in range(RANDOM_CASES)]
    random_cases.sort(key=lambda drawn: len(repr(drawn[1])))  # a small one is shown first
    yields = inspect.isgeneratorfunction(reference)

    def called(answer: Answer) -> Answer:
        return _rehearsed(rehearse, answer, yields) if rehearse or yields else answer

    asked = called(reference)
    models = [replace(m, model=called(m.model)) for m in mistakes]
    every = [(why, args, asked(*args)) for why, args in [*cases, *random_cases]]
    all_cases = [  # a Counter is the dictionary that the task asks for
        Case(args, dict(value) if isinstance(value, dict) else value, why)
        for why, args, value in every
    ]
    check = by_cases(all_cases, models, yields=yields, notices=notices)
    parameters = inspect.signature(reference).parameters

    def diagnose(answer: Any) -> NotYet | None:
        return not_callable_so(answer, (None,) * len(parameters)) or check(called(answer))

    return kind(
        **{"stub": stub_of(reference), **words},
        diagnose=diagnose,
        reference=reference,
        right=right,
        wrong=mistakes,
    )


def _rehearsed(rehearse: Callable[[Answer], Answer] | None, answer: Answer, yields: bool) -> Answer:
    """Return what ``rehearse`` makes of an answer, with the answer's lines and its own parameters.

    Where it ``yields``, its values are collected.
    """
    tried = rehearse(answer) if rehearse else answer

    @wraps(answer)  # so that a card finds the line of an error
    def call(*args: Any) -> Any:
        value = tried(*args)
        given = yields and isinstance(value, (tuple, Iterator))
        return list(islice(value, MOST_YIELDED)) if given else value

    call.__signature__ = inspect.signature(tried)  # type: ignore[attr-defined]
    return call


def stub_of(reference: Answer) -> str:
    """Return a function with the reference's name and parameters and an empty body."""
    parameters = ", ".join(inspect.signature(reference).parameters)
    return f"def {reference.__name__}({parameters}):\n    ...  # your code\n"

"""How answers are judged: compared case by case, and given a likely cause.

A ``Mistake`` holds a model of a wrong idea. If the answer gives what the model gives in every case,
it gets that mistake's cause, however it is written.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.exercises.calls import (
    MOST,
    Attempt,
    Endless,
    alike,
    attempt,
    attempt_twice,
    collected,
    same,
)
from workbook.exercises.render import Part, Rows
from workbook.exercises.showing import arguments, error_line, place, show


@dataclass(frozen=True)
class NotYet:
    """What is wrong with an answer: the likely cause, and the values that show it, as text."""

    cause: str
    given: str = ""
    value: str = ""
    expected: str = ""
    printed: str = ""
    where: str = ""
    table: Rows = ()

    def parts(self) -> tuple[Part, ...]:
        """The parts of a card; what is empty is left out."""
        values = {
            "Where in your cell": self.where,
            "Input": self.given,
            "Your value": self.value,
            "Expected": self.expected,
            "It printed": self.printed,
        }
        shown = [Part(label, text, code=True) for label, text in values.items() if text]
        if self.table:
            shown.append(Part("Difference", table=self.table))
        return (Part("Likely cause", self.cause), *shown)


@dataclass(frozen=True)
class Case:
    """One call and its expected value; ``cause`` is said if no known mistake explains a failure."""

    args: tuple[Any, ...]
    expected: Any
    cause: str


@dataclass(frozen=True)
class Mistake:
    """A wrong idea: a model that makes it (called like the answer), and the cause to name."""

    model: Callable[..., Any]
    cause: str


def same_idea(*models: Callable[..., Any], cause: str) -> list[Mistake]:
    """One wrong idea that can be written in several ways."""
    return [Mistake(model, cause) for model in models]


def by_cases(
    cases: Sequence[Case], mistakes: Sequence[Mistake] = (), *, any_iterable: bool = False
) -> Callable[[Any], NotYet | None]:
    """A check that calls a function with each case's arguments, twice, on copies.

    With ``any_iterable`` an answer may return a list or any other sequence, or `yield`: what it
    gives is run to a list (of at most ``MOST`` elements) before it is compared.
    """
    if any_iterable:
        mistakes = [Mistake(collected(m.model), m.cause) for m in mistakes]

    def diagnose(answer: Any) -> NotYet | None:
        if misuse := not_callable_so(answer, cases[0].args):
            return misuse
        called = collected(answer) if any_iterable else answer
        attempts: list[Attempt] = []
        for case in cases:
            attempts.append(attempt_twice(called, case.args))
            if attempts[-1].timed_out:
                return _not_yet(answer, case, attempts[-1], "")
        judged = list(zip(cases, attempts, strict=True))
        failed = [(c, a) for c, a in judged if not _passes(c, a)]
        if not failed:
            return None
        known = known_mistake(mistakes, [c.args for c in cases], [a.result for a in attempts])
        always_none = all(a.error is None and a.value is None for a in attempts)
        return _not_yet(answer, *failed[0], known or (_NO_RETURN if always_none else ""))

    return diagnose


def by_choice(
    right: str, options: Mapping[str, str], causes: Mapping[str, str]
) -> Callable[[Any], NotYet | None]:
    """A check of a prediction: one letter among ``options``, and a cause for each wrong one."""
    letters = ", ".join(options)

    def diagnose(answer: Any) -> NotYet | None:
        if not isinstance(answer, str):
            return NotYet(
                f'Answer with a letter in quotes, such as "{min(options)}".',
                value=show(answer),
                expected=f"one of {letters}",
            )
        chosen = answer.strip().lower()
        if chosen not in options:
            return NotYet(f"There is no such option: choose one of {letters}.", value=show(answer))
        if chosen == right:
            return None
        return NotYet(causes[chosen], value=f"{chosen}: {options[chosen]}")

    return diagnose


def not_callable_so(answer: Any, args: tuple[Any, ...]) -> NotYet | None:
    """What is wrong if the answer cannot be called with these arguments at all."""
    if not callable(answer):
        return NotYet(
            "A function is asked for. Pass the function itself, by its name and without "
            "parentheses.",
            value=f"{show(answer)}  ({type(answer).__name__})",
        )
    try:
        inspect.signature(answer).bind(*args)
    except TypeError as error:
        needed = f"{len(args)} argument{'s' if len(args) != 1 else ''}"
        return NotYet(
            f"The function is called with {needed}, and its own parameters do not fit "
            f"({error}). Keep the parameters of the stub.",
            given=arguments(None, args),
        )
    except ValueError:  # some built-ins have no signature: the call itself will tell
        pass
    return None


def known_mistake(
    mistakes: Sequence[Mistake], inputs: Sequence[tuple[Any, ...]], results: Sequence[Any]
) -> str:
    """The cause of the first mistake whose model gives these results for these inputs, or ''."""
    for mistake in mistakes:
        modelled = (attempt(mistake.model, *copy.deepcopy(args)).result for args in inputs)
        if all(alike(m, r) for m, r in zip(modelled, results, strict=True)):
            return mistake.cause
    return ""


def usual_cause(tried: Attempt) -> str:
    """The likely cause that can be told from how a call went, whatever the exercise; or ''."""
    if tried.timed_out:
        return "It does not come to an end: does its loop reach the last element, or stop at all?"
    if tried.error is not None:
        return f"It raised {error_line(tried.error)}. Follow this input through your lines."
    if tried.changed_input:
        return "It changes the input it was given. Build a new value and leave the input alone."
    if tried.unsteady:
        return (
            "The same input gives another value the second time: something is kept from call to "
            "call, in a global or in a default argument."
        )
    if isinstance(tried.value, Endless):
        return (
            f"It yields without end: after {MOST:,} elements there are more. A generator ends "
            "where its function does, so leave the loop after the last element of the input."
        )
    if tried.value is None and tried.printed:
        return "It prints the value and returns nothing. Give it back with `return`."
    if tried.value is None:
        return "It returns None for this input: one way through it ends without a `return`."
    if inspect.isgenerator(tried.value):
        return "It has a `yield`, so it returns a generator. Collect, and `return` once at the end."
    if inspect.iscoroutine(tried.value):
        return "It is an `async def`, so calling it only returns a coroutine. Write a plain `def`."
    if tried.value is ...:
        return "It still returns `...` for this input: one place is left to fill in."
    if callable(tried.value):
        return "It returns a function instead of a value: is a call missing its parentheses?"
    return ""


_NO_RETURN = "It returns None, whatever the input: there is no `return` that is reached."


def _not_yet(answer: Any, case: Case, tried: Attempt, known: str) -> NotYet:
    usual = usual_cause(tried)
    if known == _NO_RETURN and tried.printed:
        known = ""  # that it prints says more
    cause = known or usual or _other_type(tried.value, case.expected) or case.cause
    return NotYet(
        cause,
        given=arguments(answer, case.args),
        value=tried.shown,
        expected=show(case.expected),
        printed=tried.printed,
        where=place(tried.error, answer),
    )


def _passes(case: Case, tried: Attempt) -> bool:
    fine = tried.error is None and not tried.changed_input and not tried.unsteady
    return fine and same(tried.value, case.expected)


def _other_type(value: Any, expected: Any) -> str:
    kinds = (list, tuple)
    if isinstance(value, kinds) and isinstance(expected, kinds) and list(value) == list(expected):
        return f"Right contents in a {type(value).__name__}; a {type(expected).__name__} is asked."
    return ""

"""Judges answers: compares them case by case, and names the likely cause.

If the answer gives what the model of a mistake gives in every case, it gets that mistake's cause,
however it is written.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from workbook.classroom.apart import Say, apart
from workbook.classroom.calls import (
    Attempt,
    Classes,
    attempt_twice,
    collected,
    same,
)
from workbook.classroom.causes import (
    LEFT_BEHIND,
    MEANT_NONE,
    NO_RETURN,
    cause_of_none,
    is_plain_none,
    other_numbers,
    other_type,
)
from workbook.classroom.causes import usual_cause as usual_cause
from workbook.classroom.guard import guarded
from workbook.classroom.imports import import_for
from workbook.classroom.mistakes import Mistake, find_mistake
from workbook.classroom.render import Part, Rows
from workbook.classroom.showing import arguments, place, show

WHOLE_SECONDS = 5.0
"""After so many seconds no further case is tried; one that would be next counts as endless."""

Form = Callable[..., str]
"""Takes a value and its case's arguments; returns what is wrong with the value's form, or ''."""


def any_form(value: Any, *args: Any) -> str:
    """Accept a value of any form."""
    return ""


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
    afterwards: str = ""

    def parts(self) -> tuple[Part, ...]:
        """Return the parts of a card that aren't empty."""
        values = {
            "Where in your cell": self.where,
            "Input": self.given,
            "Input afterwards": self.afterwards,
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


def by_cases(
    cases: Sequence[Case],
    mistakes: Sequence[Mistake] = (),
    *,
    any_iterable: bool = False,
    form: Form = any_form,
) -> Callable[[Any], NotYet | None]:
    """Build a check that calls a function with each case's arguments, twice, on copies.

    With ``any_iterable`` an answer may return a list or any other sequence, or `yield`: what it
    gives is run to a list (of at most ``MOST`` elements) before it is compared. An equal value of a
    wrong ``form`` fails, too.
    """
    if any_iterable:
        mistakes = [replace(m, model=collected(m.model)) for m in mistakes]

    def diagnose(answer: Any) -> NotYet | None:
        if misuse := not_callable_so(answer, cases[0].args):
            return misuse
        import_for(answer)
        called = collected(answer) if any_iterable else answer
        failed = _judged_apart(called, cases, mistakes, form)
        if failed is None:
            return None
        if failed.case == 0 or failed.explained:
            return failed.found
        alone = _judged_apart(called, [cases[failed.case]], mistakes, form)
        if alone is None or not (failed.formed or alone.found.value == failed.found.value):
            return replace(failed.found, cause=LEFT_BEHIND)
        return failed.found

    return diagnose


@dataclass(frozen=True)
class _Failed:
    """A case that failed, by its place, and what is wrong there.

    It is explained where nothing that an earlier case left behind can be the cause. Where a value's
    form is wrong, only that an answer passes alone shows that: values with an address differ.
    """

    case: int
    found: NotYet
    explained: bool = True
    formed: bool = False


def _judged_apart(
    answer: Any, cases: Sequence[Case], mistakes: Sequence[Mistake], form: Form
) -> _Failed | None:
    """Judge in a process of its own, where the answer finds all as it was, and can do no harm."""

    def work(say: Say) -> dict[str, Any] | None:
        failed = _judged(answer, cases, mistakes, form, say)
        return asdict(failed) if failed else None

    ended = apart(work)
    case = cases[min(ended.at, len(cases) - 1)]
    if ended.hung:
        return _Failed(ended.at, _not_yet(answer, case, Attempt(timed_out=True), ""))
    if ended.died:
        cause = f"It ends the whole process that runs it ({ended.died}). Return a value instead."
        return _Failed(ended.at, NotYet(cause, given=arguments(answer, case.args)))
    if ended.result is None:
        return None
    return _Failed(**{**ended.result, "found": NotYet(**ended.result["found"])})


def _judged(
    answer: Any, cases: Sequence[Case], mistakes: Sequence[Mistake], form: Form, say: Say
) -> _Failed | None:
    began, attempts = time.monotonic(), list[Attempt]()
    classes = Classes(tuple(case.args for case in cases))
    for number, case in enumerate(cases):
        say(number)
        slow = time.monotonic() - began > WHOLE_SECONDS
        if slow and not all(map(_passes, cases, attempts)):  # what is wrong shows already
            break
        late = Attempt(timed_out=True)
        attempts.append(late if slow else attempt_twice(answer, case.args, classes))
        if attempts[-1].too_much:
            break
    judged = list(zip(cases, attempts, strict=False))
    formed = [_wrong_form(form, c, a) for c, a in judged]
    failed = [n for n, (c, a) in enumerate(judged) if formed[n] or not _passes(c, a)]
    if not failed:
        return None
    say(failed[0])
    if attempts[-1].timed_out:
        return _Failed(failed[-1], _not_yet(answer, *judged[-1], ""))
    for number in failed:
        if _right_at_first(*judged[number]):
            return _Failed(number, _not_yet(answer, *judged[number], ""))
    inputs, results = [c.args for c, _ in judged], [a.result for a in attempts]
    if mistake := find_mistake(mistakes, inputs, results):
        shown = next((n for n in failed if mistake.shows(*cases[n].args)), failed[0])
        return _Failed(shown, _not_yet(answer, *judged[shown], mistake.cause))
    none, bad_form = _always_none(answer, judged), formed[failed[0]]
    found = _not_yet(answer, *judged[failed[0]], none or bad_form)
    return _Failed(failed[0], found, explained=bool(none), formed=bool(bad_form))


def _right_at_first(case: Case, tried: Attempt) -> bool:
    """Return True if only the second call went wrong, which no idea with other values explains."""
    return tried.unsteady and same(tried.value, case.expected)


def _wrong_form(form: Form, case: Case, tried: Attempt) -> str:
    """Return what is wrong with the form of a value, or ''; a None has causes of its own."""
    if tried.too_much or tried.error is not None or tried.value is None:
        return ""
    return guarded(form, tried.value, *case.args).value or ""


def _always_none(answer: Any, judged: Sequence[tuple[Case, Attempt]]) -> str:
    """Return the cause of an answer that always gives None and prints nothing, or ''."""
    always = all(a.error is None and a.value is None for _, a in judged)
    (case, first) = judged[0]
    return cause_of_none(answer, case.args, NO_RETURN) if always and not first.printed else ""


def not_callable_so(answer: Any, args: tuple[Any, ...]) -> NotYet | None:
    """Check that the answer can be called with these arguments; return what is wrong if not."""
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


def _not_yet(answer: Any, case: Case, tried: Attempt, known: str) -> NotYet:
    right = same(tried.value, case.expected)
    if tried.changed_input and right:
        return _right_but_changed(answer, case, tried)
    usual = usual_cause(tried)
    if usual and not known and is_plain_none(tried):
        usual = cause_of_none(answer, case.args, usual) or f"{MEANT_NONE} {case.cause}"
    cause = known or usual or other_type(tried.value, case.expected) or case.cause
    return NotYet(
        cause,
        given=arguments(answer, case.args),
        value=tried.shown,
        expected=show(case.expected),
        printed=tried.printed,
        where=place(tried.error, answer),
    )


def _right_but_changed(answer: Any, case: Case, tried: Attempt) -> NotYet:
    """Report that only the input was changed, by showing it before and after."""
    return NotYet(
        "The value is right here, but it changes the input it was given. Build a new value and "
        "leave the input alone.",
        given=arguments(answer, case.args),
        afterwards=arguments(answer, tried.afterwards),
        printed=tried.printed,
    )


def _passes(case: Case, tried: Attempt) -> bool:
    fine = tried.error is None and not tried.changed_input and not tried.unsteady
    if not fine or tried.timed_out or tried.changed_class:
        return False
    return same(tried.value, case.expected) and not other_numbers(tried.value, case.expected)

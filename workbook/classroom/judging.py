"""Judges answers: compares them case by case, and names the likely cause."""

import copy
import dis
import inspect
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

from workbook.classroom.causes import (
    LEFT_BEHIND,
    NO_RETURN,
    PRINTS,
    Attempt,
    alike,
    attempt,
    attempt_twice,
    by_part,
    forms_of,
    other_type,
    same,
    usual_cause,
)
from workbook.classroom.render import Part, Rows, arguments, place, show, show_both
from workbook.classroom.sandbox import Say, sandbox

WHOLE_SECONDS = 5.0
"""Seconds after which no further case is tried; the next one counts as endless."""

NO_YIELD = "`yield` each value by itself, as soon as it's complete, in place of "


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


@dataclass(frozen=True)
class Mistake:
    """A wrong answer, as a model of all that give the same in every case, and the cause to name."""

    model: Callable[..., Any]
    cause: str


@dataclass(frozen=True)
class _Failed:
    """A case that failed, by its place, and what is wrong there.

    It is ``explained`` if nothing that an earlier case left behind can be the cause.
    """

    case: int
    found: NotYet
    explained: bool = True


@dataclass(frozen=True)
class _Exam:
    """What an answer is judged by.

    It ``yields`` where the task asks for one value after the other. ``notices`` gets a wrong value
    and the expected one, and returns a cause that no case and no mistake knows, or ''.
    """

    cases: Sequence[Case]
    mistakes: Sequence[Mistake]
    yields: bool = False
    notices: Callable[[Any, Any], str] = lambda value, expected: ""


def by_cases(
    cases: Sequence[Case], mistakes: Sequence[Mistake] = (), **words: Any
) -> Callable[[Any], NotYet | None]:
    """Build a check that calls a function with each case's arguments, twice, on copies.

    ``words`` are what ``yields`` and ``notices`` are in an ``_Exam``.
    """
    exam = _Exam(cases, mistakes, **words)

    def diagnose(answer: Any) -> NotYet | None:
        if misuse := not_callable_so(answer, cases[0].args):
            return misuse
        _import_all_of(answer)
        failed = _in_sandbox(answer, exam)
        if failed is None:
            return None
        if failed.case > 0 and not failed.explained:
            alone = _in_sandbox(answer, replace(exam, cases=[cases[failed.case]]))
            if alone is None or alone.found.value != failed.found.value:
                return replace(failed.found, cause=LEFT_BEHIND)
        return failed.found

    return diagnose


def _in_sandbox(answer: Any, exam: _Exam) -> _Failed | None:
    """Judge an answer in a process of its own, where it finds all as it was and does no harm."""

    def work(say: Say) -> dict[str, Any] | None:
        failed = _judged(answer, exam, say)
        return asdict(failed) if failed else None

    ended = sandbox(work)
    case = exam.cases[min(ended.at, len(exam.cases) - 1)]
    if ended.hung:
        return _Failed(ended.at, _not_yet(exam, answer, case, Attempt(timed_out=True)))
    if ended.died:
        cause = f"It ends the whole process that runs it ({ended.died}). Return a value instead."
        return _Failed(ended.at, NotYet(cause, given=arguments(answer, case.args)))
    if ended.result is None:
        return None
    return _Failed(**{**ended.result, "found": NotYet(**ended.result["found"])})


def _judged(answer: Any, exam: _Exam, say: Say) -> _Failed | None:
    attempts = _attempts(answer, exam.cases, say)
    judged = list(zip(exam.cases, attempts, strict=False))
    failed = [number for number, (case, tried) in enumerate(judged) if not _passes(case, tried)]
    if not failed:
        return None
    say(failed[0])
    if attempts[-1].timed_out:
        return _Failed(failed[-1], _not_yet(exam, answer, *judged[-1]))
    for number in failed:
        case, tried = judged[number]
        if tried.second and same(tried.value, case.expected):  # right at first: no idea is that
            return _Failed(number, _not_yet(exam, answer, case, tried))
    cause = next((m.cause for m in exam.mistakes if _gives_the_same(m, judged)), "")
    silent = all(a.error is None and a.value is None and not a.printed for a in attempts)
    if not cause and silent and all(case.expected is not None for case in exam.cases):
        cause = NO_RETURN
    return _Failed(failed[0], _not_yet(exam, answer, *judged[failed[0]], cause), explained=False)


def _attempts(answer: Any, cases: Sequence[Case], say: Say) -> list[Attempt]:
    """Call an answer with one case after the other, up to the first that is too much."""
    began, attempts = time.monotonic(), list[Attempt]()
    for number, case in enumerate(cases):
        say(number)
        slow = time.monotonic() - began > WHOLE_SECONDS
        if slow and not all(map(_passes, cases, attempts)):  # what is wrong shows already
            break
        attempts.append(Attempt(timed_out=True) if slow else attempt_twice(answer, case.args))
        if attempts[-1].too_much:
            break
    return attempts


def _gives_the_same(mistake: Mistake, judged: Sequence[tuple[Case, Attempt]]) -> bool:
    return all(
        alike(attempt(mistake.model, *copy.deepcopy(case.args)).result, tried.result)
        for case, tried in judged
    )


def _import_all_of(answer: Any) -> None:
    """Import what an answer imports, so that a slow package is no endless loop."""
    with suppress(Exception, SystemExit):  # the call itself will tell
        for step in dis.get_instructions(inspect.unwrap(answer)):
            if step.opname == "IMPORT_NAME":
                __import__(step.argval)


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


def _not_yet(exam: _Exam, answer: Any, case: Case, tried: Attempt, known: str = "") -> NotYet:
    cause = known or usual_cause(tried)
    if exam.yields and cause in (PRINTS, NO_RETURN):
        cause = NO_YIELD + ("`print`." if tried.printed else "one `return` or none.")
    if tried.error is not None and not known:
        cause = f"{cause} {case.cause}"
    if tried.afterwards is not None and same(tried.value, case.expected):
        cause = (
            "The value is right here, but it changes the input it was given. Build a new value and "
            "leave the input alone."
        )
    if not cause and tried.value is None:
        cause = f"It returns None for this input. {case.cause}"
    plain = tried.error is None and not tried.timed_out and not tried.second
    value, expected = (
        show_both(tried.value, case.expected) if plain else (tried.shown, show(case.expected))
    )
    kinds = [type(each.expected) for each in exam.cases]
    return NotYet(
        cause
        or exam.notices(tried.value, case.expected)
        or other_type(tried.value, case.expected, kinds)
        or by_part(tried.value, case.expected, case.cause),
        given=arguments(answer, case.args),
        value=value,
        expected=expected,
        printed=tried.printed,
        where=place(tried.error, answer),
        afterwards=arguments(answer, tried.afterwards) if tried.afterwards is not None else "",
    )


def _passes(case: Case, tried: Attempt) -> bool:
    if tried.error is not None or tried.timed_out or tried.second or tried.afterwards is not None:
        return False
    return same(tried.value, case.expected) and not forms_of(tried.value, case.expected)

"""Calls a learner's pair of functions, and keeps which of the two raised, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.classroom.mistakes import Mistake
from workbook.classroom.showing import error_line, place, show, type_name

Answer = Callable[[], Any]
Drive = Callable[[Answer], Callable[..., Any]]


@dataclass(frozen=True)
class Raised:
    """What a function of the pair raised, in which line of the learner's, handed what."""

    function: str
    error: str
    where: str
    handed: str

    def __repr__(self) -> str:
        return f"{self.function} raised {self.error}"

    def in_words(self) -> str:
        """Return it as the cause of a failure."""
        line, _, text = self.where.partition(": ")
        at = f", in {line} of your cell: `{text}`" if text else ""
        return f"`{self.function}` raised {self.error}{at}. It was handed {self.handed}"


@dataclass(frozen=True)
class NotBytes:
    """What ``serialise`` gave in place of bytes."""

    value: Any

    def __repr__(self) -> str:
        return f"serialise gave {show(self.value)}, of type {type_name(self.value)}"

    def in_words(self) -> str:
        """Return it as the cause of a failure."""
        if self.value is None:
            return "`serialise` returns None. Give the bytes back with `return`."
        if isinstance(self.value, str):
            return "`serialise` gives text. Kafka and Spark keep bytes: `encode()` makes them."
        return f"`serialise` gives a value of type {type_name(self.value)}. It must be `bytes`."


class Broke(Exception):
    """A function of the pair has raised, or given something that the other one can't be handed."""

    def __init__(self, what: Raised | NotBytes) -> None:
        super().__init__(repr(what))
        self.what = what


class Pair:
    """The two functions that an answer returns when it's called once more.

    Where one of them raises, so does its method: ``Broke``.
    """

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._functions = answer()

    def serialise(self, details: Any) -> bytes:
        """Return the bytes that the first function gives."""
        data = self._call(0, "serialise", details)
        if not isinstance(data, bytes):
            raise Broke(NotBytes(data))
        return data

    def deserialise(self, data: bytes) -> Any:
        """Return what the second function gives."""
        return self._call(1, "deserialise", data)

    def _call(self, number: int, name: str, handed: Any) -> Any:
        try:
            return self._functions[number](handed)
        except MemoryError:  # has a cause of its own
            raise
        except Exception as error:
            where = place(error, self._answer)
            raise Broke(Raised(name, error_line(error), where, _in_short(handed))) from error


def _in_short(handed: Any) -> str:
    if not isinstance(handed, bytes):
        return "the details below."
    more = f" … ({len(handed)} bytes)" if len(handed) > _MOST_BYTES else ""
    return f"`{handed[:_MOST_BYTES]!r}`{more}."


_MOST_BYTES = 60


def judge(
    cases: Sequence[Case],
    drive: Drive,
    mistakes: Sequence[Mistake] = (),
    *,
    says: Mapping[str, str] | None = None,
    before: str = "",
) -> Callable[[Any], NotYet | None]:
    """Build a check of what a drive makes of an answer's pair.

    ``says`` has the causes of values, and ``before`` begins the cause of a function that raised.
    """

    def form(value: Any, *args: Any) -> str:
        if isinstance(value, (Raised, NotBytes)):
            return before + value.in_words()
        return (says or {}).get(value, "") if isinstance(value, str) else ""

    driven = [replace(mistake, model=_caught(drive, mistake.model)) for mistake in mistakes]
    check = by_cases(cases, driven, form=form)
    return lambda answer: check(_caught(drive, answer))


def _caught(drive: Drive, answer: Answer) -> Callable[..., Any]:
    driven = drive(answer)

    @wraps(driven)
    def call(*args: Any) -> Any:
        try:
            return driven(*args)
        except Broke as broke:
            return broke.what

    return call

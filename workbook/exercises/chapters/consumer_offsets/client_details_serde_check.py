"""Checks a pair of functions that write and read client details, as the pipeline uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbook.events.client_details import ClientDetails
from workbook.exercises.chapters.consumer_offsets.client_details_serde_mistakes import (
    INVENTING,
    MISTAKES,
)
from workbook.exercises.engine.apart import apart
from workbook.exercises.engine.calls import attempt
from workbook.exercises.engine.imports import import_for
from workbook.exercises.engine.judging import Case, NotYet, by_cases, not_callable_so
from workbook.exercises.engine.mistakes import Mistake
from workbook.exercises.engine.showing import show, type_name

Answer = Callable[[], Any]
Drive = Callable[[Answer], Callable[..., Any]]

RAISES = "raises an error"

_GARBAGE = (b"", b"\x00", b"\xff\xfe\x00\x01", b"{}", b"[]", b"null", b"1", b'{"name": "shop"}')


def check_serde(cases: Sequence[Case], drawn: Sequence[Case]) -> Callable[[Any], NotYet | None]:
    """Build the check of a function that returns ``serialise`` and ``deserialise``."""
    rich, other = cases[0].args[0], cases[2].args[0]
    steps = (
        _judge([*cases, *drawn], _there_and_back, MISTAKES, form=_bytes),
        lambda answer: _elsewhere(answer, rich),
        _judge([Case((rich, other), [rich, other], _MIXED_UP)], _two_at_once),
        _judge([Case((rich,), "the same bytes", _OTHER_BYTES)], _twice),
        _judge([Case((data,), RAISES, _INVENTS) for data in _GARBAGE], _refuses, INVENTING),
        _judge([Case((rich, cut), RAISES, _CUT) for cut in (1, 2, 40)], _refuses_a_part),
    )

    def diagnose(answer: Any) -> NotYet | None:
        if misuse := not_callable_so(answer, ()):
            return misuse
        import_for(answer)
        if no_pair := _no_pair(answer):
            return no_pair
        return next((found for step in steps if (found := step(answer))), None)

    return diagnose


_MIXED_UP = (
    "Two groups were written, and then both read: they're mixed up. All of a group must stand in "
    "its bytes."
)
_OTHER_BYTES = (
    "The same details give other bytes the second time. A time, a random number or the place of an "
    "object in memory is part of them."
)
_INVENTS = (
    "These bytes are no client details, and it makes something of them. Let it raise an error: "
    "nobody misses a group that was invented."
)
_CUT = (
    "The end of the bytes was cut off, and it makes something of what is left. Let it raise an "
    "error, for instance by writing down how long it all is."
)
_ELSEWHERE = (
    "The bytes were written in one process, and can't be read in another: something that isn't in "
    "them is kept in memory. On Spark the two never run in the same process."
)


def _judge(
    cases: Sequence[Case], drive: Drive, mistakes: Sequence[Mistake] = (), **form: Any
) -> Callable[[Any], NotYet | None]:
    driven = [replace(mistake, model=drive(mistake.model)) for mistake in mistakes]
    check = by_cases(cases, driven, **form)
    return lambda answer: check(drive(answer))


def _no_pair(answer: Answer) -> NotYet | None:
    tried = attempt(answer)
    pair = tried.value
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(map(callable, pair)):
        return NotYet(
            "Called without arguments it must return the two functions: "
            "`return serialise, deserialise`, without parentheses behind them.",
            value=tried.shown,
        )
    if str(getattr(pair[0], "__name__", "")).startswith("deserial"):
        return NotYet("The two have changed places: `serialise` is the first one.")
    return None


@dataclass(frozen=True)
class NotBytes:
    """What ``serialise`` gave in place of bytes."""

    value: Any

    def __repr__(self) -> str:
        return f"serialise gave {show(self.value)}, of type {type_name(self.value)}"


def _there_and_back(answer: Answer) -> Callable[[ClientDetails], Any]:
    """Serialise by one pair and deserialise by another, as two processes do."""

    def drive(details: ClientDetails) -> Any:
        data = answer()[0](details)
        return answer()[1](data) if isinstance(data, bytes) else NotBytes(data)

    return drive


def _bytes(value: Any, details: ClientDetails) -> str:
    if not isinstance(value, NotBytes):
        return ""
    if value.value is None:
        return "`serialise` returns None. Give the bytes back with `return`."
    if isinstance(value.value, str):
        return "`serialise` gives text. Kafka and Spark keep bytes: `encode()` makes them."
    return f"`serialise` gives a value of type {type_name(value.value)}. It must be `bytes`."


def _two_at_once(answer: Answer) -> Callable[[ClientDetails, ClientDetails], Any]:
    def drive(one: ClientDetails, other: ClientDetails) -> Any:
        written = [answer()[0](details) for details in (one, other)]
        return [answer()[1](data) for data in written]

    return drive


def _twice(answer: Answer) -> Callable[[ClientDetails], str]:
    def drive(details: ClientDetails) -> str:
        one, other = (answer()[0](details) for _ in range(2))
        return "the same bytes" if one == other else "other bytes"

    return drive


def _refuses(answer: Answer) -> Callable[[bytes], str]:
    def drive(data: bytes) -> str:
        try:
            found = answer()[1](data)
        except Exception:
            return RAISES
        return f"returns {show(found)}"

    return drive


def _refuses_a_part(answer: Answer) -> Callable[[ClientDetails, int], str]:
    """Cut so many bytes off the end, or half of them where there aren't as many."""

    def drive(details: ClientDetails, cut: int) -> str:
        data = answer()[0](details)
        return _refuses(answer)(data[: max(len(data) - cut, len(data) // 2)])

    return drive


def _elsewhere(answer: Answer, details: ClientDetails) -> NotYet | None:
    written = apart(lambda say: {"data": answer()[0](details).hex()}).result
    if written is None:
        return NotYet("`serialise` doesn't come to an end, or ends the process that runs it.")
    data = bytes.fromhex(written["data"])
    found = by_cases([Case((data,), details, _ELSEWHERE)])(lambda data: answer()[1](data))
    return found and replace(found, cause=_ELSEWHERE)

"""Checks a pair of functions that write and read client details, as the pipeline uses them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbook.classroom.calls import attempt, same
from workbook.classroom.imports import import_for
from workbook.classroom.judging import Case, NotYet, not_callable_so
from workbook.classroom.showing import error_line, place, show
from workbook.events.client_details import ClientDetails
from workbook.lessons.consumer_offsets.client_details_serde_bytes import (
    ELSEWHERE,
    read_elsewhere,
    runs_no_code,
    same_bytes,
    written_elsewhere,
)
from workbook.lessons.consumer_offsets.client_details_serde_mistakes import (
    INVENTING,
    MISTAKES,
)
from workbook.lessons.consumer_offsets.client_details_serde_pair import (
    Answer,
    Broke,
    Pair,
    judge,
)

RAISES = "raises an error"
_WRITER_ONLY = "only the pair that wrote the bytes can read them"

_GARBAGE = (b"", b"\x00", b"\xff\xfe\x00\x01", b"{}", b"[]", b"null", b"1", b'{"name": "shop"}')


def check_serde(cases: Sequence[Case], drawn: Sequence[Case]) -> Callable[[Any], NotYet | None]:
    """Build the check of a function that returns ``serialise`` and ``deserialise``."""
    rich, other = cases[0].args[0], cases[2].args[0]
    steps = (
        judge([*cases, *drawn], _there_and_back, MISTAKES, says={_WRITER_ONLY: ELSEWHERE}),
        read_elsewhere(rich),
        judge([Case((rich, other), [rich, other], _MIXED_UP)], _two_at_once),
        runs_no_code(),
        same_bytes(rich, other),
        written_elsewhere(rich),
        judge([Case((data,), RAISES, _INVENTS) for data in _GARBAGE], _refuses, INVENTING),
        judge([Case((rich, cut), RAISES, _CUT) for cut in (1, 2, 40)], _refuses_a_part),
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
_INVENTS = (
    "These bytes are no client details, and it makes something of them. Let it raise an error: "
    "nobody misses a group that was invented."
)
_CUT = (
    "The end of the bytes was cut off, and it makes something of what is left. Let it raise an "
    "error, for instance by writing down how long it all is."
)
_NO_PAIR = (
    "Called without arguments it must return the two functions: `return serialise, deserialise`, "
    "without parentheses behind them."
)


def _no_pair(answer: Answer) -> NotYet | None:
    tried = attempt(answer)
    pair = tried.value
    if tried.error is not None:
        cause = f"Called without arguments it raised {error_line(tried.error)}. {_RETURN}"
        return NotYet(cause, where=place(tried.error, answer))
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not all(map(callable, pair)):
        return NotYet(_NO_PAIR, value=tried.shown)
    if str(getattr(pair[0], "__name__", "")).startswith("deserial"):
        return NotYet("The two have changed places: `serialise` is the first one.")
    return None


_RETURN = "It only has to define the two functions and to return them."


def _there_and_back(answer: Answer) -> Callable[[ClientDetails], Any]:
    """Serialise by one pair and deserialise by another, as two processes do."""

    def drive(details: ClientDetails) -> Any:
        writer = Pair(answer)
        data = writer.serialise(details)
        try:
            return Pair(answer).deserialise(data)
        except Broke:
            if same(writer.deserialise(data), details):
                return _WRITER_ONLY
            raise

    return drive


def _two_at_once(answer: Answer) -> Callable[[ClientDetails, ClientDetails], Any]:
    def drive(one: ClientDetails, other: ClientDetails) -> Any:
        written = [Pair(answer).serialise(details) for details in (one, other)]
        return [Pair(answer).deserialise(data) for data in written]

    return drive


def _refuses(answer: Answer) -> Callable[[bytes], str]:
    def drive(data: bytes) -> str:
        try:
            return f"returns {show(Pair(answer).deserialise(data))}"
        except Broke:
            return RAISES

    return drive


def _refuses_a_part(answer: Answer) -> Callable[[ClientDetails, int], str]:
    """Cut so many bytes off the end, or half of them where there aren't as many."""

    def drive(details: ClientDetails, cut: int) -> str:
        data = Pair(answer).serialise(details)
        return _refuses(answer)(data[: max(len(data) - cut, len(data) // 2)])

    return drive

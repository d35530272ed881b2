"""Checks a pair's bytes: the same at any time and in any process, and nothing but data."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from workbook.classroom.apart import Say, apart
from workbook.classroom.judging import Case, NotYet
from workbook.events.client_details import ClientDetails, from_json, to_json
from workbook.lessons.consumer_offsets.client_details_serde_elsewhere import (
    EXPRESSION,
    PICKLED,
    Bomb,
    later,
    other_hashes,
    went_off,
)
from workbook.lessons.consumer_offsets.client_details_serde_pair import (
    Answer,
    Broke,
    Pair,
    judge,
)

Check = Callable[[Any], NotYet | None]

_SAME, _OTHER, _OTHER_GZIP = "the same bytes", "other bytes", "other bytes, behind gzip's header"
_READ, _RAN = "reads them, or raises an error", "runs the code"

_STORE = (
    "Whoever can write to the store's topic would run code in every process that reads the store."
)
_PICKLE = (
    "`deserialise` does what the bytes ask for: bytes like these name a function, and `pickle` "
    f"calls it. {_STORE} Nor do such bytes last: once a class has moved to another module, nothing "
    "reads them. Write data alone, and build the classes yourself."
)
_EVAL = (
    "`deserialise` runs the bytes as Python's text: these call a function, and it was called. "
    f"{_STORE} `json.loads` and `ast.literal_eval` read data, and run nothing."
)
_AGAIN = (
    "The same details give other bytes the second time. A random number or a counter is part of "
    "them."
)
_AFTER_ANOTHER = (
    "The same details give other bytes once another group was written: something is kept from "
    "call to call. All of the bytes must come from the details."
)
_OF_EQUALS = (
    "Equal details give other bytes if they're other objects. `id` is the place of an object in "
    "memory; `pickle` and `marshal` write whether two texts are the same object. A store that "
    "compares bytes takes that for a change."
)
_LATER = (
    "The same details give other bytes later on: the time of writing is part of them. A store that "
    "compares bytes takes that for a change."
)
_GZIP = (
    "The same details give other bytes later on: `gzip` writes the time into its header. With "
    "`mtime=0` it doesn't, and `zlib.compress` has none."
)
ELSEWHERE = (
    "The bytes were written in one process, and can't be read in another: something that isn't in "
    "them is kept in memory, or differs (a `hash` of a text does). On Spark the two never run in "
    "the same process."
)
_IN_ANOTHER = (
    "The same details give other bytes in another process. The number of a process is part of "
    "them, or a `hash`: of a text it's another number in each process."
)


def runs_no_code() -> Check:
    """Build the check that reads bytes which ask for code to be run."""

    def goes_off(answer: Answer) -> Callable[[bytes], str]:
        def drive(data: bytes) -> str:
            went_off.clear()
            with suppress(Broke):
                Pair(answer).deserialise(data)
            with suppress(Broke):  # `pickle` inside something else, as in `zlib.compress`
                Pair(answer).deserialise(Pair(answer).serialise(Bomb()))
            return _RAN if went_off else _READ

        return drive

    return judge([Case((PICKLED,), _READ, _PICKLE), Case((EXPRESSION,), _READ, _EVAL)], goes_off)


def same_bytes(details: ClientDetails, other: ClientDetails) -> Check:
    """Build the check that writes the same details once more, in several ways."""

    def again(answer: Answer, details: ClientDetails) -> bytes:
        pair = Pair(answer)
        pair.serialise(details)
        return pair.serialise(details)

    def after_another(answer: Answer, details: ClientDetails) -> bytes:
        pair = Pair(answer)
        pair.serialise(msgspec.structs.replace(other, group="another"))
        return pair.serialise(details)

    def of_equals(answer: Answer, details: ClientDetails) -> bytes:
        return Pair(answer).serialise(from_json(to_json(details)))

    def later_on(answer: Answer, details: ClientDetails) -> bytes:
        with later(answer):
            return Pair(answer).serialise(details)

    ways: dict[str, tuple[Callable[[Answer, ClientDetails], bytes], str]] = {
        "a second time": (again, _AGAIN),
        "after another group": (after_another, _AFTER_ANOTHER),
        "equal ones, of other objects": (of_equals, _OF_EQUALS),
        "a year later": (later_on, _LATER),
    }

    def drive(answer: Answer) -> Callable[[ClientDetails, str], str]:
        def written(details: ClientDetails, way: str) -> str:
            first = Pair(answer).serialise(details)
            if first == ways[way][0](answer, details):
                return _SAME
            return _OTHER_GZIP if first.startswith(b"\x1f\x8b") else _OTHER

        return written

    cases = [Case((details, way), _SAME, cause) for way, (_, cause) in ways.items()]
    return judge(cases, drive, says={_OTHER_GZIP: _GZIP})


def read_elsewhere(details: ClientDetails) -> Check:
    """Build the check that reads in one process what was written in another."""

    def drive(answer: Answer) -> Callable[[bytes], Any]:
        return lambda data: Pair(answer).deserialise(data)

    def check(answer: Answer, data: bytes) -> NotYet | None:
        case = Case((data,), details, ELSEWHERE)
        return judge([case], drive, before=f"{ELSEWHERE} ")(answer)

    return _of_another_process(details, check)


def written_elsewhere(details: ClientDetails) -> Check:
    """Build the check that compares bytes of two processes."""

    def drive(answer: Answer) -> Callable[[ClientDetails, bytes], str]:
        return lambda details, written: (
            _SAME if Pair(answer).serialise(details) == written else _OTHER
        )

    def check(answer: Answer, data: bytes) -> NotYet | None:
        return judge([Case((details, data), _SAME, _IN_ANOTHER)], drive)(answer)

    return _of_another_process(details, check)


def _of_another_process(
    details: ClientDetails, check: Callable[[Answer, bytes], NotYet | None]
) -> Check:
    """Build a check that is handed the bytes which an answer has written in another process."""

    def diagnose(answer: Any) -> NotYet | None:
        def write(say: Say) -> dict[str, str]:
            with other_hashes(answer):
                try:
                    return {"data": Pair(answer).serialise(details).hex()}
                except Broke as broke:
                    return {"broke": broke.what.in_words()}

        written = apart(write).result
        if written is None:
            return NotYet("`serialise` doesn't come to an end, or ends the process that runs it.")
        if "broke" in written:
            return NotYet(f"In another process: {written['broke']}")
        return check(answer, bytes.fromhex(written["data"]))

    return diagnose

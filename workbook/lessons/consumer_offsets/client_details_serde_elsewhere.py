"""Puts an answer into another hour and another process, and has bytes that ask for code."""

from __future__ import annotations

import datetime
import inspect
import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

AHEAD = datetime.timedelta(days=400, hours=5, minutes=7, seconds=11)
"""How far the clock is moved: no part of a date or of a time stays as it was."""

went_off: list[str] = []
"""Filled where an answer has run bytes."""


def go_off() -> None:
    """Note that the code was run which bytes have asked for."""
    went_off.append("it ran")


class Bomb:
    """A value that calls ``go_off`` once ``pickle`` reads it."""

    def __reduce__(self) -> Any:
        return go_off, ()


PICKLED = pickle.dumps(Bomb())
"""The bytes of a ``Bomb``."""

EXPRESSION = f"__import__('sys').modules[{__name__!r}].go_off()".encode()
"""A call of ``go_off`` as Python's text."""


@contextmanager
def later(answer: Any) -> Iterator[None]:
    """Move the clock, for the libraries and for the names that an answer's cell has for it."""
    moved: dict[int, Any] = {id(getattr(time, name)): new for name, new in _moved().items()}
    moved[id(datetime.datetime)] = _Later
    with _exchanged(moved, vars(time), vars(datetime), _names_of(answer)):
        yield


@contextmanager
def other_hashes(answer: Any) -> Iterator[None]:
    """Let Python's `hash` give, in an answer's cell, what it may give in another process."""
    names, own = _names_of(answer), hash
    if "hash" in names:  # a function of the learner's
        yield
        return
    names["hash"] = lambda value: own(value) ^ (0 if isinstance(value, (int, float)) else 2**40)
    try:
        yield
    finally:
        del names["hash"]


def _names_of(answer: Any) -> dict[str, Any]:
    names: dict[str, Any] = getattr(inspect.unwrap(answer), "__globals__", {})
    return names


@contextmanager
def _exchanged(new: Mapping[int, Any], *places: dict[str, Any]) -> Iterator[None]:
    """Put other values in place of some, found by their identity, under all of their names."""
    before = [
        (names, name, value)
        for names in places
        for name, value in names.items()
        if id(value) in new
    ]
    for names, name, value in before:
        names[name] = new[id(value)]
    try:
        yield
    finally:
        for names, name, value in before:
            names[name] = value


def _moved() -> dict[str, Callable[..., Any]]:
    """Return the functions of ``time`` as they'll answer later on."""

    def ahead(of: Callable[[], Any], by: int) -> Callable[[], Any]:
        return lambda: of() + by

    def split(of: Callable[[float], Any]) -> Callable[..., Any]:
        return lambda seconds=None: of(now() if seconds is None else seconds)

    def written(of: Callable[..., Any], given: int) -> Callable[..., Any]:
        return lambda *args: of(*args) if len(args) > given else of(*args, local())

    seconds = int(AHEAD.total_seconds())
    now, local = ahead(time.time, seconds), split(time.localtime)
    clocks = ("time", "monotonic", "perf_counter")
    exact = [f"{name}_ns" for name in clocks]
    return {
        **{name: ahead(getattr(time, name), seconds) for name in clocks},
        **{name: ahead(getattr(time, name), seconds * 10**9) for name in exact},
        **{name: split(getattr(time, name)) for name in ("localtime", "gmtime", "ctime")},
        "asctime": written(time.asctime, 0),
        "strftime": written(time.strftime, 1),
    }


class _Later(datetime.datetime):
    """The class ``datetime`` later on; ``today`` asks ``time``."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> Any:
        return super().now(tz) + AHEAD

    @classmethod
    def utcnow(cls) -> Any:
        return super().utcnow() + AHEAD

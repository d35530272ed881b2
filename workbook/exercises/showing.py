"""Values, arguments and errors of an answer as short text for a card; nothing here raises."""

from __future__ import annotations

import functools
import inspect
import linecache
import pprint
import traceback
from collections.abc import Callable
from dataclasses import fields
from typing import Any

from workbook.events import Click

LONGEST = 2_000
"""How many characters of a value, or of what was printed, a card shows."""


class _Line:
    """A click on one line, in place of one that pprint would spread over six."""

    def __init__(self, click: Click) -> None:
        told = {f.name: getattr(click, f.name) for f in fields(click) if f.name != "browser"}
        told["click_type"] = str(click.click_type)
        self.text = ", ".join(f"{n}={v!r}" for n, v in told.items() if v is not None)

    def __repr__(self) -> str:
        return f"Click({self.text})"


def show(value: Any) -> str:
    """A value as text: each click on a line, cut where very long. A click's browser is left out."""
    text = in_full(value, _with_lines)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} … ({len(text):,} characters)"


def in_full(value: Any, prepare: Callable[[Any], Any] = lambda value: value) -> str:
    """A value as text with all that belongs to it."""
    try:
        return pprint.pformat(prepare(value), width=88, sort_dicts=False)
    except Exception:
        return f"<a {type(value).__name__} that cannot be shown>"


def arguments(answer: Any, args: tuple[Any, ...]) -> str:
    """The arguments, under the learner's own parameter names where they are known."""
    try:
        named = inspect.signature(answer).bind(*args).arguments
    except (TypeError, ValueError):
        return "\n".join(show(a) for a in args)
    return "\n".join(_hanging(f"{name} = ", show(a)) for name, a in named.items())


def error_line(error: BaseException | None) -> str:
    """An error's type and the first line of its message."""
    lines = str(error).strip().splitlines()
    return type(error).__name__ + (f": {lines[0]}" if lines else "")


def place(error: BaseException | None, answer: Any) -> str:
    """The line of the answer's own cell (or file) where an error came from, or ''.

    It is the innermost one there: what a library did further in is not the learner's to read.
    """
    own = _file(answer)
    if error is None or own is None:
        return ""
    frames = traceback.walk_tb(error.__traceback__)
    numbers = [line for frame, line in frames if frame.f_code.co_filename == own and line]
    if not numbers:
        return ""
    return f"line {numbers[-1]}: {linecache.getline(own, numbers[-1]).strip()}".removesuffix(": ")


def _file(answer: Any) -> str | None:
    """The file of a function; a notebook's cell has one of its own, known to ``linecache``."""
    function = inspect.unwrap(answer)
    while isinstance(function, functools.partial):
        function = function.func
    code = getattr(function, "__code__", None)
    return code.co_filename if code is not None else None


def _with_lines(value: Any) -> Any:
    if isinstance(value, Click):
        return _Line(value)
    if type(value) in (list, tuple):
        return type(value)(_with_lines(v) for v in value)
    if type(value) is dict:
        return {_with_lines(k): _with_lines(v) for k, v in value.items()}
    return value


def _hanging(label: str, text: str) -> str:
    return label + text.replace("\n", "\n" + " " * len(label))

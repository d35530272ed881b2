"""Finds where a call ended: at a `return` of the answer, or behind its last line."""

from __future__ import annotations

import ast
import inspect
import sys
import textwrap
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from workbook.classroom.guard import guarded


def returned_at(function: Callable[..., Any], args: tuple[Any, ...]) -> ast.Return | None:
    """Return the `return` by which a call left its function; None where it fell out at the end."""
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):
        return None
    last = _last_line(function, function.__code__, args)
    return next((r for r in _returns(function) if r.lineno <= last <= (r.end_lineno or 0)), None)


def _last_line(function: Callable[..., Any], code: CodeType, args: tuple[Any, ...]) -> int:
    """Return the line, counted from the function's first, in which a call ended; 0 if it didn't."""
    last = 0

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal last
        if frame.f_code is not code:
            return None
        if event == "return":
            last = frame.f_lineno - code.co_firstlineno + 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        guarded(function, *args)
    finally:
        sys.settrace(before)
    return last


def _returns(function: Callable[..., Any]) -> list[ast.Return]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # its text is not known, or is part of a line
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Return)]

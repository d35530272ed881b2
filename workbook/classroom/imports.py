"""Imports the modules an answer imports in its body before its calls, whose time is limited.

A first ``import pandas`` takes seconds on a busy machine. Without this a right answer would be
reported as one that doesn't come to an end.
"""

from __future__ import annotations

import dis
import importlib
import inspect
import io
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from types import CodeType
from typing import Any

from workbook.classroom.guard import guarded

IMPORT_SECONDS = 60.0
"""How long one import may take. What fails here is reported when the answer runs."""


def import_for(answer: Any) -> None:
    """Do the imports in the body of a function and of the functions that it names."""
    for name, wanted in dict.fromkeys(_imports(answer, set())):
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            guarded(importlib.__import__, name, None, None, wanted, seconds=IMPORT_SECONDS)


def _imports(function: Any, seen: set[CodeType]) -> Iterator[tuple[str, tuple[str, ...]]]:
    with suppress(ValueError):  # wrapped around itself
        function = inspect.unwrap(function)
    if not inspect.isfunction(function) or function.__code__ in seen:
        return
    for code in _all_codes(function.__code__):
        seen.add(code)
        yield from _imports_of(code)
        for name in code.co_names:
            yield from _imports(function.__globals__.get(name), seen)


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of the functions in it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _all_codes(inner)


def _imports_of(code: CodeType) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each module that is imported, and the names that are taken from it."""
    before: Any = None
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            yield step.argval, before if isinstance(before, tuple) else ()
        before = step.argval

"""Which function it is: by what it does, so that it is known again in another process."""

from __future__ import annotations

import dis
import hashlib
import inspect
import platform
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from types import CodeType, FunctionType
from typing import Any


def fingerprint(function: Callable[..., Any]) -> str:
    """Its name, and a hash of its code and of the values and functions that it uses.

    The same wherever it stands, in a module or in a cell; other for another Python, which is named.
    """
    digest = hashlib.sha256("\n".join(_parts(function, set())).encode()).hexdigest()[:10]
    python = ".".join(platform.python_version_tuple()[:2])
    return f"{getattr(function, '__name__', type(function).__name__)} {digest} (Python {python})"


def plain(value: Any) -> str:
    """A value as text that is the same in every process, also for a set."""
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(plain, value)))}}}"
    if isinstance(value, str | bytes | int | float | list | tuple | dict | None):
        return repr(value)
    return f"{type(value).__module__}.{type(value).__qualname__}"


def _parts(thing: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(thing, partial):
        yield from map(plain, (thing.args, thing.keywords))
        thing = thing.func
    thing = inspect.unwrap(getattr(thing, "__func__", thing))
    if not isinstance(thing, FunctionType):
        yield getattr(thing, "__qualname__", plain(thing))
    elif id(thing) not in seen:
        seen.add(id(thing))
        yield from _code(thing.__code__, thing.__doc__)
        yield plain(thing.__defaults__)
        for name, value in sorted(_used(thing).items()):
            yield name
            yield from _parts(value, seen) if callable(value) else [plain(value)]


def _used(function: FunctionType) -> dict[str, Any]:
    """What its names mean that it has not made itself: globals, and those of functions around."""
    names, around = _globals(function.__code__), function.__globals__
    found = {name: around[name] for name in names if name in around}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not given a value yet
            found[name] = cell.cell_contents
    return found


def _globals(code: CodeType) -> set[str]:
    found = {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}
    return found.union(*(_globals(c) for c in code.co_consts if isinstance(c, CodeType)))


def _code(code: CodeType, docstring: str | None) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant, None)
        elif docstring is None or constant != docstring:
            yield plain(constant)

"""Fingerprints a function by its behaviour, so that another process can recognise it.

Seen are the code of a function, with its constants, defaults (keyword-only ones too), attributes,
and what its names mean: globals, variables of functions around it, attributes of modules, what it
imports. So are both layers of a decorated function, the object of a bound method, what a callable
object or a ``partial`` holds, and a class with its bases, methods and values. Each of them is
followed to what it uses in turn. A value is seen as ``pickle`` sees it, at the moment of asking:
a global that changes meanwhile (a counter, a cache, random numbers) makes it another function.

Not seen are line numbers, file names, docstrings and the annotations of functions. A function or
class of the standard library or of ``site-packages`` is seen by its module and name alone, also in
another version; what a library made for somebody (a decorated function) is followed. Of what can't
be pickled (a lock, a file, a generator) the type alone is seen. Nothing is seen of what is reached
by text: ``getattr(module, name)``, ``globals()[name]``, ``eval``, ``importlib``, a file that is
read; and of a module that isn't used by its own name (in a list, say) its name alone.
"""

from __future__ import annotations

import copyreg
import dis
import hashlib
import inspect
import platform
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, NamedTuple

from workbook.errors import CannotFingerprint

_PLAIN = {str, bytes, int, float, complex, bool, type(None), type(...), type(NotImplemented)}
_MOST = 1_000_000
_LOADS = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}
_SHAPE = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
_STANDARD = {Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib")}
_INSTALLED = {"site-packages", "dist-packages"}
_UNSEEN = {  # attributes that say where something stands, or describe it
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__dataclass_fields__"),
    *("__annotations__", "__annotate_func__", "__annotations_cache__"),
    *("__firstlineno__", "__static_attributes__"),
}


def fingerprint(function: Callable[..., Any]) -> str:
    """Return a function's name and a hash of its code, and of the values and functions it uses.

    The same wherever it stands, in a module or in a cell; other for another Python, which is named.
    Raises ``CannotFingerprint`` where it uses more than a million objects, or a long circle.
    """
    python = ".".join(platform.python_version_tuple()[:2])
    name = getattr(function, "__name__", type(function).__name__)
    return f"{name} {_digest(function)} (Python {python})"


def plain(value: Any) -> str:
    """Format a value the same in every process: as written, or as its type and a hash."""
    if type(value) in _PLAIN:
        return repr(value)
    if type(value) is dict:
        pairs = sorted(f"{plain(key)}: {plain(each)}" for key, each in value.items())
        return f"{{{', '.join(pairs)}}}"
    if type(value) in (set, frozenset):
        return f"{type(value).__name__}({', '.join(sorted(map(plain, value)))})"
    if type(value) in (list, tuple):
        text = f"[{', '.join(map(plain, value))}]"
        return text if type(value) is list else f"tuple({text})"
    return f"{type(value).__qualname__} {_digest(value)}"


# --- one hash of many objects -----------------------------------------------------------------


class _Seen(NamedTuple):
    """The identity of an object and its contents; ``held`` is unordered where ``sort`` is set."""

    what: str
    held: list[Any]
    sort: bool = False


@dataclass(frozen=True)
class _Node:
    """An object among the others: the text of a plain value, or the id of an object, for each."""

    seen: _Seen
    held: list[str | int]

    def label(self, labels: Mapping[int, str]) -> str:
        held = [each if isinstance(each, str) else labels.get(each, "") for each in self.held]
        text = "\n".join([self.seen.what, *(sorted(held) if self.seen.sort else held)])
        return hashlib.sha256(text.encode()).hexdigest()


def _digest(thing: Any) -> str:
    """Hash a thing, whatever the ids of its objects and the order in which they are met."""
    nodes: dict[int, _Node] = {}
    alive, level, depth = [], [thing], 0
    while level:
        alive.append(level)  # or an id might be given again
        fresh = {id(each): each for each in level if id(each) not in nodes}
        nodes |= {key: _node(each) for key, each in fresh.items()}
        if len(nodes) > _MOST:
            raise _too_much(thing)
        held = [inner for key in fresh for inner in nodes[key].seen.held]
        level, depth = [inner for inner in held if _leaf(inner) is None], depth + 1
    labels, circle = _labels(nodes)
    if depth * len(circle) > 10 * _MOST:
        raise _too_much(thing)
    for _ in range(depth):  # as far as the thing itself can see
        labels |= {key: nodes[key].label(labels) for key in circle}
    return labels[id(thing)][:10]


def _too_much(thing: Any) -> CannotFingerprint:
    name = getattr(thing, "__name__", type(thing).__name__)
    return CannotFingerprint(
        f"Expected {name} to use at most {_MOST:,} objects, and no long circle of them, but it "
        "uses more, so whether it is the same at a restart cannot be said. Let it use less, for "
        "example a dictionary of plain values."
    )


def _node(thing: Any) -> _Node:
    seen = _inside(thing)
    return _Node(seen, [_leaf(each) or id(each) for each in seen.held])


def _labels(nodes: dict[int, _Node]) -> tuple[dict[int, str], list[int]]:
    """Return the nodes' hashes, from the bottom up, and the nodes without: they reach a circle."""
    labels: dict[int, str] = {}
    waiting, before = list(reversed(nodes)), 0
    while len(waiting) != before:
        before = len(waiting)
        left: list[int] = []
        for key in waiting:
            if all(isinstance(inner, str) or inner in labels for inner in nodes[key].held):
                labels[key] = nodes[key].label(labels)
            else:
                left.append(key)
        waiting = left
    return labels, waiting


def _leaf(value: Any) -> str | None:
    """Return the text of a plain value, or of a tuple of them; else None."""
    if type(value) in _PLAIN:
        # An integer of more than 4,300 digits has no other text.
        return f"{type(value).__name__} {hex(value) if type(value) is int else repr(value)}"
    if type(value) is tuple and all(type(each) in _PLAIN for each in value):
        return f"tuple {[_leaf(each) for each in value]}"
    return None


# --- what an object holds ---------------------------------------------------------------------


def _inside(thing: Any) -> _Seen:
    kind = type(thing)
    if kind in (list, tuple):
        return _Seen(kind.__name__, list(thing))
    if kind in (dict, MappingProxyType):
        return _Seen("dict", [pair for pair in thing.items() if pair[0] not in _UNSEEN], sort=True)
    if isinstance(thing, set | frozenset):  # whose pickled items are in the order of the hash seed
        more = [] if kind in (set, frozenset) else [(kind, getattr(thing, "__dict__", None))]
        return _Seen(kind.__name__, [*thing, *more], sort=True)
    if isinstance(thing, CodeType):
        return _Seen("code", list(_code(thing)))
    if isinstance(thing, FunctionType):
        return _function(thing)
    if isinstance(thing, type):
        return _class(thing)
    if isinstance(thing, ModuleType):
        return _Seen(f"module {thing.__name__}", [])
    return _object(thing)


def _object(thing: Any) -> _Seen:
    name = f"object {_name(type(thing))}"
    if isinstance(thing, MethodType):
        return _Seen(name, [thing.__func__, thing.__self__])
    if isinstance(thing, staticmethod | classmethod):
        return _Seen(name, [thing.__func__])
    if isinstance(thing, property):
        return _Seen(name, [thing.fget, thing.fset, thing.fdel])
    try:
        reduce = copyreg.dispatch_table.get(type(thing))
        state = reduce(thing) if reduce else thing.__reduce_ex__(4)
        if isinstance(state, str):  # one that is found by its name
            own = None if _is_known(thing) else getattr(thing, "__dict__", None)
            return _Seen(name, [_library(thing), state, own])
        make, args, more, items, pairs, setter = (*state, None, None, None, None)[:6]
        return _Seen(name, [make, args, more, list(items or ()), dict(pairs or ()), setter])
    except Exception:  # whatever an object raises that cannot be pickled
        return _Seen(f"unknown {name}", [])


def _class(kind: type) -> _Seen:
    if _library(kind):
        return _Seen(f"class {_name(kind)}", [])
    return _Seen(f"class {_name(kind)}", [type(kind), kind.__bases__, vars(kind)])


def _function(function: FunctionType) -> _Seen:
    if _is_known(function):
        return _Seen(f"function {_name(function)}", [])
    code, around = function.__code__, function.__globals__
    defaults = [function.__defaults__, function.__kwdefaults__, vars(function)]
    if _is_library(around.get("__name__"), around.get("__file__")):  # it has decorated something
        name = f"function {around['__name__']}.{code.co_qualname}"
        return _Seen(name, [*defaults, dict(_closure(function))])
    return _Seen("function", [*defaults, code, _used(function)])


# --- what a function uses ---------------------------------------------------------------------


def _code(code: CodeType) -> Iterator[Any]:
    """Yield the instructions with their constants; what isn't loaded, a docstring, is left out."""
    yield (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount)
    yield code.co_flags & _SHAPE
    yield from (code.co_names, code.co_varnames, code.co_cellvars, code.co_freevars)
    yield code.co_exceptiontable
    for step in dis.get_instructions(code):
        yield step.opname
        yield step.argval if step.opcode in dis.hasconst else step.arg


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function, and of those that are written in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _closure(function: FunctionType) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # not given a value yet
            yield name, cell.cell_contents


def _used(function: FunctionType) -> dict[str, Any]:
    """Return the outside values that a function's names mean; of modules, what it names."""
    codes = list(_codes(function.__code__))
    attributes = sorted({name for code in codes for name in code.co_names})
    todo = [found for code in codes for found in _global(code, function.__globals__)]
    todo.extend(_closure(function))
    used: dict[str, Any] = {}
    modules = set()
    while todo:
        path, value = todo.pop()
        used[path] = value
        if isinstance(value, ModuleType) and value not in modules:
            modules.add(value)
            inside = {} if _library(value) else vars(value)
            todo.extend((f"{path}.{name}", inside[name]) for name in attributes if name in inside)
    return used


def _global(code: CodeType, around: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    steps = list(dis.get_instructions(code))
    for at, step in enumerate(steps):
        if step.opname in _LOADS and step.argval in around:
            yield step.argval, around[step.argval]
        elif step.opname == "IMPORT_NAME":
            level, names = steps[at - 2].argval, steps[at - 1].argval
            with suppress(Exception):  # whatever a module raises: then the function will, too
                yield f"import {step.argval}", __import__(step.argval, around, None, names, level)


# --- whose it is ------------------------------------------------------------------------------


def _name(thing: Any) -> str:
    """Return the name of a class or function, with its module where that is a library."""
    module = _library(thing)
    return f"{module}.{thing.__qualname__}" if module else str(thing.__name__)


def _is_known(thing: Any) -> bool:
    """Return True if a thing is found in a library by its own name."""
    found: Any = sys.modules.get(_library(thing) or "")
    for name in getattr(thing, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is thing


def _library(thing: Any) -> str | None:
    """Return the library module that a thing is or belongs to; None for one's own."""
    is_module = isinstance(thing, ModuleType)
    name: str | None = thing.__name__ if is_module else getattr(thing, "__module__", None)
    module = thing if is_module else sys.modules.get(name or "")
    return name if _is_library(name, getattr(module, "__file__", None)) else None


def _is_library(module: str | None, file: str | None) -> bool:
    if module is None or module == "__main__":
        return False
    if not file:
        return module.partition(".")[0] in sys.stdlib_module_names
    path = Path(file)
    return not _INSTALLED.isdisjoint(path.parts) or not _STANDARD.isdisjoint(path.parents)

"""Calls answers under guard, and compares their values safely."""

from __future__ import annotations

import copy
import functools
import inspect
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import islice
from typing import Any

from workbook.classroom.bounds import MOST, Large, bounded, oversize, parts
from workbook.classroom.guard import LIMIT_SECONDS, guarded
from workbook.classroom.showing import LONGEST, error_line, in_full, show


@dataclass(frozen=True)
class Attempt:
    """The outcome of one call: a value or an error, its printed output, or that it was stopped.

    A value that is too large to work with is a ``Large``. ``afterwards`` are the arguments where
    the call has changed them, and ``changed_class`` is the name of a class that it has changed.
    ``second`` shows what the same call gave again, where that was something else.
    """

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    timed_out: bool = False
    changed_input: bool = False
    unsteady: bool = False
    afterwards: tuple[Any, ...] = ()
    changed_class: str = ""
    second: str = ""

    @property
    def result(self) -> Any:
        """Return the value, or the error if there is none."""
        return self.error if self.error is not None else self.value

    @property
    def shown(self) -> str:
        """Return the outcome as text for a card."""
        if self.timed_out:
            return "none in time"
        gave = f"raised {error_line(self.error)}" if self.error is not None else show(self.value)
        return f"{gave}\nand the second time {self.second}" if self.second else gave

    @property
    def too_much(self) -> bool:
        """Return True if it took too long or its value was too large: it isn't called again."""
        return self.timed_out or isinstance(self.value, (Endless, Large))


def attempt(function: Callable[..., Any], *args: Any, seconds: float = LIMIT_SECONDS) -> Attempt:
    """Call an answer: errors and prints are caught, and an endless loop is interrupted."""
    out = _Capped()
    with redirect_stdout(out):
        ended = guarded(function, *args, seconds=seconds)
    return Attempt(bounded(ended.value), ended.error, out.getvalue(), ended.timed_out)


def attempt_twice(
    answer: Callable[..., Any], args: tuple[Any, ...], classes: Classes | None = None
) -> Attempt:
    """Call with copies, and once more, to see whether input, classes or memory are touched."""
    mine, again = copy.deepcopy(args), copy.deepcopy(args)
    classes = classes or Classes(args)
    first = attempt(answer, *mine)
    changed = classes.restore()
    first = replace(first, value=_kept(first.value), changed_class=changed)
    if first.error is None and not same(mine, args):
        first = replace(first, changed_input=True, afterwards=mine)
    if inspect.iscoroutine(first.value):
        first.value.close()  # else Python warns later that it was never awaited
        return first
    if first.too_much or changed:
        return first
    second = attempt(answer, *again)
    classes.restore()
    unsteady = not alike(first.result, second.result)
    shown = second.shown if unsteady else ""
    return replace(first, timed_out=second.timed_out, unsteady=unsteady, second=shown)


@dataclass(frozen=True)
class Endless:
    """The first elements of an endless iterable."""

    first: list[Any]

    def __repr__(self) -> str:
        return f"[{', '.join(map(show, self.first[:3]))}, ... without end"


def collected(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to run its iterable to a list: for answers that may `yield` or not.

    A dictionary or a set stays as it is, because it isn't the sequence that was asked for.
    """

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        value = function(*args)
        if isinstance(value, (str, bytes, list, Mapping, set, frozenset)):
            return value
        if not isinstance(value, Iterable):
            return value
        taken = []
        for item in islice(value, MOST + 1):
            taken.append(item)
            if oversize(item):
                return taken
        return Endless(taken) if len(taken) > MOST else taken

    return call


class Classes:
    """Restores the classes of the arguments, should an answer change them."""

    def __init__(self, args: tuple[Any, ...]) -> None:
        self._before = {kind: _vars(kind) for kind in set(_classes(args))}

    def restore(self) -> str:
        """Undo what was changed; return the name of a class that was, or ''."""
        changed = [c for c, before in self._before.items() if not _is_as(_vars(c), before)]
        for kind in changed:
            for name in _vars(kind).keys() - self._before[kind].keys():
                type.__delattr__(kind, name)
            for name, value in self._before[kind].items():
                if vars(kind).get(name) is not value:
                    type.__setattr__(kind, name, value)
        return changed[0].__name__ if changed else ""


def _vars(kind: type) -> dict[str, Any]:
    """Return a class's attributes, without what Python adds when a value is copied."""
    return {name: value for name, value in vars(kind).items() if name != "__slotnames__"}


def _is_as(now: dict[str, Any], before: dict[str, Any]) -> bool:
    return now.keys() == before.keys() and all(now[name] is before[name] for name in before)


def _classes(value: Any) -> Iterator[type]:
    """Yield the classes of all that the arguments of a case hold, except Python's own."""
    for part in parts(value):
        yield from _classes(part)
    if is_dataclass(value):
        for field in fields(value):
            yield from _classes(getattr(value, field.name))
    if type(value).__module__ not in ("builtins", "collections"):
        yield type(value)


def _kept(value: Any) -> Any:
    """Copy a value where possible: the answer may keep what it returned, and change it."""
    made = guarded(copy.deepcopy, value)
    return value if made.error is not None or made.timed_out else made.value


def same(left: Any, right: Any) -> bool:
    """Return True if two values are equal; those that refuse to say (arrays, frames) are not."""
    return guarded(lambda: bool(left == right)).value is True


def alike(left: Any, right: Any) -> bool:
    """Return True if two values are equal or look equal; errors equal only themselves."""
    return same(left, right) or (type(left) is type(right) and in_full(left) == in_full(right))


class _Capped(io.StringIO):
    """Collects the printed output of an answer, and cuts that of an endless loop."""

    def write(self, text: str) -> int:
        if self.tell() < LONGEST:
            super().write(text[:LONGEST])
        return len(text)

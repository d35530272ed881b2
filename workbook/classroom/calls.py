"""Calls answers under guard, and compares their values safely."""

import copy
import io
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from typing import Any

from workbook.classroom.sandbox import LIMIT_SECONDS, Large, bounded, guarded
from workbook.classroom.showing import LONGEST, error_line, in_full, show


@dataclass(frozen=True)
class Attempt:
    """The outcome of one call: a value or an error, its printed output, or that it was stopped.

    A value that is too large to work with is a ``Large``. ``afterwards`` are the arguments if the
    call has changed them. ``second`` shows what the same call returned again, if that differs.
    """

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    timed_out: bool = False
    afterwards: tuple[Any, ...] | None = None
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
        return self.timed_out or isinstance(self.value, Large)


def attempt(function: Callable[..., Any], *args: Any, seconds: float = LIMIT_SECONDS) -> Attempt:
    """Call an answer: errors and prints are caught, and an endless loop is interrupted."""
    out = _Capped()
    with redirect_stdout(out):
        ended = guarded(function, *args, seconds=seconds)
    return Attempt(bounded(ended.value), ended.error, out.getvalue(), ended.timed_out)


def attempt_twice(answer: Callable[..., Any], args: tuple[Any, ...]) -> Attempt:
    """Call an answer with copies, twice, to see whether it changes its input or keeps anything."""
    mine, again = copy.deepcopy(args), copy.deepcopy(args)
    first = attempt(answer, *mine)
    first = replace(first, value=_kept(first.value))
    if first.error is None and not same(mine, args):
        first = replace(first, afterwards=mine)
    if first.too_much:
        return first
    second = attempt(answer, *again)
    shown = "" if alike(first.result, second.result) else second.shown
    return replace(first, timed_out=second.timed_out, second=shown)


def _kept(value: Any) -> Any:
    """Copy a value if possible: the answer may keep what it returned, and change it."""
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

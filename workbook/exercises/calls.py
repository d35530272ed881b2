"""Answers are called under guard: what one call gave, and values compared safely."""

from __future__ import annotations

import copy
import functools
import inspect
import io
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import islice
from typing import Any

from workbook.exercises.showing import LONGEST, error_line, in_full, show

LIMIT_SECONDS = 2.0
"""How long one call of an answer may take."""

MOST = 10_000
"""How many elements are taken from what an answer yields."""

_TIME_IS_UP = "time is up"


@dataclass(frozen=True)
class Attempt:
    """What one call gave: a value or an error, what it printed, or that it was stopped."""

    value: Any = None
    error: BaseException | None = None
    printed: str = ""
    timed_out: bool = False
    changed_input: bool = False
    unsteady: bool = False

    @property
    def result(self) -> Any:
        """The value, or the error if there is none."""
        return self.error if self.error is not None else self.value

    @property
    def shown(self) -> str:
        """What it gave, for a card."""
        if self.timed_out:
            return "none in time"
        return f"raised {error_line(self.error)}" if self.error is not None else show(self.value)


def attempt(function: Callable[..., Any], *args: Any, seconds: float = LIMIT_SECONDS) -> Attempt:
    """Call an answer: errors and prints are caught, and an endless loop is interrupted."""
    out = _Capped()
    try:
        with redirect_stdout(out), _interrupt_after(seconds):
            return Attempt(function(*args), printed=out.getvalue())
    except (Exception, SystemExit) as error:
        return Attempt(error=error, printed=out.getvalue())
    except KeyboardInterrupt as interrupt:
        if interrupt.args != (_TIME_IS_UP,):
            raise  # the learner's own Ctrl-C
        return Attempt(timed_out=True, printed=out.getvalue())


def attempt_twice(answer: Callable[..., Any], args: tuple[Any, ...]) -> Attempt:
    """Call with copies, and once more, to see whether input or memory are touched."""
    mine, again = copy.deepcopy(args), copy.deepcopy(args)
    first = attempt(answer, *mine)
    if inspect.iscoroutine(first.value):
        first.value.close()  # else Python warns later that it was never awaited
    if first.timed_out or not _plain(first.value):
        return first
    value = _kept(first.value)
    second = attempt(answer, *again)
    result = first.error if first.error is not None else value
    return Attempt(
        value,
        first.error,
        first.printed,
        timed_out=second.timed_out,
        changed_input=first.error is None and not same(mine, args),
        unsteady=not alike(result, second.result),
    )


@dataclass(frozen=True)
class Endless:
    """The first elements of an iterable that went on and on."""

    first: list[Any]

    def __repr__(self) -> str:
        return f"[{', '.join(map(show, self.first[:3]))}, ... without end"


def collected(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with its iterable run to a list: for answers that may `yield` or not.

    A dictionary or a set stays as it is, for it is no sequence of what it was asked for.
    """

    @functools.wraps(function)
    def call(*args: Any) -> Any:
        value = function(*args)
        if isinstance(value, (str, bytes, list, Mapping, set, frozenset)):
            return value
        if not isinstance(value, Iterable):
            return value
        taken = list(islice(value, MOST + 1))
        return Endless(taken) if len(taken) > MOST else taken

    return call


def _kept(value: Any) -> Any:
    """A copy where one can be made: the answer may hold on to what it returned, and change it."""
    try:
        return copy.deepcopy(value)
    except Exception:
        return value


def _plain(value: Any) -> bool:
    """Whether two results can be compared (two generators or functions never are equal)."""
    return not (inspect.isgenerator(value) or inspect.iscoroutine(value) or callable(value))


def same(left: Any, right: Any) -> bool:
    try:
        return bool(left == right)
    except Exception:  # arrays and frames refuse to be true or false
        return False


def alike(left: Any, right: Any) -> bool:
    """Equal, or looking equal: two errors never are equal, although they say the same."""
    return same(left, right) or (type(left) is type(right) and in_full(left) == in_full(right))


class _Capped(io.StringIO):
    """Standard output of an answer; what an endless loop prints is cut."""

    def write(self, text: str) -> int:
        if self.tell() < LONGEST:
            super().write(text[:LONGEST])
        return len(text)


@contextmanager
def _interrupt_after(seconds: float) -> Iterator[None]:
    """Interrupt as Ctrl-C would, by a timer signal: no thread is left behind.

    Only a main thread on a POSIX system can do so (a kernel runs its cells there); elsewhere
    there is no limit. A loop around a bare ``except:`` swallows it, as it swallows Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt(_TIME_IS_UP)

    handler = signal.signal(signal.SIGALRM, interrupt)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler or signal.SIG_DFL)

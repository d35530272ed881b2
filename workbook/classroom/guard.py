"""Bounds what an answer does: the time of a call, and the size of a value."""

import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

LIMIT_SECONDS = 2.0
"""How long one call of an answer may take."""

MOST_PARTS = 10_000
MOST_BYTES = 1_000_000

HOLDERS = (list, tuple, set, frozenset, deque, dict)
_TEXTS = (str, bytes, bytearray)


@dataclass
class Outcome:
    """The outcome of a guarded call: a value, an error of any kind, or stopped by the clock."""

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False


def guarded(function: Callable[..., Any], *args: Any, seconds: float = LIMIT_SECONDS) -> Outcome:
    """Call a function; return its value or any error, and interrupt it after ``seconds``.

    A Ctrl-C passes. The interrupt reaches lines of Python, and a loop inside C code never looks for
    it: those run in a process of their own (module ``sandbox``).
    """
    outcome = Outcome()
    try:
        with _time_limit(outcome, seconds):
            outcome.value = function(*args)
    except KeyboardInterrupt:
        if not outcome.timed_out:
            raise
    except BaseException as error:
        outcome.error = error
    return Outcome(timed_out=True) if outcome.timed_out else outcome


@contextmanager
def _time_limit(outcome: Outcome, seconds: float) -> Iterator[None]:
    """Raise as Ctrl-C does when the time is up; no thread is left behind.

    Only a main thread on a POSIX system can do so (a kernel runs its cells there); elsewhere
    there is no limit. A loop around a bare ``except:`` swallows it, as it swallows Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return

    def time_is_up(*_: Any) -> None:
        outcome.timed_out = True
        raise KeyboardInterrupt

    alarm = signal.signal(signal.SIGALRM, time_is_up)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, alarm or signal.SIG_DFL)


@dataclass(frozen=True)
class Large:
    """Stands in for a value that is too large, with its type and its size."""

    kind: str
    size: str

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.size}>"


def bounded(value: Any) -> Any:
    """Return the value itself if its size can be worked with, else a ``Large`` for it."""
    size = _oversize(value)
    return Large(type(value).__name__, size) if size else value


def _oversize(value: Any) -> str:
    """Return the measure by which a value is too large, or ''.

    The walk is over what Python's own containers and texts hold, and ends at the limit. Anything
    else counts as one part: arrays and frames cut what they show by themselves.
    """
    waiting, parts_left, bytes_left = [value], MOST_PARTS, MOST_BYTES
    while waiting:
        item = waiting.pop()
        if isinstance(item, HOLDERS):
            parts_left -= length(item)
            if parts_left < 0:
                whole = length(value)
                return f"{whole:,} elements" if whole > MOST_PARTS else "very many elements"
            waiting += parts(item)
        elif isinstance(item, _TEXTS):
            bytes_left -= length(item)
            if bytes_left < 0:
                kind = "characters" if isinstance(item, str) else "bytes"
                return f"{length(item):,} {kind}" + ("" if item is value else " in one part")
    return ""


def _base(value: Any) -> Any:
    """Return which of Python's own containers or texts a value is, whatever its class changed."""
    return next((base for base in type(value).__mro__ if base in HOLDERS + _TEXTS), None)


def length(value: Any) -> int:
    """Return the length of one of Python's own containers or texts; 0 for anything else."""
    base = _base(value)
    return int(base.__len__(value)) if base is not None else 0


def parts(value: Any) -> Iterable[Any]:
    """Return what one of Python's own containers holds, keys and values; else nothing."""
    base = _base(value)
    if base is dict:
        return chain.from_iterable(dict.items(value))
    return base.__iter__(value) if base in HOLDERS else ()

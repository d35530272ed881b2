"""Calls a function that may raise anything or never end, and returns either way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

LIMIT_SECONDS = 2.0
"""How long one call of an answer may take."""


@dataclass
class Outcome:
    """The outcome of a guarded call: a value, an error of any kind, or stopped by the clock."""

    value: Any = None
    error: BaseException | None = None
    timed_out: bool = False
    interrupted: bool = False


def guarded(function: Callable[..., Any], *args: Any, seconds: float = LIMIT_SECONDS) -> Outcome:
    """Call a function; return its value or any error, and interrupt it after so many seconds.

    Raises ``KeyboardInterrupt`` only if there was a real one, even if the function swallowed it.

    The interrupt reaches lines of Python, and a loop inside C code never looks for it: those run
    in a process of their own (module ``apart``).
    """
    outcome = Outcome()
    try:
        with _signals(outcome, seconds):
            outcome.value = function(*args)
    except BaseException as error:
        outcome.error = error
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.timed_out:
        return Outcome(timed_out=True)
    return outcome


@contextmanager
def _signals(outcome: Outcome, seconds: float) -> Iterator[None]:
    """Notice Ctrl-C, and raise as it does when the time is up; no thread is left behind.

    Only a main thread on a POSIX system can do so (a kernel runs its cells there); elsewhere
    there is no limit. A loop around a bare ``except:`` swallows it, as it swallows Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def interrupted(number: int, frame: Any) -> None:
        outcome.interrupted = True
        if callable(before):
            before(number, frame)

    def time_is_up(*_: Any) -> None:
        outcome.timed_out = True
        raise KeyboardInterrupt

    alarm = signal.signal(signal.SIGALRM, time_is_up)
    if callable(before):
        signal.signal(signal.SIGINT, interrupted)
    timer = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, alarm or signal.SIG_DFL)
        if callable(before):
            signal.signal(signal.SIGINT, before)

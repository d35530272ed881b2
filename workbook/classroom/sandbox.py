"""Protects a notebook from an answer: a process of its own, an alarm, and a bound on values.

A loop inside C code (``sum(itertools.count())``) hears no signal, and ``os._exit``, a crash or a
class that was changed would reach the notebook. So a check runs in a fork of it (``sandbox``),
which has the answer and all that it needs, and only words come back. An answer on Spark can't leave
the notebook's process, which has the session: there the alarm alone (``guarded``) ends it.

A fork of a process with threads has one thread, and a lock that another one held just then stays
held. So the child does nothing but the check, and one that stands still without using the
processor proves nothing: it's tried once more. Only Linux forks here (macOS warns of it in a
process like a notebook's, Windows can't): elsewhere the check runs in the notebook itself, and an
answer that loops in C needs a restart of the kernel.
"""

import builtins
import gc
import io
import json
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from typing import Any

from workbook.errors import CheckBroke

LIMIT_SECONDS = 2.0
"""How long one call of an answer may take."""

ROOM = 2**30
"""How much more memory a check may take than the notebook has."""

SILENCE = 2 * LIMIT_SECONDS + 1.5
"""Seconds without a word after which a child hangs: it stops both calls of a case before that."""

_MOST_CPU = 60

Say = Callable[[int], None]
Work = Callable[[Say], dict[str, Any] | None]


@dataclass(frozen=True)
class Ended:
    """The outcome of a job: its result, or that it hung or died, and its last progress message."""

    result: dict[str, Any] | None = None
    at: int = 0
    hung: bool = False
    died: str = ""


def sandbox(work: Work) -> Ended:
    """Do a piece of work in a child; it calls what it is given with the number of each step.

    Its result must fit into JSON. An error of the work itself comes back as ``CheckBroke``.
    """
    if sys.platform != "linux":
        return Ended(work(lambda step: None))
    ended, worked = _in_child(work)
    return ended if worked or not ended.hung else _in_child(work)[0]


def _in_child(work: Work) -> tuple[Ended, bool]:
    """Run the work in a child; return how it ended, and whether it used a processor."""
    from_child, to_parent = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads: see above
        child = os.fork()
    if child == 0:
        _as_child(work, to_parent)
    os.close(to_parent)
    try:
        ended = _listen(from_child)
    finally:
        os.close(from_child)
        os.kill(child, signal.SIGKILL)
        _, status, used = os.wait4(child, 0)
    worked = used.ru_utime + used.ru_stime > 0.2
    return ended or Ended(died=_in_words(status)), worked


def _as_child(work: Work, to_parent: int) -> None:
    """Do the work and report it; whatever happens, this never returns."""

    def say(**report: Any) -> None:
        message = json.dumps(report).encode() + b"\n"
        while message:
            message = message[os.write(to_parent, message) :]

    try:
        _become_harmless()
        try:
            say(result=work(lambda step: say(at=step)))
        except Exception as error:
            say(broke=f"{type(error).__name__}: {error}")
    finally:
        os._exit(1)


def _become_harmless() -> None:
    """Leave Ctrl-C to the parent; write to, ask for and destroy nothing of the parent's.

    The child grows by ``ROOM`` at most, and ends by itself should its parent be killed.
    """
    import resource

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.freeze()
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    builtins.input = _no_input
    with open("/proc/self/statm", encoding="ascii") as sizes:
        most = int(sizes.read().split()[0]) * resource.getpagesize() + ROOM
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, hard))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU, _MOST_CPU))


def _no_input(*_: Any) -> str:
    raise EOFError("an answer can't ask for input")


def _listen(from_child: int) -> Ended | None:
    """Read what a child says, up to its result or to a long silence; None if it ended before."""
    text, at, until = b"", 0, time.monotonic() + SILENCE
    while select.select([from_child], [], [], max(0.0, until - time.monotonic()))[0]:
        read = os.read(from_child, 65_536)
        if not read:
            return None
        *lines, text = (text + read).split(b"\n")
        for report in map(json.loads, lines):
            if "broke" in report:
                raise CheckBroke(report["broke"])
            if "result" in report:
                return Ended(report["result"], at)
            at, until = report["at"], time.monotonic() + SILENCE
    return Ended(at=at, hung=True)


def _in_words(status: int) -> str:
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit code {os.WEXITSTATUS(status)}"


# --- the time of a call, and the size of a value ------------------------------------------------

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
    it: those run in a ``sandbox``.
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
    walked = guarded(_oversize, value)
    size = "an unknown size" if walked.error or walked.timed_out else walked.value
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
            parts_left -= len(item)
            if parts_left < 0:
                whole = len(value)
                return f"{whole:,} elements" if whole > MOST_PARTS else "very many elements"
            waiting += chain.from_iterable(item.items()) if isinstance(item, dict) else item
        elif isinstance(item, _TEXTS):
            bytes_left -= len(item)
            if bytes_left < 0:
                kind = "characters" if isinstance(item, str) else "bytes"
                return f"{len(item):,} {kind}" + ("" if item is value else " in one part")
    return ""

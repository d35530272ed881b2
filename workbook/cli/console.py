"""What commands share: a line that updates itself, and how they are asked to end."""

import math
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from workbook.errors import WorkbookError, plain

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
INTERRUPTED = 130
"""The exit code of a command that was asked to end before its work was done."""

TERMINAL_S, ELSEWHERE_S = 0.25, 5.0
"""Seconds between two changes of a ``Line``: of a terminal, and in a file or a pipe."""


def typed() -> str:
    """Return the words that called this program, so that suggested commands work when typed."""
    script = sys.argv[0]
    if os.path.basename(script) == "workbook":  # the script that comes with an installation
        return "workbook" if shutil.which("workbook") == os.path.abspath(script) else script
    python = sys.orig_argv[0] if os.path.basename(script) == "__main__.py" else "python"
    return f"{shlex.quote(python)} -m workbook"


def as_typed(text: str) -> str:
    """Write the commands that a text names as they must be typed here."""
    return re.sub(r"(?<![\w./-])python -m workbook", lambda _: typed(), text)


def end_like_ctrl_c() -> None:
    """Let every signal that asks this process to end raise KeyboardInterrupt."""
    # Set by hand, because a script that starts us in the background has Ctrl-C ignored.
    for number in ENDINGS:
        signal.signal(number, signal.default_int_handler)


@contextmanager
def waiting_for(what: str, after: float = 1.0) -> Iterator[None]:
    """Print what the body does, should it take longer than ``after`` seconds."""
    timer = threading.Timer(after, print, [f"{what} ..."], {"file": sys.stderr, "flush": True})
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def say(text: str) -> None:
    """Print what isn't a command's result."""
    print(plain(text), file=sys.stderr, flush=True)


def require_writable(*paths: str | None) -> None:
    """Refuse files that can't be written, before the work is done whose result they get."""
    for path in map(Path, filter(None, paths)):
        if path.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
            why = "is a folder" if path.is_dir() else "can't be written"
            raise WorkbookError(f"Expected a file that can be written, but {path} {why}.")


class Ending:
    """Decides when a command ends: a signal came, or ``seconds`` are over.

    From its making on, a first signal is only noted, so that it cuts nothing short; a second one
    raises KeyboardInterrupt.
    """

    def __init__(self, seconds: float | None = None) -> None:
        self._asked = False
        self._deadline = None if seconds is None else time.monotonic() + seconds
        for number in ENDINGS:
            signal.signal(number, self._note)

    def has_come(self) -> bool:
        """Return True once a signal asked for the end, or the seconds are over."""
        return self._asked or (self._deadline is not None and time.monotonic() > self._deadline)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True


class Line:
    """A line that a terminal overwrites; in a file or a pipe, a new line now and then.

    Texts that come sooner than ``TERMINAL_S`` (or ``ELSEWHERE_S``) after the one shown are left
    out, so ``show`` may be called as often as one likes. ``clock`` gives seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._shown, self._clock, self._due = "", clock, -math.inf

    def show(self, text: str, *, last: bool = False) -> None:
        """Put the text there; the ``last`` one stays, whole, and what follows is below it."""
        now, text = self._clock(), plain(text)
        if not last and (text == self._shown or now < self._due):
            return
        self._due = now + (TERMINAL_S if sys.stdout.isatty() else ELSEWHERE_S)
        if sys.stdout.isatty():
            columns = os.get_terminal_size().columns
            shown, end = (text, "\n") if last else (text[: columns - 1], "")
            print("\r" + shown.ljust(columns - 1), end=end, flush=True)
        elif text != self._shown:
            print(text, flush=True)
        self._shown = text

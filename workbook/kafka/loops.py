"""Runs a loop over a topic in the background of a notebook."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ClassVar, Protocol


class Closes(Protocol):
    """A reader that a loop closes at its end."""

    def close(self) -> None:
        """Leave the group, and commit where that is automatic."""


class Loop:
    """``work(reader, until)`` in a thread of its own, until ``stop``, its end or its error.

    The reader is closed at the end, however that comes. A second loop of the same name, by default
    that of its work, ends the first one: running a cell again does not leave a forgotten reader in
    the group.
    """

    running: ClassVar[dict[str, Loop]] = {}

    def __init__(
        self, work: Callable[[Any, Callable[[], bool]], None], reader: Closes, name: str = ""
    ) -> None:
        name = name or work.__name__
        former = Loop.running.pop(name, None)
        if former is not None:
            former.end()
        self._error: Exception | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work, reader), daemon=True)
        self._thread.start()
        Loop.running[name] = self

    def stop(self) -> None:
        """End the loop, and raise what ended it before, if something did."""
        self.end()
        self.check()

    def check(self) -> None:
        """Raise what ended the loop, if something did."""
        if self._error:
            raise self._error

    def exception(self, timeout: float) -> Exception | None:
        """Wait for the loop to end by itself and say with which error; TimeoutError if it runs."""
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"Expected the loop to end, but it still runs after {timeout} s.")
        return self._error

    def end(self) -> None:
        """End the loop; an error that ended it before is not raised."""
        self._over.set()
        self._thread.join()

    def _run(self, work: Callable[[Any, Callable[[], bool]], None], reader: Closes) -> None:
        try:
            work(reader, self._over.is_set)
        except Exception as error:
            self._error = error
        finally:
            reader.close()

"""A lab of its own for a test, and the question what it left behind."""

import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

DEADLINE = 180.0


def until(
    happened: Callable[[], object], what: str, within: float = DEADLINE, every: float = 0.05
) -> None:
    """Ask for a condition ``every`` so many seconds; fail with ``what`` was awaited."""
    deadline = time.monotonic() + within
    while not happened():
        assert time.monotonic() < deadline, f"waited {within:.0f} s in vain for: {what}"
        time.sleep(every)


def listening(process: psutil.Process) -> list[tuple[str, int]]:
    """The addresses and ports on which a process listens; none if it has ended."""
    with suppress(psutil.NoSuchProcess):
        open_now = process.net_connections("inet")
        return [(c.laddr.ip, c.laddr.port) for c in open_now if c.status == psutil.CONN_LISTEN]
    return []


def lives(process: psutil.Process) -> bool:
    """Whether it still runs, and not as a zombie."""
    with suppress(psutil.NoSuchProcess):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


class OwnLab:
    """A lab under a name that only this test uses, so that everything it starts can be found."""

    def __init__(self) -> None:
        self.name = f"t-{secrets.token_hex(4)}"
        self.env = {**os.environ, "WORKBOOK_LAB": self.name, "WORKBOOK_GRACE_S": "1"}
        self.folder = Path(tempfile.gettempdir()) / f"workbook-{os.getuid()}-{self.name}"
        self._seen: set[psutil.Process] = set()

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Run Python with these arguments as a user of the lab."""
        return subprocess.Popen(
            [sys.executable, *arguments],
            env=self.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def workbook(self, *words: str) -> tuple[int, str]:
        """Run the command to its end; return its exit code and what it said."""
        process = self.start("-m", "workbook", *words)
        said, _ = process.communicate(timeout=180)
        return process.returncode, said

    def processes(self) -> list[psutil.Process]:
        """Every living process that carries the lab's name in its environment, and its children.

        PostgreSQL's children write over their environment: once seen, they are remembered.
        """
        for process in psutil.process_iter():
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess):
                if process.environ().get("WORKBOOK_LAB") == self.name:
                    self._seen |= {process, *process.children(recursive=True)}
        return [process for process in self._seen if lives(process)]

    def servers(self, word: str) -> list[psutil.Process]:
        """Those whose command line holds a word, for example ``kafka.Kafka``."""
        found = []
        for process in self.processes():
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                if any(word in part for part in process.cmdline()):
                    found.append(process)
        return found

    def ports(self) -> set[int]:
        """The ports on which the lab's processes listen."""
        return {port for process in self.processes() for _, port in listening(process)}

    def assert_nothing_is_left(self, ports: set[int]) -> None:
        """No process, no port, no temporary folder."""
        until(lambda: not self.processes(), f"the end of {self.processes()}", within=30)
        until(lambda: not self.folder.exists(), f"the end of {self.folder}", within=10)
        still = {c.laddr.port for c in psutil.net_connections("inet") if c.status == "LISTEN"}
        assert not ports & still, f"ports still open: {ports & still}"


@contextmanager
def own_lab() -> Iterator[OwnLab]:
    """A lab whose processes are killed at the end, should the test have failed to end them."""
    lab = OwnLab()
    try:
        yield lab
    finally:
        for process in lab.processes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        shutil.rmtree(lab.folder, ignore_errors=True)


def read_until(process: subprocess.Popen[str], word: str) -> str:
    """Read a process's output up to the line that holds a word; returns that line."""
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(line)
        if word in line:
            return line
    raise AssertionError(f"{word!r} did not come, but:\n{''.join(seen)}")


def interrupt(process: subprocess.Popen[str]) -> str:
    """Press Ctrl-C and return what the process still says."""
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    return said


def workbook(*words: str, **options: Any) -> subprocess.Popen[str]:
    """The command in a process of its own, a user of the tests' lab."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **options}
    command = [sys.executable, "-m", "workbook", *words]
    return subprocess.Popen(command, text=True, start_new_session=True, **options)


def end(process: subprocess.Popen[str], number: signal.Signals, code: int = 0) -> str:
    """Ask it to end, which must be quick and clean; returns what it still said.

    The whole process group gets the signal, as from a terminal or a service manager.
    """
    began = time.monotonic()
    os.killpg(process.pid, number)
    said, _ = process.communicate(timeout=60)
    trace = re.search(r"Traceback|Exception|^\s+at \w", said, re.MULTILINE)
    assert (process.returncode, trace) == (code, None), said
    assert time.monotonic() - began < 30
    return said

"""A program of somebody's own: started, frozen and killed, with all that it has started."""

import os
import secrets
import signal
import struct
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil

from workbook.errors import CrashFailed
from workbook.kafka import config, protocol
from workbook.stack import cassandra, postgres
from workbook.stack.client import lease
from workbook.stack.process import end_now, family

MARK = "WORKBOOK_CRASH_TEST"
"""The variable by which a process is known that has left its family."""

NOT_THEIRS = (config.SERVERS, config.FILE, postgres.VARIABLE, cassandra.VARIABLE)
"""Variables that a program isn't given: it works on the lab's servers, but for a registry."""

TOLD = 8
"""Lines of a program's output that a message has."""


class Victim:
    """A running copy of a program. What it prints goes to ``log``; it ends with this process.

    Raises ``CrashFailed`` for a command that can't be started.
    """

    def __init__(self, words: Sequence[str], log: Path, run: str) -> None:
        self._log, self._mark = log, f"{owner()} {run} {secrets.token_hex(8)}"
        # Names that begin with PG are libpq's.
        theirs = (n for n in os.environ if n not in NOT_THEIRS and not n.startswith("PG"))
        env = {name: os.environ[name] for name in theirs}
        try:
            with log.open("ab") as output:
                self._said_before = output.tell()
                self._process = psutil.Popen(
                    list(words),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env={**env, MARK: self._mark},
                    start_new_session=True,
                )
        except OSError as error:
            raise CrashFailed(
                f"This command can't be started: {words[0]} ({error.strerror})."
            ) from None
        lease().ask("own", pid=self._process.pid)

    @property
    def code(self) -> int | None:
        """Return the exit code; None while it runs, or what it has left behind as a service."""
        found: int | None = self._process.poll()
        return None if found == 0 and self.members() else found

    def members(self) -> list[psutil.Process]:
        """Return the program, all that it has started, and what was started by that."""
        return list({*family(self._process), *marked(self._mark)})

    def kill(self) -> int:
        """kill -9 to all of it; return how many processes were left of a program that had ended."""
        ended = self._process.poll() is not None
        members = self.members()
        if not ended:
            with suppress(OSError):
                os.killpg(self._process.pid, signal.SIGKILL)
        end_now(members)
        end_now(self.members())  # what one of them started meanwhile
        self._process.wait()
        return len(members) if ended else 0

    def tell(self, number: signal.Signals) -> None:
        """Send a signal to the whole program."""
        for member in self.members():
            with suppress(psutil.Error):
                member.send_signal(number)

    def ended(self, within: float) -> bool:
        """Wait for its end; return False if it still runs after these seconds."""
        with suppress(psutil.TimeoutExpired):
            self._process.wait(within)
        return self.code is not None

    def last_words(self) -> str:
        """Return the last lines that it printed."""
        with self._log.open("rb") as log:
            log.seek(max(self._said_before, log.seek(0, os.SEEK_END) - 20_000))
            lines = log.read().decode(errors="replace").splitlines()
        return "\n".join(f"  {line[:300]}" for line in lines[-TOLD:]) or "  nothing"


def owner() -> str:
    """Return how the marks of this process's programs begin."""
    return f"{os.uname().nodename} {os.getpid()}"


def marked(begins: str) -> dict[psutil.Process, str]:
    """Return the processes whose mark begins so, and their marks."""
    found = {}
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            mark = process.environ().get(MARK)
            if mark and f"{mark} ".startswith(f"{begins} ") and process.pid != os.getpid():
                found[process] = mark
    return found


def end_strays() -> None:
    """End programs whose crash test was killed."""
    known = marked(os.uname().nodename)
    end_now(p for p, mark in known.items() if not psutil.pid_exists(int(mark.split()[1])))


def forget_members(servers: str, group: str, members: Sequence[str]) -> None:
    """Take dead members out of a group, as the broker does when their session time-out is over.

    Otherwise a restart would wait for that, 45 s by default. It's Kafka's request LeaveGroup.
    """

    def text(words: str) -> bytes:
        return struct.pack(">h", len(words.encode())) + words.encode()

    leaving = b"".join(text(member) + struct.pack(">h", -1) for member in members)
    body = text(group) + struct.pack(">i", len(members)) + leaving
    request = struct.pack(">hhih", 13, 3, 1, -1) + body
    host, port = protocol.host_and_port(servers) or ("", 0)
    with suppress(OSError), protocol.connect(host, port) as link:
        link.sendall(struct.pack(">i", len(request)) + request)
        link.recv(1000)

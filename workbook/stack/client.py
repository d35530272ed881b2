"""Makes a process a user of the lab's servers."""

import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbook import errors
from workbook.stack import folders

DEADLINE = 120.0
"""Seconds to wait for a supervisor or one of its servers."""

Say = Callable[[str], None]


class Lease:
    """A connection to the supervisor, which starts if there is none; it ends with this process.

    While it is open the servers stay; what the process owns ends with it.
    """

    def __init__(self, role: str, *, start: bool = True, patience: float | None = None) -> None:
        self._lock = threading.Lock()
        self._socket = _connect(start)
        self._socket.settimeout(patience)
        self._lines = self._socket.makefile("rb")
        self._asked = 0
        self.owner = os.getpid()
        self.supervisor = int(self.ask("hello", pid=os.getpid(), role=role)["pid"])

    def ask(self, request: str, say: Say | None = None, **details: Any) -> Any:
        """Send one request and return its answer; progress on the way goes to ``say``."""
        with self._lock, suppress(ConnectionError):
            self._asked += 1
            line = json.dumps({"id": self._asked, "ask": request, **details})
            # Ctrl-C may have cut the last request short: that one's half of a line ends here.
            self._socket.sendall(f"\n{line}\n".encode())
            for answer in map(json.loads, self._lines):
                if answer["id"] != self._asked:
                    continue
                if "progress" in answer:
                    (say or print)(answer["progress"])
                    continue
                if "error" in answer:
                    raise getattr(errors, answer["kind"])(answer["error"])
                return answer["ok"]
        raise errors.ServerFailed(
            "The process that owns the lab's servers has ended. Restart the kernel or the lab."
        )

    def close(self) -> None:
        """Stop using the servers; they end soon if this was their last user."""
        self._lines.close()
        self._socket.close()

    def wait_for_end(self) -> None:
        """Block until the supervisor ends."""
        with self._lock:
            self._lines.read()


_current: Lease | None = None
_making: dict[int, threading.Lock] = {}
"""By process: nobody would release the lock that a fork finds held."""


def lease(role: str = "kernel") -> Lease:
    """Return the one lease of this process, whichever of its threads asks first."""
    global _current
    with _making.setdefault(os.getpid(), threading.Lock()):
        if _current is None or _current.owner != os.getpid():  # a fork must not share its parent's
            _current = Lease(role)
        return _current


def scratch_dir() -> Path:
    """Return a folder for this process's temporary files, removed with it."""
    return Path(lease().ask("scratch"))


def status(patience: float | None = None) -> dict[str, Any] | None:
    """Return the supervisor's status, see ``Supervisor._status``; None if there is none.

    Raises ``ServerFailed`` if it takes longer than ``patience`` seconds to answer.
    """
    try:
        probe = Lease("probe", start=False, patience=patience)
    except errors.NotRunning:
        return None
    except TimeoutError:
        raise errors.ServerFailed(
            f"The lab's supervisor does not answer within {patience} s: it is stuck or stopped. "
            "End the process workbook.stack.supervisor, then run: python -m workbook down"
        ) from None
    try:
        return dict(probe.ask("status"))
    finally:
        probe.close()


def _connect(start: bool) -> socket.socket:
    path = folders.socket_path()
    deadline = time.monotonic() + DEADLINE
    supervisor: subprocess.Popen[str] | None = None
    while time.monotonic() < deadline:
        folders.require_own(folders.run_dir())  # what we send may hold secrets
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(path)
            if _user_of(link) == os.getuid():
                return link
            link.close()
            raise folders.foreign(folders.run_dir())  # planted since we looked, and perhaps gone
        except OSError:
            link.close()
        if not start:
            raise errors.NotRunning(
                "No supervisor of this lab is running. Run: python -m workbook lab"
            )
        # One that finds the folder claimed ends at once: the older one may be on its way out.
        if supervisor is None or supervisor.poll() is not None:
            _require_well(supervisor)
            supervisor = _start_supervisor()
        time.sleep(0.05)
    raise errors.NotRunning(
        f"The lab's supervisor does not listen at {path} within {DEADLINE:.0f} s, and another "
        "process holds its folder. End the process workbook.stack.supervisor, then try again."
    )


def _user_of(link: socket.socket) -> int:
    """Return the id of the user who listens at the other end of a Unix socket."""
    if sys.platform == "linux":
        peer = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3I"))
        return int(struct.unpack("3I", peer)[1])
    return int(struct.unpack_from("2I", link.getsockopt(0, 1, 76))[1])  # macOS: LOCAL_PEERCRED


def _require_well(supervisor: subprocess.Popen[str] | None) -> None:
    """Raise ``ServerFailed`` with the reason of a supervisor that ended because it cannot work."""
    if supervisor is not None and supervisor.returncode:
        _, error = supervisor.communicate()
        raise errors.ServerFailed(
            error.strip().rpartition("\n")[2]
            or f"The lab's supervisor ended with code {supervisor.returncode} without a message. "
            "Run: python -m workbook doctor"
        )


def _start_supervisor() -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, [str(folders.ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        [sys.executable, "-m", "workbook.stack.supervisor"],
        env={**os.environ, "PYTHONPATH": path},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )

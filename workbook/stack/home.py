"""Where the lab keeps things: a cache that stays, and a run folder that ends with the lab."""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
import tempfile
import time
from pathlib import Path

from workbook.errors import ServerFailed

ROOT = Path(__file__).resolve().parents[2]
"""The checkout: the folder that holds the package."""

LONGEST_SOCKET = 99
"""Bytes: macOS takes 103, Linux 107, and while the supervisor starts, the name is 4 longer."""


def cache_dir() -> Path:
    """The folder for jars; ``WORKBOOK_CACHE`` moves it."""
    chosen = os.environ.get("WORKBOOK_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(base) / "workbook"


def lab_name() -> str:
    """One name per checkout, so that two clones do not share servers; ``WORKBOOK_LAB`` sets it."""
    return os.environ.get("WORKBOOK_LAB") or hashlib.sha256(bytes(ROOT)).hexdigest()[:8]


def run_dir() -> Path:
    """The temporary folder of this lab: socket, logs, server data, Spark's scratch space."""
    # Short, because the path of a Unix socket may not exceed about 100 characters.
    return Path(tempfile.gettempdir()) / f"workbook-{os.getuid()}-{lab_name()}"


def socket_path() -> str:
    """Where the supervisor listens; raises ``ServerFailed`` if the path is longer than may be."""
    path = str(run_dir() / "socket")
    if len(os.fsencode(path)) > LONGEST_SOCKET:
        raise ServerFailed(
            f"The folder for temporary files has too long a name for a socket: {path}. "
            f"Set TMPDIR to a shorter one, for example /tmp."
        )
    return path


def claim(folder: Path) -> int | None:
    """Lock the run folder for this process, making it where needed; None if another holds it.

    The lock sits on the folder itself, so that no lock file can be left behind, and it ends with
    the process however that ends.
    """
    while True:
        folder.mkdir(mode=0o700, exist_ok=True)
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        _refuse_foreign(folder, os.fstat(held))
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(held)
            return None
        if folder.exists() and folder.stat().st_ino == os.fstat(held).st_ino:
            return held
        os.close(held)  # its last holder removed it between our mkdir and our lock


def gone(within: float) -> bool:
    """Wait for the run folder to disappear, ``within`` seconds at most."""
    deadline = time.monotonic() + within
    while run_dir().exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not run_dir().exists()


def _refuse_foreign(folder: Path, found: os.stat_result) -> None:
    if found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise ServerFailed(
            f"{folder} should belong to you alone, but others own or can read it. "
            f"Remove it, or set TMPDIR to a folder of your own."
        )

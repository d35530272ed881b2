"""Starts child processes that end with their owner, and clears up after a lab that died.

What a lab starts is noted in its run folder: by number and time of its start, since a number alone
may be given again.
"""

import ctypes
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from workbook.errors import ServerFailed
from workbook.stack import folders

NOTES = "started"

SAME_START_S = 2.0
"""Seconds that a start may seem to move when the clock is set."""

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def spawn(
    command: list[str],
    log: Path,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    last_wish: signal.Signals = signal.SIGKILL,
) -> subprocess.Popen[bytes]:
    """Start a command in a session of its own, its output in ``log``.

    On Linux the kernel sends it ``last_wish`` when the thread that called this ends, however that
    happens: call it from the main thread. Elsewhere the next lab removes what was left.
    """
    owner = os.getpid()

    def die_with_owner() -> None:
        if _libc is not None:
            _libc.prctl(PR_SET_PDEATHSIG, last_wish)
            if os.getppid() != owner:  # it ended before we asked
                os._exit(1)

    with log.open("ab") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            start_new_session=True,
            preexec_fn=die_with_owner,
        )


def finish(name: str, command: list[str], log: Path, **how: Any) -> None:
    """Run a server's tool to its end, see ``spawn``; raise ``ServerFailed`` if it fails."""
    process = spawn(command, log, **how)
    if process.wait() != 0:
        raise failure(name, log, ended=True)


def family(process: psutil.Process | int) -> list[psutil.Process]:
    """Return a process, if it lives, all its descendants, and the warm Sparks they have taken."""
    with suppress(psutil.Error):
        root = psutil.Process(process) if isinstance(process, int) else process
        members = [root, *root.children(recursive=True)]
        lab = folders.run_dir()
        keepers = [keeper for member in members for keeper in _noted(lab, taken(member.pid))]
        return [*members, *(p for keeper in keepers for p in family(keeper))]
    return []


def taken(pid: int) -> str:
    """Name the file of the run folder with the keepers of the Sparks that a process has taken."""
    return f"taken-{pid}"


def has_port(pid: int, port: int) -> bool:
    """Return True if this very process, or what it has started, has the port at its end.

    What a server starts counts, since `java` may be a script that runs the real one.
    """
    for member in family(pid):
        try:
            if any(its.laddr.port == port for its in member.net_connections("tcp")):
                return True
        except psutil.AccessDenied:  # PostgreSQL's, which runs as nobody where we are root
            return True
        except psutil.NoSuchProcess:
            pass
    return False


def end_tree(
    process: psutil.Process, first: signal.Signals = signal.SIGTERM, patience: float = 10
) -> None:
    """End a process and all its descendants: ``first`` to it, SIGKILL to all after a while.

    It ends that very process, never one that was given its number later.
    """
    members = family(process)
    with suppress(psutil.Error):
        process.send_signal(first)
    _, left = psutil.wait_procs(members[:1], timeout=patience)
    _, left = psutil.wait_procs(members, timeout=0.2 if not left else 0)
    end_now(left)


def end_now(processes: Iterable[psutil.Process]) -> None:
    """Send SIGKILL to each, and wait until they are gone."""
    victims = list(processes)
    for victim in victims:
        with suppress(psutil.Error):  # gone, or another user's, as `sudo` in a terminal makes them
            victim.kill()
    psutil.wait_procs(victims, timeout=5)


def failure(name: str, log: Path, *, ended: bool) -> ServerFailed:
    """Return the error for a server that did not come up, with the end of its log."""
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    state = "ended at once" if ended else "did not answer in time"
    telling = [line for line in lines if re.search("ERROR|Exception|FATAL|in use", line)] or lines
    return ServerFailed(
        f"{name} {state}. The end of its log:\n  "
        + "\n  ".join(telling[-5:])
        + "\nRun: python -m workbook doctor"
    )


# --- what a lab has started -----------------------------------------------------------------------


def note(folder: Path, process: psutil.Process, file: str = NOTES) -> None:
    """Write down in the run folder that the lab started, or took over, this process."""
    with suppress(psutil.NoSuchProcess), (folder / file).open("a") as notes:
        notes.write(f"{process.pid} {process.create_time()}\n")


def alive(folder: Path) -> list[psutil.Process]:
    """Return the noted processes that still run, with all descendants."""
    found = dict.fromkeys(p for started in _noted(folder) for p in family(started))
    return [p for p in found if p.pid != os.getpid()]


def sweep(folder: Path, held: int) -> list[str]:
    """Remove what a killed supervisor left: its processes and the claimed run folder's content.

    ``held`` is the folder as ``folders.claim`` opened it. Returns what was found.
    """
    strays = alive(folder)
    end_now(strays)
    return [f"process {p.pid}" for p in strays] + [
        f"file {folder / n}" for n in folders.empty(held)
    ]


def clear() -> list[str]:
    """Sweep this lab's run folder and remove it, unless a living supervisor holds it.

    Returns what was found.
    """
    folder = folders.run_dir()
    held = folders.claim(folder) if os.path.lexists(folder) else None
    if held is None:
        return []
    found = sweep(folder, held)
    folders.remove(folder, held)
    return found


def _noted(folder: Path, file: str = NOTES) -> Iterator[psutil.Process]:
    with suppress(FileNotFoundError):
        for line in (folder / file).read_text().splitlines():
            with suppress(psutil.Error, ValueError):  # ended, or a line cut short
                number, began = line.split()
                process = psutil.Process(int(number))
                if abs(process.create_time() - float(began)) < SAME_START_S:
                    yield process

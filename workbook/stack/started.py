"""Records what a lab started in its run folder, and clears up after a lab that died.

A process is known by its number and the time of its start: a number alone may be given again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

from workbook.stack import folders
from workbook.stack.process import end_now, family

NOTES = "started"

SAME_START_S = 2.0
"""Seconds by which a start may seem to move when the clock is set."""


def note(folder: Path, process: psutil.Process) -> None:
    """Write down in the run folder that the lab started, or took over, this process."""
    with suppress(psutil.NoSuchProcess), (folder / NOTES).open("a") as notes:
        notes.write(f"{process.pid} {process.create_time()}\n")


def alive(folder: Path) -> list[psutil.Process]:
    """Return the noted processes that still run, with all descendants."""
    found = dict.fromkeys(p for started in _noted(folder) for p in family(started))
    return [p for p in found if p.pid != os.getpid()]


def bystanders(folder: Path) -> list[str]:
    """Return other processes that name the run folder, to be reported and left alone."""
    ours = {os.getpid(), *(process.pid for process in alive(folder))}
    return [
        f"process {process.pid} ({process.info['name']}, of {process.info['username']})"
        for process in psutil.process_iter(["cmdline", "name", "username"])
        if process.pid not in ours
        and any(f"{folder}{os.sep}" in word for word in process.info["cmdline"] or [])
    ]


def sweep(folder: Path, held: int) -> list[str]:
    """Remove what a killed supervisor left: its processes and the claimed run folder's content.

    ``held`` is the folder as ``folders.claim`` opened it. Returns what was found.
    """
    strays = alive(folder)
    end_now(strays)
    return [f"process {p.pid}" for p in strays] + [
        f"file {folder / n}" for n in folders.empty(held)
    ]


def clear() -> tuple[list[str], list[str]]:
    """Sweep this lab's run folder and remove it, unless a living supervisor holds it.

    Returns what was found, and which other processes name the folder: they were left alone.
    """
    folder = folders.run_dir()
    held = folders.claim(folder) if os.path.lexists(folder) else None
    if held is None:
        return [], []
    others = bystanders(folder)
    found = sweep(folder, held)
    folders.remove(folder, held)
    return found, others


def _noted(folder: Path) -> Iterator[psutil.Process]:
    with suppress(FileNotFoundError):
        for line in (folder / NOTES).read_text().splitlines():
            with suppress(psutil.Error, ValueError):  # ended, or a line cut short
                number, began = line.split()
                process = psutil.Process(int(number))
                if abs(process.create_time() - float(began)) < SAME_START_S:
                    yield process

"""A server of the lab: a child process that answers on loopback. All of them start in one way."""

import asyncio
import os
import re
import shutil
import subprocess
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from signal import Signals
from typing import Protocol

import psutil

from workbook.errors import ServerFailed
from workbook.stack import ports
from workbook.stack.java import environment
from workbook.stack.process import end_tree, failure, has_port, note, spawn

DEADLINE = 90.0
"""Seconds: each answers within four on a quiet machine, but machines are not always quiet."""

TRIES = 3

ANSWER_WITHIN = 4.0
"""Seconds that a server in use has to answer before it counts as down."""

Say = Callable[[str], None]


class Kind(Protocol):
    """What the module of a server has, such as ``kafka.py``."""

    NAME: str  # as messages call it
    SUBJECT: str  # as the doctor calls it
    KEEPS: str  # what it has again after a stop or a kill
    PORT: int  # its usual port; another one if that is taken
    VARIABLE: str  # the environment's variable that names a server to use in its place
    TAKES: str  # how long it takes to start
    END: Signals  # ends it in order and soon, whoever is connected
    LAST_WISH: Signals  # sent by the kernel when its supervisor was killed

    def prepare(self, folder: Path, port: int) -> tuple[list[str], str]:
        """Make its files in an empty folder; return its command and its address."""

    def answers(self, address: str) -> bool:
        """Return True if it answers; asked only while its very process has the port."""

    def check(self, address: str, within: float = ANSWER_WITHIN) -> None:
        """Raise an error with the likely cause unless the one in use lets us work."""


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its process, where it answers, and the command that starts it."""

    process: subprocess.Popen[bytes]
    address: str
    command: list[str]


async def start(kind: Kind, folder: Path, say: Say) -> Server:
    """Start a new server whose files are in ``folder`` of the run folder."""

    async def new() -> Server:
        port = ports.choose(kind.PORT)
        if port != kind.PORT:
            say(f"Port {kind.PORT} is taken by another program: {kind.NAME} uses {port}.")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command, address = await asyncio.to_thread(kind.prepare, folder, port)
        return await _run(kind, folder, command, address, say)

    return await _while_in_use(new)


async def resume(kind: Kind, folder: Path, ended: Server, say: Say) -> Server:
    """Start a server again on its files and its port."""
    return await _while_in_use(lambda: _run(kind, folder, ended.command, ended.address, say))


async def _while_in_use(attempt: Callable[[], Awaitable[Server]]) -> Server:
    """Try again if another program took the port meanwhile, or a killed server's children live."""
    for _ in range(TRIES):
        try:
            return await attempt()
        except ServerFailed as error:
            if "in use" not in str(error):
                raise
            failed = error
        await asyncio.sleep(0.5)
    raise failed


async def _run(kind: Kind, folder: Path, command: list[str], address: str, say: Say) -> Server:
    say(f"Starting {kind.NAME} (about {kind.TAKES}) ...")
    began, log = time.monotonic(), folder / "server.log"
    [port] = re.findall(r":(\d+)(?:/|$)", address)
    process = spawn(command, log, env=environment(), cwd=str(folder), last_wish=kind.LAST_WISH)
    started = psutil.Process(process.pid)
    try:
        note(folder.parent, started)
        while process.poll() is None and time.monotonic() < began + DEADLINE:
            ours = has_port(process.pid, int(port))  # nobody else hears a password
            if ours and await asyncio.to_thread(kind.answers, address):
                took = time.monotonic() - began
                say(f"{kind.NAME} answers on {shown(address)} after {took:.1f} s.")
                return Server(process, address, command)
            await asyncio.sleep(0.05)
        raise failure(kind.NAME, log, ended=process.poll() is not None)
    except BaseException:  # also of a lab that ends meanwhile
        await asyncio.to_thread(end_tree, started, kind.END)
        raise


def shown(address: str) -> str:
    """Return an address as it may be printed: without user, password and parameters."""
    if "://" not in address and ("=" in address or "@" in address):  # as libpq also takes them
        return "the address that you gave"
    return re.sub(r"//.*@", "//", address).partition("?")[0]


def advice(name: str, variable: str, form: str) -> str:
    """Return what to do if the server in use, ``name`` for the lab, doesn't let us work."""
    if os.environ.get(variable):
        return f"Check {variable} ({form}) and that the server runs, or unset it for the lab's own."
    return (
        f"It is the lab's own. If somebody stopped it, run: python -m workbook start {name}. "
        "Otherwise end it by `python -m workbook down`, then restart the kernel or the lab."
    )


def first_line(error: Exception) -> str:
    """Return what an error says, as a part of a sentence."""
    return (str(error).splitlines() or [type(error).__name__])[0].replace(". ", ", ")

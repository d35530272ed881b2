"""One process, in a session of its own, owns all servers of a lab and ends with its last user.

A user is a connection to its Unix socket: the lab, a kernel, a command, a test run. The operating
system closes that connection however the user ends, so no user can forget to say goodbye. What a
user started on its own account (JupyterLab, a Spark JVM) ends with that user; the servers end with
the last one, and the run folder with them. `workbook up` pins the servers until `workbook down`.

The protocol is one JSON object a line; see ``Supervisor._answer`` for the requests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbook.errors import WorkbookError
from workbook.stack import home, jars, kafka
from workbook.stack.process import end_now, end_tree, leftovers, spawn

GRACE = 3.0
"""Seconds without a user before the servers end: enough for a kernel to restart."""

STARTERS = {"kafka": kafka.start}
"""Every server the lab can start: it starts when it is first asked for."""


@dataclass(eq=False)
class User:
    """One connection: who it is, what it owns, and where its replies go."""

    replies: asyncio.StreamWriter
    pid: int = 0
    role: str = "?"
    owned: set[int] = field(default_factory=set)
    scratch: Path | None = None

    def say(self, **message: Any) -> None:
        if not self.replies.is_closing():
            self.replies.write(json.dumps(message).encode() + b"\n")


class Supervisor:
    """The state of a lab: its users, and its servers by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.users: set[User] = set()
        self.servers: dict[str, kafka.Server] = {}
        self.starting = {name: asyncio.Lock() for name in STARTERS}
        self.pinned = False
        self.jars = jars.fingerprint()
        self.ended = asyncio.Event()
        self.idle: asyncio.TimerHandle | None = None

    async def run(self) -> None:
        """Serve until the last user is gone, `down` is asked for, or a signal comes."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self.ended.set)
        # Bound under another name first, so that who sees the socket can also connect to it.
        unready = self.folder / "socket.new"
        listener = await asyncio.start_unix_server(self._serve, unready)
        unready.rename(self.folder / "socket")
        self._end_when_idle()
        await self.ended.wait()
        (self.folder / "socket").unlink(missing_ok=True)
        listener.close()
        await asyncio.gather(*(self._release(user) for user in list(self.users)))
        await asyncio.gather(
            *(asyncio.to_thread(end_tree, s.process.pid) for s in self.servers.values())
        )

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        user = User(writer)
        self.users.add(user)
        if self.idle:
            self.idle.cancel()
        try:
            async for line in reader:
                await self._answer(user, json.loads(line))
        except (ConnectionError, ValueError):
            pass  # the user is gone, or is none of ours
        finally:
            await self._release(user)

    async def _release(self, user: User) -> None:
        owned, user.owned = user.owned, set()
        await asyncio.gather(*(asyncio.to_thread(end_tree, pid) for pid in owned))
        if user.scratch:
            shutil.rmtree(user.scratch, ignore_errors=True)
        self.users.discard(user)
        with contextlib.suppress(ConnectionError):
            user.replies.close()
        self._end_when_idle()

    def _end_when_idle(self) -> None:
        if self.idle:
            self.idle.cancel()
        if not self.users and not self.pinned:
            loop = asyncio.get_running_loop()
            self.idle = loop.call_later(GRACE, self.ended.set)

    async def _answer(self, user: User, request: dict[str, Any]) -> None:
        try:
            match request["ask"]:
                case "hello":
                    user.pid, user.role = request["pid"], request["role"]
                    user.say(ok={"pid": os.getpid()})
                case "server":
                    user.say(ok=await self._server(request["name"], user))
                case "spawn":
                    user.say(ok=self._spawn(user, request))
                case "own":
                    user.owned.add(request["pid"])
                    user.say(ok=True)
                case "scratch":
                    user.scratch = self.folder / f"user-{user.pid}"
                    user.scratch.mkdir(exist_ok=True)
                    user.say(ok=str(user.scratch))
                case "pin":
                    self.pinned = request["value"]
                    user.say(ok=True)
                case "status":
                    user.say(ok=self._status(user))
                case "leave":
                    owned, user.owned = user.owned, set()
                    await asyncio.gather(*(asyncio.to_thread(end_tree, pid) for pid in owned))
                    user.say(ok=self._status(user))
                case "end":
                    user.say(ok=True)
                    self.ended.set()
                case unknown:
                    user.say(error=f"no such request: {unknown}", kind="WorkbookError")
        except WorkbookError as error:
            user.say(error=str(error), kind=type(error).__name__)

    async def _server(self, name: str, user: User) -> str:
        async with self.starting[name]:
            running = self.servers.get(name)
            if running is None or running.process.poll() is not None:
                running = await STARTERS[name](
                    self.folder / name, lambda text: user.say(progress=text)
                )
                self.servers[name] = running
            return running.address

    def _spawn(self, user: User, request: dict[str, Any]) -> int:
        process = spawn(
            request["command"],
            Path(request["log"]),
            env=request["env"],
            cwd=request["cwd"],
            last_wish=signal.SIGTERM,
        )
        user.owned.add(process.pid)
        return process.pid

    def _status(self, asking: User) -> dict[str, Any]:
        return {
            "servers": {
                name: server.address
                for name, server in self.servers.items()
                if server.process.poll() is None
            },
            "users": [{"pid": u.pid, "role": u.role} for u in self.users if u is not asking],
            "ended": {
                name: server.process.returncode
                for name, server in self.servers.items()
                if server.process.poll() is not None
            },
            "pinned": self.pinned,
            "jars": self.jars,
        }


def sweep(folder: Path) -> list[str]:
    """Remove what a killed supervisor left: its processes and the run folder's content.

    Call it only while holding the claim on the folder. Returns what was found.
    """
    strays = leftovers(folder)
    end_now(strays)
    content = list(folder.iterdir())
    for path in content:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return [f"process {p.pid}" for p in strays] + [f"file {path}" for path in content]


def clear() -> list[str]:
    """Sweep this lab's run folder and remove it, unless a living supervisor holds it."""
    folder = home.run_dir()
    if not folder.exists() or home.claim(folder) is None:
        return []
    found = sweep(folder)
    shutil.rmtree(folder, ignore_errors=True)
    return found


def main() -> None:
    """Own the lab's run folder, or end at once if another supervisor does."""
    os.umask(0o077)
    folder = home.run_dir()
    if home.claim(folder) is None:
        return
    sweep(folder)
    log = os.open(folder / "supervisor.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        asyncio.run(Supervisor(folder).run())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()

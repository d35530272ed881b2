"""The supervisor: one process that owns all servers of a lab and ends with its last user.

A user is a connection to its Unix socket: the lab, a kernel, a command, a test run. The operating
system closes that connection however the user ends, so no user can forget to say goodbye. What a
user started on its own account (JupyterLab, a Spark JVM) ends with that user; the servers end with
the last one, and the run folder with them. `workbook up` pins the servers until `workbook down`.

The protocol is one JSON object a line; see ``Supervisor._answer`` for the requests.
"""

import asyncio
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from workbook.errors import ServerFailed, WorkbookError
from workbook.stack import cassandra, folders, kafka, postgres, registry, server
from workbook.stack.process import end_tree, note, spawn, sweep, taken
from workbook.stack.spares import OFFER, Spare, Spares

GRACE = float(os.environ.get("WORKBOOK_GRACE_S", "3"))
"""Seconds without a user before the servers end: enough for a kernel to restart."""

SERVERS: dict[str, server.Kind] = {
    **{"kafka": kafka, "registry": registry, "postgres": postgres, "cassandra": cassandra}
}
"""Every server the lab can start: it starts when it is first asked for."""

LONGEST_REQUEST = 2**26
"""Bytes: a command's environment may have megabytes, and JSON makes six of one."""


@dataclass(eq=False)
class User:
    """A user of the lab: its connection, the servers it owns, the warm Sparks it has taken."""

    requests: asyncio.StreamReader
    replies: asyncio.StreamWriter
    asked: int = 0
    pid: int = 0
    role: str = "?"
    owned: set[psutil.Process] = field(default_factory=set)
    sparks: list[Spare] = field(default_factory=list)
    scratch: Path | None = None

    def say(self, **message: Any) -> None:
        if not self.replies.is_closing():
            self.replies.write(json.dumps({"id": self.asked, **message}).encode() + b"\n")


class Supervisor:
    """Keeps the users of a lab, and its servers by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.users: set[User] = set()
        self.servers: dict[str, server.Server] = {}
        self.stopped: set[str] = set()
        self.starting = {name: asyncio.Lock() for name in SERVERS}
        self.spares = Spares(folder)
        self.pinned = False
        self.ended = asyncio.Event()
        self.idle: asyncio.TimerHandle | None = None

    async def run(self, listening: Callable[[], None] = lambda: None) -> None:
        """Serve until the last user is gone, `down` is asked for, or a signal comes.

        Calls ``listening`` as soon as users can connect.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            loop.add_signal_handler(number, self.ended.set)
        # Bound under another name first, so that who sees the socket can also connect to it.
        unready = self.folder / "socket.new"
        listener = await asyncio.start_unix_server(self._serve, unready, limit=LONGEST_REQUEST)
        listening()
        unready.rename(self.folder / "socket")
        self._end_when_idle()
        await self.ended.wait()
        (self.folder / "socket").unlink(missing_ok=True)
        listener.close()
        # Each releases its user, and ends a server that it is still starting.
        serving = asyncio.all_tasks() - {asyncio.current_task()}
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
        await asyncio.gather(self.spares.end(), *map(self._end, self.servers))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        user = User(reader, writer)
        self.users.add(user)
        if self.idle:
            self.idle.cancel()
        try:
            async for line in reader:
                with contextlib.suppress(json.JSONDecodeError):  # what Ctrl-C cut short
                    request = json.loads(line)
                    user.asked = request["id"]
                    await self._answer(user, request)
        except (ConnectionError, ValueError):
            pass  # the user is gone, or is none of ours
        finally:
            await self._release(user)

    async def _release(self, user: User) -> None:
        await self._end_owned(user)
        self.users.discard(user)
        if user.scratch and user.scratch not in {other.scratch for other in self.users}:
            shutil.rmtree(user.scratch, ignore_errors=True)
        with contextlib.suppress(ConnectionError):
            user.replies.close()
        self._end_when_idle()

    async def _end_owned(self, user: User) -> None:
        owned, user.owned = user.owned, set()
        ends = (asyncio.to_thread(end_tree, process) for process in owned)
        await asyncio.gather(self._put_back(user, clean=False), *ends)

    async def _put_back(self, user: User, clean: bool) -> None:
        sparks, user.sparks = user.sparks, []
        await asyncio.gather(*(self.spares.put_back(spark, clean) for spark in sparks))
        if sparks:  # else it may be that of another connection of the same process
            (self.folder / taken(user.pid)).unlink(missing_ok=True)

    def _take(self, user: User, request: dict[str, Any]) -> Any:
        spark = self.spares.take(request["fit"], request["memory"])
        if not isinstance(spark, Spare):
            return spark
        user.sparks.append(spark)
        note(self.folder, spark.keeper, taken(user.pid))
        return spark.says(OFFER)

    async def _end(self, name: str) -> None:
        process = self.servers[name].process
        if process.poll() is None:  # else its number may be another's by now
            await asyncio.to_thread(end_tree, psutil.Process(process.pid), SERVERS[name].END)

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
                case "stop":
                    user.say(ok=await self._stop(request["name"]))
                case "start":
                    user.say(ok=await self._start(request["name"], user))
                case "spawn":
                    user.say(ok=self._spawn(user, request))
                case "own":
                    self._own(user, request["pid"])
                    user.say(ok=True)
                case "keep a spare":
                    self.spares.keep(request["env"], request["after"])
                    user.say(ok=True)
                case "take a spare":
                    user.say(ok=self._take(user, request))
                case "put back":
                    await self._put_back(user, request["clean"])
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
                    await self._end_owned(user)
                    user.say(ok=self._status(user))
                case "end":
                    user.say(ok=True)
                    self.ended.set()
                case unknown:
                    user.say(error=f"no such request: {unknown}", kind="WorkbookError")
        except WorkbookError as error:
            user.say(error=str(error), kind=type(error).__name__)
        except OSError as error:  # a full disk, a right that is missing
            user.say(error=f"{error}. Run: python -m workbook doctor", kind="ServerFailed")

    async def _server(self, name: str, user: User) -> str:
        async with self.starting[name]:
            if name in self.stopped:
                raise ServerFailed(
                    f"The lab's {name} was stopped by `python -m workbook stop {name}`. "
                    f"To go on: python -m workbook start {name}"
                )
            return await self._running(name, user)

    async def _running(self, name: str, user: User) -> str:
        """Return the address of a server that runs; one that has ended starts with its data."""
        kind, folder = SERVERS[name], self.folder / name

        def say(text: str) -> None:
            user.say(progress=text)

        known = self.servers.get(name)
        if known is None:
            self.servers[name] = await server.start(kind, folder, say)
        elif known.process.poll() is not None:
            self.servers[name] = await server.resume(kind, folder, known, say)
        return self.servers[name].address

    async def _stop(self, name: str) -> str:
        """End a server for a while; its data stay, and nobody but ``_start`` starts it again."""
        async with self.starting[name]:
            known = self.servers.get(name)
            if known is None or (known.process.poll() is not None and name not in self.stopped):
                raise ServerFailed(f"Expected a running {name} to stop, but it does not run.")
            self.stopped.add(name)
            await self._end(name)
            return known.address

    async def _start(self, name: str, user: User) -> str:
        async with self.starting[name]:
            address = await self._running(name, user)
            self.stopped.discard(name)
            return address

    def _spawn(self, user: User, request: dict[str, Any]) -> int:
        process = spawn(
            request["command"],
            Path(request["log"]),
            env=request["env"],
            cwd=request["cwd"],
            last_wish=signal.SIGTERM,
        )
        self._own(user, process.pid)
        return process.pid

    def _own(self, user: User, pid: int) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):  # it may have ended already
            process = psutil.Process(pid)
            user.owned.add(process)
            note(self.folder, process)

    def _status(self, asking: User) -> dict[str, Any]:
        others = self.users - {asking}
        return {
            "servers": {
                name: running.address
                for name, running in self.servers.items()
                if running.process.poll() is None
            },
            # One that has gone while we answer it uses nothing any more.
            "users": [{"pid": u.pid, "role": u.role} for u in others if not u.requests.at_eof()],
            "ended": {
                name: ended.process.returncode
                for name, ended in self.servers.items()
                if ended.process.poll() is not None and name not in self.stopped
            },
            "stopped": sorted(self.stopped),
            "pinned": self.pinned,
            "spare": self.spares.state,
        }


def main() -> None:
    """Own the lab's run folder, or end at once if another supervisor does.

    Ends with a reason on stderr and an exit code above 0 if it can never own it.
    """
    try:
        folder = folders.run_dir()
        held = folders.claim(folder)
        if held is None:
            return
        try:
            sweep(folder, held)
            (folder / "room").write_bytes(bytes(2**20))  # a full disk had better say so at once
            (folder / "room").unlink()
            asyncio.run(Supervisor(folder).run(lambda: _write_to(folder / "supervisor.log")))
        finally:
            folders.remove(folder, held)
    except WorkbookError as error:
        sys.exit(f"{error}")
    except OSError as error:
        sys.exit(
            f"The lab's folder {folder} cannot be written ({error.strerror}). Free some space "
            "there or make it writable, or set TMPDIR to a writable folder."
        )


def _write_to(log: Path) -> None:
    """Write to a file, because from now on nothing reads this process's output."""
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.close(file)


if __name__ == "__main__":
    main()

"""Keeps a Spark warm for the next process that asks; see ``workbook.spark.spare``."""

import asyncio
import json
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from workbook.stack.process import end_now, family, note, spawn

FREE_BYTES = 6 * 2**30
"""What the machine must have free, or no Spark is kept."""

PAUSE_S = 15.0
"""Whoever has just taken one has the machine for a while, before the next one starts."""

MOST_USES, MOST_WAITING, EXTRA_S = 12, 2, 60.0
"""A Spark ends after twelve users; where two wait, one ends after these seconds."""

OFFER, FIT = "offer", "fit"
"""The files in which a keeper says what its Spark is like, once it runs, and how it is reached."""


@dataclass(eq=False)
class Spare:
    """A Spark that starts or is warm; its keeper is the process that has started it."""

    keeper: psutil.Process
    folder: Path
    uses: int = 0

    def says(self, file: str) -> Any:
        """Return what its keeper has written; None while it hasn't."""
        with suppress(FileNotFoundError):
            return json.loads((self.folder / file).read_text())
        return None

    def lives(self) -> bool:
        """Return False once its keeper has ended, or its Java before it."""
        with suppress(psutil.Error):
            warm = self.says(OFFER) is not None
            for process in (self.keeper, *(self.keeper.children() if warm else [])):
                if process.status() == psutil.STATUS_ZOMBIE:  # nobody has waited for it
                    return False
            return True
        return False

    def hurry(self, at_once: bool) -> None:
        """Let it run as quickly as anybody, or beside everybody else (where Linux can)."""
        with suppress(OSError):
            Path(f"/proc/{self.keeper.pid}/autogroup").write_text("0" if at_once else "15")

    async def end(self) -> None:
        """Kill it, and take its folder along."""
        await asyncio.to_thread(end_now, family(self.keeper))
        shutil.rmtree(self.folder, ignore_errors=True)


class Spares:
    """The Sparks of a lab that are nobody's: one, once ``keep`` was asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.waiting = folder, list[Spare]()
        self._environment: dict[str, str] | None = None
        self._started = 0

    @property
    def state(self) -> str | None:
        """Return ``warm`` or ``starting``; None without one."""
        ready = [spare.says(OFFER) is not None for spare in self.waiting if spare.lives()]
        return None if not ready else "warm" if any(ready) else "starting"

    def keep(self, environment: dict[str, str], after: float) -> None:
        """Keep one from some seconds after now on, with this environment."""
        self._environment = environment
        self._later(after, self._start)

    def take(self, fit: str, memory: int) -> Spare | str | None:
        """Return one that is like ``fit`` and has ``memory`` bytes or more; its user owns it.

        Returns ``wait`` while such a one warms up, None where there is none.
        """
        if self._forget_dead():
            self._later(PAUSE_S, self._start)
        answer = None
        for spare in self.waiting:
            like = spare.says(FIT)
            if not like or like["fit"] != fit or like["memory"] < memory:
                continue
            spare.hurry(True)
            if spare.says(OFFER):
                self.waiting.remove(spare)
                self._later(PAUSE_S, self._start)
                return spare
            answer = "wait"
        return answer

    async def put_back(self, spare: Spare, clean: bool) -> None:
        """Take a Spark that its user has left; it waits again if it is ``clean``."""
        spare.uses += 1
        fresh = spare.uses < MOST_USES and len(self.waiting) < MOST_WAITING and spare.lives()
        if clean and fresh and psutil.virtual_memory().available > FREE_BYTES:
            spare.hurry(False)
            self.waiting.append(spare)
            self._later(EXTRA_S, lambda: asyncio.ensure_future(self._end_extra()))
        else:
            await spare.end()
            self._later(0, self._start)

    async def end(self) -> None:
        """End those that wait, and start no more."""
        self._environment = None
        await asyncio.gather(*(spare.end() for spare in self.waiting))

    async def _end_extra(self) -> None:
        while len(self.waiting) > 1:
            await self.waiting.pop(0).end()

    def _forget_dead(self) -> bool:
        """Forget those that have died, and return whether there were any."""
        found = [spare for spare in self.waiting if not spare.lives()]
        for dead in found:
            self.waiting.remove(dead)
            with suppress(psutil.Error):
                dead.keeper.kill()
            shutil.rmtree(dead.folder, ignore_errors=True)
        return bool(found)

    def _later(self, seconds: float, work: Any) -> None:
        asyncio.get_running_loop().call_later(seconds, work)

    def _start(self) -> None:
        self._forget_dead()
        enough = psutil.virtual_memory().available > FREE_BYTES
        if self.waiting or self._environment is None or not enough:
            return
        self._started += 1
        folder = self.folder / f"spare-{self._started}"
        folder.mkdir()
        command = [sys.executable, "-m", "workbook.spark.spare", str(folder)]
        started = spawn(command, folder / "keeper.log", env=self._environment, cwd="/")
        spare = Spare(psutil.Process(started.pid), folder)
        note(self.folder, spare.keeper)
        spare.hurry(False)
        self.waiting.append(spare)

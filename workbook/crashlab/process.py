"""One process of the crash lab, seen from outside."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from workbook.crashlab.points import NOTE, READ, WARM, Plan, kill_family
from workbook.crashlab.report import BY_HAND
from workbook.spark.failures import cause, known
from workbook.stack.folders import ROOT


class Victim:
    """A pipeline in a process of its own; it dies with the process that made it.

    What it says goes to ``log`` in the plan's folder, behind what its predecessors said.
    """

    def __init__(self, plan: Plan) -> None:
        self._folder = Path(plan.folder)
        for note in (NOTE, READ, WARM):
            (self._folder / note).unlink(missing_ok=True)
        env = {**os.environ, "SPARK_DRIVER_MEMORY": "1g"}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH")]))
        env.pop("SPARK_MASTER", None)  # what is to be killed must run here
        with (self._folder / "log").open("ab") as log:
            self._said_before = log.tell()
            self._process = subprocess.Popen(
                [sys.executable, "-m", "workbook.crashlab"],
                stdin=subprocess.PIPE,  # its closing is how the process hears of our end
                stdout=log,
                stderr=subprocess.STDOUT,
                env=env,
                cwd=self._folder,
                start_new_session=True,
            )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended at once: its exit code will tell
            self._process.stdin.write(plan.to_json())
            self._process.stdin.flush()

    @property
    def code(self) -> int | None:
        """Return the exit code; None while it runs."""
        return self._process.poll()

    @property
    def kill_note(self) -> tuple[float, str] | None:
        """Return when (seconds since 1970) and where the lab killed it; else None."""
        if self.code != -signal.SIGKILL:
            return None
        with suppress(OSError, ValueError):  # no note, or one cut off
            at, _, point = (self._folder / NOTE).read_text().partition(" ")
            return float(at), point
        return None

    def kill(self) -> None:
        """kill -9 to it and to all that it has started; returns when it is dead."""
        if self.code is None:
            kill_family(self._process.pid, self._folder, BY_HAND)
            self._process.wait()
        assert self._process.stdin is not None
        with suppress(OSError):
            self._process.stdin.close()

    def ended(self, within: float) -> bool:
        """Wait for its end; return False if it still runs after these seconds."""
        try:
            self._process.wait(within)
        except subprocess.TimeoutExpired:
            return False
        return True

    def last_words(self) -> str:
        """Return the cause of its end, what to do where that is known, else its last lines, too."""
        log = self._folder / "log"
        said = log.read_bytes()[self._said_before :] if log.exists() else b""
        end = said.decode(errors="replace").splitlines()[-400:]
        text = "\n".join(end)
        if "Traceback" in text:  # below it Spark prints the query's plan
            end = known(text).splitlines() or [cause(text), "...", *end[-8:]]
        return "\n".join(f"  {line}" for line in end[-10:]) or "  nothing"

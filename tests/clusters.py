"""A standalone Spark cluster on loopback, whose workers share nothing with this checkout.

They run as another user, with a Python and packages of their own, in a mount namespace in which
the checkout is an empty folder. Only one folder is for both, as a mounted one would be.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from labs import until

from workbook.stack.folders import ROOT
from workbook.stack.java import find_java
from workbook.stack.process import end_now, family

NOBODY = 65534
MARK = "WORKBOOK_TEST_CLUSTER"
HIDDEN = 'mount -t tmpfs -o mode=0700 none "$0" && exec "$@"'
# By way of env: setpriv itself has root's capabilities up to its exec, and may run any file.
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env")
APART = ("unshare", "--mount", "--propagation", "private", "sh", "-c", HIDDEN, str(ROOT))


def unfit() -> str:
    """Why no such cluster can run here; empty where it can."""
    if sys.platform != "linux" or os.getuid() != 0:
        return "only root on Linux may start processes as another user"
    if subprocess.run([*APART, *AS_NOBODY, "true"], capture_output=True).returncode:
        return "the checkout cannot be hidden: no mount namespaces here"
    return "" if python() else "no Python of this version that another user may run"


def python() -> str | None:
    """A Python of this version which another user may run."""
    name = f"python3.{sys.version_info.minor}"
    others = shutil.which(name, path="/usr/bin:/usr/local/bin")
    for found in (os.path.realpath(sys.executable), others):
        command = [*AS_NOBODY, str(found), "-c", ""]
        if found and not subprocess.run(command, capture_output=True).returncode:
            return found
    return None


@contextmanager
def environment() -> Iterator[Path]:
    """A folder that all may read, with the packages of requirements.lock in ``venv``."""
    with tempfile.TemporaryDirectory(prefix="workbook-cluster-") as folder:
        os.chmod(folder, 0o755)
        venv, uv = Path(folder) / "venv", shutil.which("uv", path=str(Path(sys.executable).parent))
        interpreter = str(venv / "bin" / "python")
        locked = ("--require-hashes", "-r", str(ROOT / "requirements.lock"))
        for command in (
            [uv, "venv", "--quiet", "--python", python(), str(venv)],
            [uv, "pip", "install", "--quiet", "--python", interpreter, *locked],
        ):
            subprocess.run(command, check=True, timeout=600)
        yield Path(folder)


class Cluster:
    """A master and its workers, each with a core; ``folder`` has their environment in ``venv``."""

    def __init__(self, folder: Path) -> None:
        self.token = secrets.token_hex(4)
        self.python = folder / "venv" / "bin" / "python"
        self.home = folder / self.token
        self.shared = self.home / "shared"
        self._spark = self.home / "spark"
        for made in (self.home, self.shared):
            made.mkdir()
            os.chown(made, NOBODY, NOBODY)
        self.master, self._log = "", self.home / "master.log"
        self.workers: list[subprocess.Popen[bytes]] = []
        [jars] = folder.glob("venv/lib/python3*/site-packages/pyspark")
        self._command = jars / "bin" / "spark-class"

    def start(self, workers: int = 2) -> None:
        """Start the master, then the workers; wait until all have found it."""
        self._start("master", "--port", "0")
        until(lambda: self._said("master", r"Starting Spark master at (\S+)"), "the master")
        self.master = self._said("master", r"Starting Spark master at (\S+)")
        for number in range(workers):
            limits = ("-c", "1", "-m", "1g", "-d", str(self.home / "work"))
            self.workers.append(self._start("worker", *limits, self.master, log=f"worker{number}"))
        for number in range(workers):
            registered = r"(Successfully registered) with master"
            until(lambda: self._said(f"worker{number}", registered), "a worker")  # noqa: B023

    def _start(self, role: str, *words: str, log: str | None = None) -> subprocess.Popen[bytes]:
        kind = f"org.apache.spark.deploy.{role}.{role.capitalize()}"
        command = (str(self._command), kind, "--host", "127.0.0.1", "--webui-port", "0", *words)
        with (self.home / f"{log or role}.log").open("wb") as output:
            return subprocess.Popen(
                [*APART, *AS_NOBODY, *command],
                env=self._environment(),
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def _environment(self) -> dict[str, str]:
        """Nothing of ours."""
        return {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": str(self.home),
            "JAVA_HOME": str(find_java().command.resolve().parents[1]),
            "SPARK_HOME": str(self._command.parents[1]),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self.home / "local"),
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_MASTER_OPTS": "-Dspark.master.rest.enabled=false",
            MARK: self.token,
        }

    def _said(self, log: str, pattern: str) -> str:
        found = re.search(pattern, (self.home / f"{log}.log").read_text())
        return found.group(1) if found else ""

    def can_read(self, path: Path) -> bool:
        """True if a process of the cluster could read a file or folder."""
        look = f"import os, sys; sys.exit(not os.access({str(path)!r}, os.R_OK))"
        return not subprocess.run([*APART, *AS_NOBODY, str(self.python), "-c", look]).returncode

    def kill_worker(self) -> None:
        """SIGKILL to a worker with all that it has started, as when its machine loses power."""
        worker = self.workers.pop()
        end_now(family(worker.pid))
        worker.wait()

    def processes(self) -> list[psutil.Process]:
        """All of its living processes: master, workers, executors, their Pythons."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                living = process.status() != psutil.STATUS_ZOMBIE
                if living and process.environ().get(MARK) == self.token:
                    found.append(process)
        return found

    def executors(self) -> list[psutil.Process]:
        """The executors that run now."""
        return [p for p in self.processes() if any("CoarseGrained" in w for w in p.cmdline())]


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster that is ended, whatever happened."""
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        end_now(made.processes())
        shutil.rmtree(made.home, ignore_errors=True)

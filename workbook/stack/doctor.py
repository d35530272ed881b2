"""Checks what could keep the lab from working; each finding has its fix in one line."""

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import psutil

from workbook.errors import SparkFailed, WorkbookError
from workbook.stack import addresses, client, folders, jars, ports
from workbook.stack.java import find_java
from workbook.stack.server import shown
from workbook.stack.supervisor import SERVERS

ANSWER_WITHIN = 3.0
"""Seconds for the supervisor and for each server, while the doctor waits."""

NEWEST_JAVA = 21
"""The newest that Spark promises to run on."""

MEMORY_GB, DISK_GB = 4.0, 3.0
JAVA_WITHIN = 6.0
"""Seconds that Java may take to say its version while the doctor waits."""

MASTERS = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?|local-cluster\[.+\]|yarn|(spark|k8s)://.+"
PACKAGES = ("pyspark", "confluent-kafka", "jupyterlab", "ipywidgets", "matplotlib")
MARKS = {"ok": "✓ ok", "note": "• note", "fault": "✗ fault"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: ``state`` is ok, note or fault; a fault has a ``fix``.

    With a fault the lab does not work; with a note it works, but you should know.
    """

    subject: str
    state: str
    text: str
    fix: str = ""

    def __str__(self) -> str:
        line = f"{MARKS[self.state]:8} {self.subject:12} {self.text}"
        return f"{line}\n{'':21} fix: {self.fix}" if self.fix else line


class Report(list[Finding]):
    """The findings, as text."""

    @property
    def healthy(self) -> bool:
        """Return True if nothing keeps the lab from working."""
        return all(finding.state != "fault" for finding in self)

    def __repr__(self) -> str:
        verdict = (
            "Everything the lab needs is here." if self.healthy else "Fix these problems first."
        )
        return "\n".join([*map(str, self), verdict])


def python() -> Iterator[Finding]:
    """Check that this Python has the packages."""
    running = ".".join(map(str, sys.version_info[:3]))
    missing = [name for name in PACKAGES if not _installed(name)]
    if missing:
        text = f"{', '.join(missing)} is not installed in {sys.executable}"
        yield Finding("Python", "fault", text, "Run `make lab`, or create the conda environment.")
    else:
        yield Finding("Python", "ok", f"{running} at {sys.executable}, with its packages")


def java() -> Iterator[Finding]:
    """Check that there is a Java that can run Spark and Kafka."""
    found = find_java(JAVA_WITHIN, fetch=False)
    text = f"{found.major} at {found.command}"
    if found.fetched:
        text += f", fetched, since {found.fetched}"
    if found.major > NEWEST_JAVA:
        text += " is newer than Spark was tested with"
        yield Finding("Java", "note", text, "If Spark fails, point JAVA_HOME at a JDK 17 or 21.")
    else:
        yield Finding("Java", "ok", text)


def memory() -> Iterator[Finding]:
    """Check that there is memory for a broker, a Spark and a notebook."""
    free = psutil.virtual_memory().available / 2**30
    if free < MEMORY_GB:
        text = f"too little: {free:.1f} GiB free on this machine, {MEMORY_GB:.0f} needed"
        fix = "Close other programs, or start with SPARK_DRIVER_MEMORY=1g."
        yield Finding("memory", "fault", text, fix)
    else:
        yield Finding("memory", "ok", f"{free:.1f} GiB free on this machine")


def spark_memory() -> Iterator[Finding]:
    """Check that ``SPARK_DRIVER_MEMORY`` is a size that Java reads, and that fits this machine."""
    asked, has = os.environ.get("SPARK_DRIVER_MEMORY") or "2g", psutil.virtual_memory().total
    if not 2**29 <= (heap_bytes(asked) or 0) <= has:
        raise SparkFailed(
            f"SPARK_DRIVER_MEMORY is {asked!r}, but Spark needs a whole number with k, m, g or t, "
            f"from 512m to what this machine has ({has / 2**30:.1f} GiB); a number alone means "
            "bytes. Set it to a size like 2g, or unset it."
        )
    spare = None
    with suppress(WorkbookError):  # what keeps the lab from answering is each server's to say
        spare = (client.status(ANSWER_WITHIN) or {}).get("spare")
    kept = f"; the lab's spare Spark is {spare}" if spare else ""
    yield Finding("Spark memory", "ok", f"{asked}, by SPARK_DRIVER_MEMORY{kept}")


def heap_bytes(size: str) -> int | None:
    """Return the bytes of a size as Java reads it; None if it doesn't."""
    parts = re.fullmatch(r"([0-9]{1,18})([kmgt]?)", size.lower())
    return int(parts[1]) * 1024 ** " kmgt".index(parts[2] or " ") if parts else None


def disk() -> Iterator[Finding]:
    """Check that there is room where the lab writes, and that it may write there."""
    for name, folder in (("TMPDIR", folders.run_dir()), ("WORKBOOK_CACHE", folders.cache_dir())):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free / 2**30
        text, state, fix = f"{free:.1f} GiB free in {there}", "ok", ""
        if free < DISK_GB:
            text, state = f"nearly full: {text}, {DISK_GB:.0f} needed", "fault"
            fix = f"Free some space, or point {name} to a disk that has it."
        try:
            tempfile.TemporaryFile(dir=there).close()
        except OSError as error:
            text, state = f"{folder} cannot be written ({error.strerror})", "fault"
            fix = f"Make it writable, or point {name} to a writable folder."
        yield Finding("disk", state, text, fix)


def jar_files() -> Iterator[Finding]:
    """Check that every jar is in the cache and has its recorded sum."""
    needed = jars.needed()
    for group in sorted({jar.group for jar in needed}):
        jars.class_path(group)
    yield Finding("jars", "ok", f"{len(needed)} jars, all sums as recorded")


def require_known(master: str) -> None:
    """Raise ``SparkFailed`` if Spark knows no such kind of cluster."""
    if not re.fullmatch(MASTERS, master):
        raise SparkFailed(
            f"SPARK_MASTER is {master!r}, which Spark does not know. Unset it to use Spark on this "
            "machine, or set it to local[2] or spark://host:7077."
        )


def spark_master() -> Iterator[Finding]:
    """Check that Spark knows ``SPARK_MASTER``, and that a standalone one accepts connections."""
    master = os.environ.get("SPARK_MASTER") or "local[*]"
    require_known(master)
    if master.startswith("spark://"):
        ports.require_master(master)
    yield Finding("Spark master", "ok", master)


def answers(name: str) -> Iterator[Finding]:
    """Check that the server in use lets us in; its own error says what is wrong."""
    kind = SERVERS[name]
    subject, keeps = kind.SUBJECT, kind.KEEPS
    if address := addresses.named(name):
        kind.check(address, ANSWER_WITHIN)
        yield Finding(subject, "ok", f"yours answers at {shown(address)}")
        return
    status: dict[str, Any] = client.status(ANSWER_WITHIN) or {}
    if code := status.get("ended", {}).get(name):
        text = f"the lab's {subject} has ended ({_ending(code)})"
        fix = f"Restart the kernel and run its first cells: they start it again with its {keeps}."
        yield Finding(subject, "fault", text, fix)
    elif name in status.get("stopped", ()):
        text = f"the lab's {subject} was stopped by `workbook stop {name}`; it keeps its {keeps}"
        yield Finding(subject, "note", text, f"To go on: python -m workbook start {name}")
    elif address := status.get("servers", {}).get(name):
        kind.check(address, ANSWER_WITHIN)
        yield Finding(subject, "ok", f"the lab's own answers at {shown(address)}")
    else:
        yield Finding(subject, "ok", "not running: it starts when it is first asked for")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


Check = Callable[[], Iterator[Finding]]
CHECKS: dict[str, Check] = {
    "Python": python,
    "Java": java,
    "memory": memory,
    "Spark memory": spark_memory,
    "disk": disk,
    "jars": jar_files,
    "Spark master": spark_master,
    **{kind.SUBJECT: partial(answers, name) for name, kind in SERVERS.items()},
}
"""Subject to check. Each yields its findings, or raises a ``WorkbookError``, which is a fault."""


def examine() -> Report:
    """Look at everything at once; takes a few seconds, since each check limits its own wait."""
    with ThreadPoolExecutor(len(CHECKS)) as at_once:
        return Report(f for found in at_once.map(look, CHECKS) for f in found)


def look(subject: str) -> list[Finding]:
    """Return what one of the checks finds."""
    try:
        return list(CHECKS[subject]())
    except WorkbookError as error:
        text, _, fix = str(error).partition(". ")
        return [Finding(subject, "fault", text, fix or text)]
    except Exception as error:  # a machine can be wrong in ways that nobody thought of
        text = f"could not be looked at: {type(error).__name__}: {error}"
        fix = "Please report this with the output of: python -m workbook doctor"
        return [Finding(subject, "fault", text, fix)]


def _installed(name: str) -> bool:
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False

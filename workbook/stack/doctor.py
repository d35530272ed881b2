"""Checks what could keep the lab from working; each finding has its fix in one line."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import PackageNotFoundError, version

import psutil

from workbook.errors import WorkbookError
from workbook.stack import folders, jars, server_checks
from workbook.stack.java import find_java
from workbook.stack.report import Finding, Report
from workbook.stack.supervisor import SERVERS

NEWEST_JAVA = 21
"""The newest that Spark promises to run on."""

MEMORY_GB, DISK_GB = 4.0, 3.0
JAVA_WITHIN = 6.0
"""Seconds that Java may take to say its version while the doctor waits."""

LEAST_HEAP_GB = 0.5
"""With less of ``SPARK_DRIVER_MEMORY`` Spark 4.2 refuses to start."""

UNITS_GB = {"": 2**-30, "k": 2**-20, "m": 2**-10, "g": 1, "t": 2**10}
PACKAGES = ("pyspark", "confluent-kafka", "jupyterlab", "ipywidgets", "matplotlib")
ON_THIS_MACHINE = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?|local-cluster\[.+\]"
"""The masters that need no cluster."""


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
    asked = os.environ.get("SPARK_DRIVER_MEMORY", "2g")
    size = re.fullmatch("([0-9]{1,18})([kmgt]?)", asked, re.IGNORECASE)
    heap = int(size[1]) * UNITS_GB[size[2].lower()] if size else 0.0
    text, has = f"SPARK_DRIVER_MEMORY is {asked!r}", psutil.virtual_memory().total / 2**30
    if not size:
        text += ", which Java does not read as a size: a whole number, then k, m, g or t"
    elif heap < LEAST_HEAP_GB:
        text += ", too little for Spark, which needs 512m (a number alone means bytes)"
    elif heap > has:
        text += f", more than this machine has ({has:.1f} GiB)"
    else:
        yield Finding("Spark memory", "ok", f"{asked}, by SPARK_DRIVER_MEMORY")
        return
    yield Finding("Spark memory", "fault", text, "Set it to a size like 2g, or unset it.")


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


def spark_master() -> Iterator[Finding]:
    """Check that Spark knows ``SPARK_MASTER``, and that a standalone one accepts connections."""
    master = os.environ.get("SPARK_MASTER") or "local[*]"
    if re.fullmatch(ON_THIS_MACHINE, master):
        yield Finding("Spark master", "ok", f"{master}: Spark runs on this machine")
    elif master.startswith("spark://"):
        yield server_checks.standalone(master)
    elif master == "yarn" or master.startswith("k8s://"):
        yield Finding("Spark master", "ok", f"{master}: only starting Spark tells if it answers")
    else:
        text = f"SPARK_MASTER is {master!r}, which Spark does not know"
        fix = "Unset it to use Spark on this machine, or set it to local[2] or spark://host:7077."
        yield Finding("Spark master", "fault", text, fix)


Check = Callable[[], Iterator[Finding]]
CHECKS: dict[str, Check] = {
    "Python": python,
    "Java": java,
    "memory": memory,
    "Spark memory": spark_memory,
    "disk": disk,
    "jars": jar_files,
    "Spark master": spark_master,
    "ports": server_checks.ports_free,
    **{kind.SUBJECT: partial(server_checks.answers, name) for name, kind in SERVERS.items()},
}
"""Subject to check. Each yields its findings, or raises a ``WorkbookError``, which is a fault."""


def examine() -> Report:
    """Look at everything at once; takes a few seconds, since each check limits its own wait."""
    with ThreadPoolExecutor(len(CHECKS)) as at_once:
        return Report(f for found in at_once.map(_look, CHECKS.items()) for f in found)


def _look(named: tuple[str, Check]) -> list[Finding]:
    subject, check = named
    try:
        return list(check())
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

"""Checks the machine for the doctor: Python, Java, memory, disk, folders, environment."""

from __future__ import annotations

import errno
import locale
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from zoneinfo import ZoneInfo

import psutil

from workbook.stack import folders
from workbook.stack.java import find_java
from workbook.stack.report import Finding

OLDEST_PYTHON = (3, 11)
NEWEST_JAVA = 21
"""The newest that Spark promises to run on."""

MEMORY_GB = 4.0
DISK_GB = 3.0
JAVA_WITHIN = 6.0
"""Seconds that Java may take to say its version while the doctor waits."""

LEAST_HEAP_GB = 0.5
"""With less of ``SPARK_DRIVER_MEMORY`` Spark 4.2 refuses to start."""

UNITS_GB = {"": 2**-30, "k": 2**-20, "m": 2**-10, "g": 1, "t": 2**10}

CONTAINER = Path("/sys/fs/cgroup")
"""Where Linux says how much memory a container may use."""

OVERRIDDEN = {
    "PYSPARK_PYTHON": "Spark's workers run this Python",
    "PYSPARK_DRIVER_PYTHON": "Spark's driver is this Python",
    "SPARK_HOME": "Spark is the one that this Python has installed",
}
"""Variables that the session sets itself, and what holds instead."""


def python() -> Iterator[Finding]:
    """Check that Python is new enough."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        yield Finding("Python", "fault", f"{version} is too old", "Use Python 3.11 or newer.")
    else:
        yield Finding("Python", "ok", f"{version} at {sys.executable}")


def java() -> Iterator[Finding]:
    """Check that there is a Java that can run Spark and Kafka."""
    found = find_java(JAVA_WITHIN)
    if found.major > NEWEST_JAVA:
        text = f"{found.major} at {found.command} is newer than Spark was tested with"
        yield Finding("Java", "note", text, "If Spark fails, point JAVA_HOME at a JDK 17 or 21.")
    else:
        yield Finding("Java", "ok", f"{found.major} at {found.command}")


def memory() -> Iterator[Finding]:
    """Check that there is memory for a broker, a Spark and a notebook."""
    machine = psutil.virtual_memory().available / 2**30
    free = min(machine, _container_gb("max", inf) - _container_gb("current", 0))
    where = "in this container" if free < machine else "on this machine"
    text = f"{free:.1f} GiB free {where}"
    if free < MEMORY_GB:
        fix = "Close other programs, or start with SPARK_DRIVER_MEMORY=1g."
        yield Finding("memory", "fault", f"too little: {text}, {MEMORY_GB:.0f} needed", fix)
    else:
        yield Finding("memory", "ok", text)


def spark_memory() -> Iterator[Finding]:
    """Check that ``SPARK_DRIVER_MEMORY`` is a size that Java reads, and that fits this machine."""
    asked = os.environ.get("SPARK_DRIVER_MEMORY")
    if not asked:
        yield Finding("Spark memory", "ok", "2g: SPARK_DRIVER_MEMORY is not set")
        return
    size = re.fullmatch("([0-9]{1,18})([kmgt]?)", asked, re.IGNORECASE)
    heap = int(size[1]) * UNITS_GB[size[2].lower()] if size else 0.0
    has = min(psutil.virtual_memory().total / 2**30, _container_gb("max", inf))
    text, fix = f"SPARK_DRIVER_MEMORY is {asked!r}", "Set it to a size like 2g, or unset it."
    if not size:
        text += ", which Java does not read as a size: a whole number, then k, m, g or t"
    elif heap < LEAST_HEAP_GB:
        text += ", too little for Spark, which needs 512m (a number alone means bytes)"
    elif heap > has:
        text += f", more than this machine has ({has:.1f} GiB)"
    else:
        yield Finding("Spark memory", "ok", f"{asked}, by SPARK_DRIVER_MEMORY")
        return
    yield Finding("Spark memory", "fault", text, fix)


def disk() -> Iterator[Finding]:
    """Check that there is room where the lab writes."""
    for name, folder in (("TMPDIR", folders.run_dir()), ("WORKBOOK_CACHE", folders.cache_dir())):
        there = _existing(folder)
        free = shutil.disk_usage(there).free / 2**30
        text = f"{free:.1f} GiB free in {there}"
        if free < DISK_GB:
            fix = f"Free some space, or point {name} to a disk that has it."
            yield Finding("disk", "fault", f"nearly full: {text}, {DISK_GB:.0f} needed", fix)
        else:
            yield Finding("disk", "ok", text)


def cache() -> Iterator[Finding]:
    """Check that the cache can be written."""
    folder = folders.cache_dir()
    yield _unwritable("cache", folder, "WORKBOOK_CACHE") or Finding(
        "cache", "ok", f"{folder} can be written"
    )


def notebooks() -> Iterator[Finding]:
    """Check that the folder of the learner's copies exists or can be made, and can be written."""
    chosen = os.environ.get("WORKBOOK_NOTEBOOKS")
    folder = Path(chosen or folders.ROOT / "my_notebooks").absolute()
    if fault := _unwritable("notebooks", folder, "WORKBOOK_NOTEBOOKS"):
        yield fault
    elif chosen and not folder.exists():
        text = f"{folder} is not there yet: the lab makes it"
        fix = "Nothing to do, or correct WORKBOOK_NOTEBOOKS if your copies are elsewhere."
        yield Finding("notebooks", "note", text, fix)
    else:
        yield Finding("notebooks", "ok", f"your copies go to {folder}, which can be written")


def lab_folders() -> Iterator[Finding]:
    """Check that no folder is another's, or has a name that Java, Spark or a socket refuses."""
    folders.socket_path()
    folders.require_own(folders.run_dir())
    # A class path is split at colons, Spark's list of jars at commas: neither knows an escape.
    for name, folder in (("WORKBOOK_CACHE", folders.cache_dir()), ("TMPDIR", folders.run_dir())):
        if any(sign in str(folder) for sign in ",:"):
            text = f"{folder} has a comma or a colon in its name, where Java and Spark split lists"
            fix = f"Point {name} to a folder without them (blanks and umlauts are fine)."
            yield Finding("folders", "fault", text, fix)
            return
    yield Finding("folders", "ok", f"the lab is in {folders.ROOT} and works in {folders.run_dir()}")


def time_zone() -> Iterator[Finding]:
    """Check that the time zone exists; Spark's session is on UTC whatever it is."""
    zone = os.environ.get("TZ", "").lstrip(":")
    offset = time.localtime().tm_gmtoff
    if zone and not _is_zone(zone):
        text = f"TZ is {zone}, which names no time zone: programs take it for UTC"
        yield Finding("time zone", "note", text, "Unset TZ, or set it to one like Europe/Berlin.")
    elif offset:
        text = (
            f"this machine is {offset / 3600:+g} h from UTC ({zone or time.tzname[0]}), the lab is "
            "on UTC: its clock times differ from yours by that much"
        )
        yield Finding("time zone", "note", text)
    else:
        yield Finding("time zone", "ok", "UTC, as in the lab")


def language() -> Iterator[Finding]:
    """Check that the locale can write every letter; the lab's own servers do not depend on it."""
    chosen = next(
        (f"{n}={os.environ[n]}" for n in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(n)),
        "LANG is not set",
    )
    encoding = locale.getencoding()
    own = [
        f for f in (folders.ROOT, folders.run_dir(), folders.cache_dir()) if not str(f).isascii()
    ]
    if own and sys.getfilesystemencoding() != "utf-8":
        text = f"Python takes names of files for {encoding} ({chosen}), but {own[0]} has an umlaut"
        yield Finding("locale", "fault", text, "export LC_ALL=C.UTF-8, and unset PYTHONUTF8.")
    elif encoding.upper().replace("-", "") == "UTF8":
        yield Finding("locale", "ok", f"{chosen}, {encoding}")
    else:
        text = f"{chosen} is not installed here or knows no umlauts ({encoding}, not UTF-8)"
        yield Finding("locale", "note", text, "export LC_ALL=C.UTF-8")


def environment() -> Iterator[Finding]:
    """Check that no variable points Spark elsewhere; the session overrides those that do."""
    import pyspark

    right = {"SPARK_HOME": str(Path(pyspark.__file__).parent)}
    elsewhere = {
        name: os.environ[name]
        for name in OVERRIDDEN
        if os.environ.get(name) not in (None, "", right.get(name, sys.executable))
    }
    if not (os.environ.get("SPARK_MASTER") or "local").startswith("local"):
        elsewhere.pop("PYSPARK_PYTHON", None)  # a cluster's workers have a Python of their own
    for name, value in elsewhere.items():
        text = f"{name} points to {value}, and the lab ignores it: {OVERRIDDEN[name]}"
        yield Finding("environment", "note", text, f"unset {name}")
    if not elsewhere:
        yield Finding("environment", "ok", "no variable points Spark elsewhere")


def _container_gb(figure: str, otherwise: float) -> float:
    """Return a container's memory ``max`` or ``current`` use in GiB, else ``otherwise``."""
    try:
        return int((CONTAINER / f"memory.{figure}").read_text()) / 2**30
    except (OSError, ValueError):
        return otherwise


def _unwritable(subject: str, folder: Path, name: str) -> Finding | None:
    """Return a fault if nothing can be written to a folder, which the variable ``name`` moves."""
    try:
        with tempfile.TemporaryFile(dir=_existing(folder)):
            return None
    except OSError as error:
        fix = f"Make it writable, or set {name} to a folder that is."
        if error.errno == errno.ENOSPC:
            fix = f"Free some space, or set {name} to a disk that has it."
        text = f"{folder} cannot be written ({error.strerror})"
        return Finding(subject, "fault", text, fix)


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


def _is_zone(name: str) -> bool:
    # Rules in the manner of POSIX (CET-1CEST) are rare: digits tell them from a name.
    try:
        return any(c.isdigit() for c in name) or bool(ZoneInfo(name))
    except (OSError, ValueError, LookupError):
        return False

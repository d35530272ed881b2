"""Checks the lab for the doctor: jars, network, Spark, supervisor, and leftovers."""

from __future__ import annotations

import os
import re
import shlex
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from workbook.errors import JarsMissing, ServerFailed
from workbook.kafka import protocol
from workbook.stack import client, folders, jars, started
from workbook.stack.report import Finding

ANSWER_WITHIN = 3.0
"""Seconds for the supervisor and for the broker, while the doctor waits."""

STARTS = "not running: it starts when it is first asked for"
DOWN = "python -m workbook down"

ON_THIS_MACHINE = r"local(\[(\*|[1-9]\d*)(\s*,\s*\d+)?\])?|local-cluster\[.+\]"
"""The masters that need no cluster."""


def jar_files() -> Iterator[Finding]:
    """Check that every jar is in the cache and has its recorded sum."""
    later = [jar for jar in jars.locked(jars.ON_DEMAND) if not jar.path.exists()]
    groups = {jar.group for jar in jars.locked()} - {jar.group for jar in later}
    for group in sorted(groups):
        jars.class_path(group)
    yield Finding("jars", "ok", f"{len(jars.locked()) - len(later)} jars, all sums as recorded")
    if later:
        text = f"the schema registry ({jars.megabytes(later)} MB) is fetched at its first use"
        fix = "Nothing to do, or fetch it now: python -m workbook prefetch"
        yield Finding("jars", "note", text, fix)


def network() -> Iterator[Finding]:
    """Check the network as long as it is needed: until all jars are there."""
    missing = jars.missing()
    if not missing:
        text = "not needed: all jars are in the cache"
        yield Finding("network", "ok", text)
        return
    try:
        with tempfile.TemporaryDirectory() as scratch:
            _find(missing[0], Path(scratch))
    except JarsMissing as error:
        text = f"the jars' repository cannot be reached, and {len(missing)} jars are still missing"
        yield Finding("network", "fault", text, str(error).partition("? ")[2])
    else:
        yield Finding("network", "ok", "the jars' repository answers")


def spark_master() -> Iterator[Finding]:
    """Check that Spark knows ``SPARK_MASTER``, and that a standalone one accepts connections."""
    master = os.environ.get("SPARK_MASTER") or "local[*]"
    if re.fullmatch(ON_THIS_MACHINE, master):
        yield Finding("Spark master", "ok", f"{master}: Spark runs on this machine")
    elif master.startswith("spark://"):
        yield _standalone(master)
    elif master == "yarn" or master.startswith("k8s://"):
        text = f"{master}: whether that cluster answers, only starting Spark can tell"
        yield Finding("Spark master", "note", text, "Nothing to do, unless Spark does not start.")
    else:
        text = f"SPARK_MASTER is {master!r}, which Spark does not know"
        fix = "Unset it to use Spark on this machine, or set it to local[2] or spark://host:7077."
        yield Finding("Spark master", "fault", text, fix)


def supervisor() -> Iterator[Finding]:
    """Check that the servers' supervisor answers, and runs the versions of this checkout."""
    status = client.status(ANSWER_WITHIN)
    if status is None:
        yield Finding("supervisor", "ok", STARTS)
    elif status.get("jars") != jars.fingerprint():
        text = "the lab that runs was started by another version of the workbook, with other jars"
        fix = f"End it and open the lab again: {DOWN}"
        yield Finding("supervisor", "note", text, fix)
    else:
        users = ", ".join(f"{u['role']} ({u['pid']})" for u in _others(status["users"]))
        yield Finding("supervisor", "ok", f"runs for {users or 'nobody else now'}")


def other_labs() -> Iterator[Finding]:
    """Note other labs that run on this machine now: they share its memory and its cores."""
    mine = folders.run_dir()
    others = [f for f in mine.parent.glob(f"workbook-{os.getuid()}-*") if f != mine]
    running = [folder for folder in others if _is_own(folder) and _listens(folder)]
    for folder in running:
        text = f"another lab runs too, in {folder}: both work, but share memory and cores"
        yield Finding("other labs", "note", text, end_lab(folder))
    if not running:
        yield Finding("other labs", "ok", "none is running")


def leftovers() -> Iterator[Finding]:
    """Check that nothing is left of a lab, or of a process, that was killed."""
    folder = folders.run_dir()
    running = client.status(ANSWER_WITHIN) is not None
    found = [] if running else list(_of_a_killed_lab(folder))
    found += _of_killed_processes(folder)
    yield from found or [Finding("leftovers", "ok", "none")]


def _of_a_killed_lab(folder: Path) -> Iterator[Finding]:
    if (folder / "socket").exists():
        text = (
            f"a stale lock: {folder / 'socket'} is of a supervisor that was killed; "
            "it stops nobody, the next lab removes it"
        )
        yield Finding("leftovers", "note", text, DOWN)
    elif folder.exists():
        text = f"the folder {folder} of a lab that was killed"
        yield Finding("leftovers", "note", text, DOWN)
    for stray in started.alive(folder):
        text = f"process {stray.pid} of a lab that was killed still runs"
        yield Finding("leftovers", "note", text, DOWN)


def _of_killed_processes(folder: Path) -> Iterator[Finding]:
    for scratch in folder.glob("user-*"):
        pid = scratch.name.removeprefix("user-")
        if pid.isdigit() and not psutil.pid_exists(int(pid)):
            queries = sorted(path.name for path in scratch.glob("checkpoints/*"))
            what = f"stale checkpoints ({', '.join(queries)})" if queries else "stale files"
            text = f"{what} of process {pid}, which has ended, in {scratch}: nothing reads them"
            yield Finding("leftovers", "note", text, DOWN)


def end_lab(folder: Path) -> str:
    """Return the advice that ends another lab."""
    name = folder.name.removeprefix(f"workbook-{os.getuid()}-")
    return f"To end it: WORKBOOK_LAB={shlex.quote(name)} {DOWN}"


def _others(users: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield who uses the lab besides this process, without those who only ask for its status."""
    return (u for u in users if u["pid"] != os.getpid() and u["role"] not in ("probe", "?"))


def _standalone(master: str) -> Finding:
    away = []
    for place in master.removeprefix("spark://").split(","):
        address = protocol.host_and_port(place)
        try:
            if address:
                protocol.connect(*address).close()
                return Finding("Spark master", "ok", f"{place} accepts connections")
            away.append(f"{place!r} is not host:port")
        except OSError as error:
            away.append(str(error))
    text = f"no Spark master answers at {master} ({', '.join(away)})"
    fix = "Check SPARK_MASTER and that the master runs, or unset it to use Spark on this machine."
    return Finding("Spark master", "fault", text, fix)


def _is_own(folder: Path) -> bool:
    """Return True if a lab of this user is there, and not what somebody put under its name."""
    try:
        folders.require_own(folder)
    except ServerFailed:
        return False
    return True


def _listens(folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe, suppress(OSError):
        probe.settimeout(1)
        probe.connect(str(folder / "socket"))
        return True
    return False


def _find(jar: jars.Jar, scratch: Path) -> None:
    """Ask the repository where a jar is, without waiting for the jar; raises ``JarsMissing``."""
    for line in jars.resolve(jars.ivy_module([jar.coordinate], transitive=False), scratch):
        if line.strip().startswith("found "):
            return

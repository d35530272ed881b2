"""What could keep the lab from working, each finding with its fix in one line."""

from __future__ import annotations

import html
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import psutil

from workbook.errors import WorkbookError
from workbook.stack import broker, client, home, jars, kafka, ports
from workbook.stack.java import find_java
from workbook.stack.process import leftovers

OLDEST_PYTHON = (3, 11)
MEMORY_GB = 4.0
DISK_GB = 3.0

MARKS = {"ok": "✓ ok", "note": "• note", "fault": "✗ fault"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: ``state`` is ok, note or fault; a fault has a ``fix``."""

    subject: str
    state: str
    said: str
    fix: str = ""


class Report(list[Finding]):
    """The findings, as text in a terminal and as a table in a notebook."""

    @property
    def healthy(self) -> bool:
        """Whether nothing was found that keeps the lab from working."""
        return all(finding.state != "fault" for finding in self)

    def __str__(self) -> str:
        lines = []
        for f in self:
            lines.append(f"{MARKS[f.state]:8} {f.subject:9} {f.said}")
            if f.fix:
                lines.append(f"{'':18} fix: {f.fix}")
        verdict = "Everything the lab needs is here." if self.healthy else "Mend the faults first."
        return "\n".join([*lines, verdict])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{MARKS[f.state]}</td><td>{f.subject}</td>"
            f"<td style='text-align:left'>{html.escape(f.said)}"
            + (f"<br><b>fix:</b> {html.escape(f.fix)}" if f.fix else "")
            + "</td></tr>"
            for f in self
        )
        verdict = "Everything the lab needs is here." if self.healthy else "Mend the faults first."
        return (
            "<table><caption>What the doctor looked at</caption>"
            "<tr><th>state</th><th>subject</th><th style='text-align:left'>finding</th></tr>"
            f"{rows}</table><p>{verdict}</p>"
        )


def examine() -> Report:
    """Look at everything at once; takes a few seconds at most."""
    with ThreadPoolExecutor(len(CHECKS)) as pool:
        return Report(pool.map(lambda check: _guarded(*check), CHECKS.items()))


def _guarded(subject: str, check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except WorkbookError as error:
        said, _, fix = str(error).partition(". ")
        return Finding(subject, "fault", said, fix or said)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < OLDEST_PYTHON:
        return Finding("Python", "fault", f"{version} is too old", "Use Python 3.11 or newer.")
    return Finding("Python", "ok", f"{version} at {sys.executable}")


def _java() -> Finding:
    java = find_java()
    return Finding("Java", "ok", f"{java.major} at {java.command}")


def _memory() -> Finding:
    free = psutil.virtual_memory().available / 2**30
    if free < MEMORY_GB:
        return Finding(
            *("memory", "fault", f"{free:.1f} GiB free, {MEMORY_GB:.0f} needed"),
            "Close other programs, or start with SPARK_DRIVER_MEMORY=1g.",
        )
    return Finding("memory", "ok", f"{free:.1f} GiB free")


def _disk() -> Finding:
    poor = []
    for folder in (home.run_dir().parent, _existing(home.cache_dir())):
        free = shutil.disk_usage(folder).free / 2**30
        if free < DISK_GB:
            poor.append(f"{free:.1f} GiB free in {folder}, {DISK_GB:.0f} needed")
    if poor:
        fix = "Free some space, or point TMPDIR and WORKBOOK_CACHE to a disk that has it."
        return Finding("disk", "fault", "; ".join(poor), fix)
    return Finding("disk", "ok", f"{free:.0f} GiB free")


def _ports() -> Finding:
    if broker.external():
        return Finding("ports", "ok", "not needed: KAFKA_BOOTSTRAP_SERVERS is set")
    if ports.is_free(kafka.PORT):
        return Finding("ports", "ok", f"{kafka.PORT} is free")
    if client.is_running():
        return Finding("ports", "ok", f"{kafka.PORT} is in use, and this lab is running")
    said = f"{kafka.PORT} is taken by another program: Kafka will use another free port"
    return Finding("ports", "note", said)


def _jars() -> Finding:
    for group in sorted({jar.group for jar in jars.locked()}):
        jars.class_path(group)
    return Finding("jars", "ok", f"{len(jars.locked())} jars, all sums as recorded")


def _broker() -> Finding:
    named = broker.external()
    if named:
        named.check()
        return Finding("broker", "ok", f"yours answers at {named.bootstrap}")
    if not client.is_running():
        return Finding("broker", "ok", "not running: it starts when it is first asked for")
    probe = client.Lease("doctor", start=False)
    address = probe.ask("status")["servers"].get("kafka")
    probe.close()
    if address is None:
        return Finding("broker", "ok", "not running: it starts when it is first asked for")
    broker.Broker(address, ours=True).check()
    return Finding("broker", "ok", f"the lab's own answers at {address}")


def _leftovers() -> Finding:
    if client.is_running():
        return Finding("leftovers", "ok", "none: the lab is running")
    strays, folder = leftovers(home.run_dir()), home.run_dir()
    if strays or folder.exists():
        said = f"{len(strays)} processes and the folder {folder} of a lab that was killed"
        return Finding("leftovers", "note", said, "python -m workbook down")
    return Finding("leftovers", "ok", "none")


def _existing(folder: Path) -> Path:
    while not folder.exists():
        folder = folder.parent
    return folder


CHECKS: dict[str, Callable[[], Finding]] = {
    "Python": _python,
    "Java": _java,
    "memory": _memory,
    "disk": _disk,
    "ports": _ports,
    "jars": _jars,
    "broker": _broker,
    "leftovers": _leftovers,
}

"""Checks for the doctor whether the servers in use answer, and who has their ports."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from workbook.errors import ServerFailed
from workbook.kafka import protocol
from workbook.stack import addresses, broker, client, folders, ports
from workbook.stack.lab_checks import ANSWER_WITHIN, STARTS, end_lab
from workbook.stack.report import Finding
from workbook.stack.server import Kind, shown
from workbook.stack.supervisor import SERVERS


def ports_free() -> Iterator[Finding]:
    """Check that the usual port of each server is free; if not, find who has it."""
    own = {name: kind for name, kind in SERVERS.items() if not os.environ.get(kind.VARIABLE)}
    taken = {name: kind for name, kind in own.items() if not ports.is_free(kind.PORT)}
    free = [str(kind.PORT) for name, kind in own.items() if name not in taken]
    if free or not own:
        text = f"free: {', '.join(free)}" if free else "not needed: you name all servers yourself"
        yield Finding("ports", "ok", text)
    for name, kind in taken.items():
        yield _holder(name, kind)


def kafka_answers() -> Iterator[Finding]:
    """Check that the broker in use answers, lets us in, and has a version the lab works with."""
    named = broker.external()
    if not named:
        own = _own("broker", "kafka", lambda a: broker.Broker(a, ours=True).check(ANSWER_WITHIN))
        yield own
        return
    wants_tls = "SSL" in named.security.get("security.protocol", "").split("_")
    if wants_tls:  # then `check` leaves it to the client, whose words are less plain
        protocol.reach(named.bootstrap, ANSWER_WITHIN / 2)[0].close()
    named.check(ANSWER_WITHIN)
    if not wants_tls:
        protocol.require_new_enough(named.bootstrap, ANSWER_WITHIN)
    yield Finding("broker", "ok", f"yours answers at {named.bootstrap}")


def registry_answers() -> Iterator[Finding]:
    """Check that the schema registry in use answers."""
    yield _named_or_own("registry", "registry", addresses.check_registry)


def database_answers() -> Iterator[Finding]:
    """Check that the database in use lets us in."""
    yield _named_or_own("database", "postgres", addresses.check_database)


def _named_or_own(subject: str, name: str, check: Callable[[str, float], None]) -> Finding:
    if named := os.environ.get(SERVERS[name].VARIABLE):
        check(named, ANSWER_WITHIN)
        return Finding(subject, "ok", f"yours answers at {shown(named)}")
    return _own(subject, name, lambda address: check(address, ANSWER_WITHIN))


def _own(subject: str, name: str, check: Callable[[str], None]) -> Finding:
    """Return the state of the lab's own server; raise the error of its check if it is stuck."""
    status: dict[str, Any] = client.status(ANSWER_WITHIN) or {"servers": {}, "ended": {}}
    keeps = SERVERS[name].KEEPS
    if code := status["ended"].get(name):
        text = f"the lab's {subject} has ended ({_ending(code)})"
        fix = f"Restart the kernel and run its first cells: they start it again with its {keeps}."
        return Finding(subject, "fault", text, fix)
    if name in status.get("stopped", ()):
        text = f"the lab's {subject} was stopped by `workbook stop {name}`; it keeps its {keeps}"
        return Finding(subject, "note", text, f"To go on: python -m workbook start {name}")
    if address := status["servers"].get(name):
        check(address)
        return Finding(subject, "ok", f"the lab's own answers at {shown(address)}")
    return Finding(subject, "ok", STARTS)


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


def _holder(name: str, kind: Kind) -> Finding:
    """Say who has the port of a server: this lab, another one, or a stranger."""
    holder = next(_listeners(kind.PORT), None)
    lab = _run_folder(holder)
    if lab == folders.run_dir():
        return Finding("ports", "ok", f"{kind.PORT} is this lab's own")
    ours = _own_address(name)
    moved = f"{kind.NAME} runs at {ours} instead" if ours else f"{kind.NAME} will use a free one"
    if lab:
        text = f"{kind.PORT} is taken by an older lab, in {lab}: {moved}"
        return Finding("ports", "note", text, end_lab(lab))
    who = f"{holder.name()} (process {holder.pid})" if holder else "a program that is not yours"
    text = f"{kind.PORT} is taken by another program, {who}: {moved}"
    return Finding(
        "ports", "note", text, f"Nothing to do, or end that program to have {kind.PORT}."
    )


def _own_address(name: str) -> str | None:
    """Return where the lab's own server is, as it may be shown, if the supervisor knows one."""
    with suppress(ServerFailed):  # the check of the supervisor says so
        address = ((client.status(ANSWER_WITHIN) or {}).get("servers") or {}).get(name)
        return shown(address) if address else None
    return None


def _listeners(port: int) -> Iterator[psutil.Process]:
    with suppress(psutil.Error):  # without rights one sees no other user's connections
        for c in psutil.net_connections("tcp"):
            if c.pid and c.status == psutil.CONN_LISTEN and c.laddr.port == port:
                yield psutil.Process(c.pid)


def _run_folder(server: psutil.Process | None) -> Path | None:
    """Return the run folder of the lab in which a server works, or None."""
    with suppress(psutil.Error):
        works_in = Path(server.cwd() if server else "/")
        own = f"workbook-{os.getuid()}-"
        return next((p for p in works_in.parents if p.name.startswith(own)), None)
    return None

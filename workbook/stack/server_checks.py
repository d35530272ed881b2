"""Checks for the doctor whether the servers in use answer, and who has their ports."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from workbook.errors import ServerFailed
from workbook.kafka import protocol
from workbook.stack import addresses, client, ports
from workbook.stack.report import Finding
from workbook.stack.server import Kind, shown
from workbook.stack.supervisor import SERVERS

ANSWER_WITHIN = 3.0
"""Seconds for the supervisor and for each server, while the doctor waits."""


def ports_free() -> Iterator[Finding]:
    """Check that the usual port of each server is free; if not, say what runs where instead."""
    own = {name: kind for name, kind in SERVERS.items() if not os.environ.get(kind.VARIABLE)}
    taken = {name: kind for name, kind in own.items() if not ports.is_free(kind.PORT)}
    free = [str(kind.PORT) for name, kind in own.items() if name not in taken]
    if free or not own:
        text = f"free: {', '.join(free)}" if free else "not needed: you name all servers yourself"
        yield Finding("ports", "ok", text)
    for name, kind in taken.items():
        yield _taken(name, kind)


def answers(name: str) -> Iterator[Finding]:
    """Check that the server in use lets us in; its own error says what is wrong."""
    kind = SERVERS[name]
    if address := addresses.named(name):
        kind.check(address, ANSWER_WITHIN)
        yield Finding(kind.SUBJECT, "ok", f"yours answers at {shown(address)}")
    else:
        yield _own(kind.SUBJECT, name, kind)


def standalone(master: str) -> Finding:
    """Return whether one of the masters of ``spark://host:port,...`` accepts connections."""
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


def _own(subject: str, name: str, kind: Kind) -> Finding:
    """Return the state of the lab's own server; raise the error of its check if it is stuck."""
    status: dict[str, Any] = client.status(ANSWER_WITHIN) or {"servers": {}, "ended": {}}
    keeps = kind.KEEPS
    if code := status["ended"].get(name):
        text = f"the lab's {subject} has ended ({_ending(code)})"
        fix = f"Restart the kernel and run its first cells: they start it again with its {keeps}."
        return Finding(subject, "fault", text, fix)
    if name in status.get("stopped", ()):
        text = f"the lab's {subject} was stopped by `workbook stop {name}`; it keeps its {keeps}"
        return Finding(subject, "note", text, f"To go on: python -m workbook start {name}")
    if address := status["servers"].get(name):
        kind.check(address, ANSWER_WITHIN)
        return Finding(subject, "ok", f"the lab's own answers at {shown(address)}")
    return Finding(subject, "ok", "not running: it starts when it is first asked for")


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    name = signal.Signals(-code).name
    return f"killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")


def _taken(name: str, kind: Kind) -> Finding:
    """Say who listens at the usual port of a server: its own lab's server, or another program."""
    ours = None
    with suppress(ServerFailed):  # the check of the server itself says so
        ours = ((client.status(ANSWER_WITHIN) or {}).get("servers") or {}).get(name)
    if ours and f":{kind.PORT}" in ours:
        return Finding("ports", "ok", f"{kind.PORT} is this lab's own")
    instead = f"runs at {shown(ours)} instead" if ours else "will use a free one"
    text = f"{kind.PORT} is taken by another program: {kind.NAME} {instead}"
    fix = f"Nothing to do, or end that program to have {kind.PORT}."
    return Finding("ports", "note", text, fix)

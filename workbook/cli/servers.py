"""``workbook stop kafka`` and ``workbook start kafka``: an outage, while JupyterLab goes on."""

from __future__ import annotations

import os
from argparse import Namespace

from workbook.cli.console import typed, waiting_for
from workbook.errors import NotOurServer, NotRunning
from workbook.stack import client
from workbook.stack.server import shown
from workbook.stack.supervisor import SERVERS


def stop(options: Namespace) -> None:
    """Stop a server of the lab that runs; its data stay."""
    name = options.server
    with waiting_for(f"Stopping {name}"):
        address = _running_lab("stop", name).ask("stop", name=name)
    print(f"{name} at {shown(address)} has stopped; everything else goes on.")
    print(f"It comes back with its {SERVERS[name].KEEPS} by: {typed()} start {name}")


def start(options: Namespace) -> None:
    """Start the server again, with the same data and on the same port."""
    address = _running_lab("start", options.server).ask("start", name=options.server)
    print(f"{options.server} runs at {shown(address)}.")


def _running_lab(deed: str, name: str) -> client.Lease:
    """Connect to the lab's supervisor, starting nothing; refuse a server that isn't the lab's."""
    variable = SERVERS[name].VARIABLE
    if named := os.environ.get(variable):
        raise NotOurServer(
            f"Will not {deed} {SERVERS[name].NAME} on {shown(named)}: the lab did not start it. "
            f"Unset {variable} to use the lab's own."
        )
    try:
        return client.Lease("command", start=False)
    except NotRunning:
        raise NotRunning(
            f"This lab does not run, and so has no {name}. Run: python -m workbook lab"
        ) from None

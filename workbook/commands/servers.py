"""``workbook stop kafka`` and ``workbook start kafka``: an outage, while JupyterLab goes on."""

from __future__ import annotations

from argparse import Namespace

from workbook.commands.console import typed, waiting_for
from workbook.errors import NotRunning
from workbook.stack import broker, client


def stop(options: Namespace) -> None:
    """Stop a server of the lab that runs; its data stay."""
    with waiting_for(f"Stopping {options.server}"):
        address = _running_lab("stop the broker").ask("stop", name=options.server)
    print(f"{options.server} at {address} has stopped; everything else goes on.")
    print(f"It comes back with its topics by: {typed()} start {options.server}")


def start(options: Namespace) -> None:
    """Start the server again, with the same data and on the same port."""
    address = _running_lab("start the broker").ask("start", name=options.server)
    print(f"{options.server} runs at {address}.")


def _running_lab(deed: str) -> client.Lease:
    """Connect to the lab's supervisor, starting nothing; refuse a broker that isn't the lab's."""
    if named := broker.external():
        named.require_ours(deed)
    try:
        return client.Lease("command", start=False)
    except NotRunning:
        raise NotRunning(
            "This lab does not run, and so has no broker. Run: python -m workbook lab"
        ) from None

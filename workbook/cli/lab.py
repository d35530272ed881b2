"""``workbook lab``: Kafka and JupyterLab, until Ctrl-C; ``stop`` and ``start`` of one server."""

import contextlib
import os
import signal
import time
import webbrowser
from argparse import Namespace
from pathlib import Path
from typing import Any

from workbook.classroom.place import place
from workbook.cli.console import ENDINGS, as_typed, end_like_ctrl_c, typed, waiting_for
from workbook.errors import NotOurServer, NotRunning, WorkbookError
from workbook.spark import cluster
from workbook.stack import addresses, client, folders, jars, jupyter, notebook_copies, process
from workbook.stack.doctor import look
from workbook.stack.server import shown
from workbook.stack.supervisor import SERVERS

SPARE_AFTER_S = 5.0
"""Seconds from the open lab to the start of its spare Spark: the browser comes first."""


def lab(options: Namespace) -> None:
    """Start Kafka and JupyterLab, and end them when asked to."""
    # However this process is asked to end, it first gives back what it holds.
    end_like_ctrl_c()
    for finding in (*look("Spark memory"), *look("Spark master")):
        if finding.state == "fault":  # Kafka works all the same, and chapters begin without Spark
            print(as_typed(str(finding)), flush=True)
    folder = _notebooks()
    jars.prefetch()
    lease = client.lease("lab")
    try:
        addresses.kafka("lab")
        print("Starting JupyterLab ...", flush=True)
        url = jupyter.start(lease, folder)
        others = [u for u in lease.ask("status")["users"] if u["role"] == "lab"]
        if others:
            print(f"It shares Kafka and the notebooks with the lab of process {others[0]['pid']}.")
        print(f"\nThe lab is open: {url}")
        print("Ctrl-C ends it and everything that only it uses.", flush=True)
        print(place(folder / notebook_copies.SOLVED), flush=True)
        if cluster.is_local():
            lease.ask("keep a spare", env=jupyter.environment("", folder), after=SPARE_AFTER_S)
        if not options.no_browser:
            webbrowser.open(jupyter.redirect(url, folder).as_uri())
        lease.wait_for_end()
        print("The lab's servers have ended.", flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        _leave(lease)
        (folder / jupyter.PAGE).unlink(missing_ok=True)


def _notebooks() -> Path:
    """Update the folder of the learner's copies, and return its path."""
    mine = Path(os.environ.get("WORKBOOK_NOTEBOOKS") or folders.ROOT / "my_notebooks").absolute()
    try:
        return notebook_copies.refresh(folders.ROOT / "notebooks", mine)
    except OSError as error:
        raise WorkbookError(
            f"Your copies of the notebooks cannot be written to {mine} ({error.strerror}). "
            "Make it writable, or set WORKBOOK_NOTEBOOKS to a writable folder."
        ) from None


def _leave(lease: client.Lease) -> None:
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)  # a second Ctrl-C must not cut the clearing short
    print("\nEnding the lab (its kernels first, which may take ten seconds) ...", flush=True)
    status: dict[str, Any] = {"users": [], "pinned": False}
    with contextlib.suppress(WorkbookError, OSError):  # the supervisor was killed
        status = lease.ask("leave")
        # Kernels have just ended with JupyterLab; the supervisor hears of it in a moment.
        deadline = time.monotonic() + 2
        while status["users"] and time.monotonic() < deadline:
            time.sleep(0.05)
            status = lease.ask("status")
    others = [f"{user['role']} (process {user['pid']})" for user in status["users"]]
    if others or status["pinned"]:
        print(f"The servers stay for: {', '.join(others) or f'`{typed()} up`'}.")
        return
    lease.close()
    if not folders.gone(30):
        process.clear()
    still = f"A server of the lab still runs. To end it: {typed()} down"
    print("Everything the lab started has ended." if folders.gone(0) else still)


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

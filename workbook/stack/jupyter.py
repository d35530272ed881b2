"""JupyterLab as a part of the lab: on loopback, with a token, and gone when the lab is."""

from __future__ import annotations

import os
import secrets
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from workbook.errors import ServerFailed
from workbook.stack import copies, home, ports
from workbook.stack.client import Lease

PORT = 8888
FIRST_PAGE = "/lab/tree/00_start_here.ipynb"
DEADLINE = 90.0


@dataclass(frozen=True, slots=True)
class Jupyter:
    """Where JupyterLab answers; ``url`` holds the token."""

    pid: int
    url: str


def start(lease: Lease, folder: Path) -> Jupyter:
    """Start JupyterLab on the notebooks in ``folder``; returns when it answers."""
    token, port = secrets.token_hex(24), ports.choose(PORT)
    log = home.run_dir() / "jupyter.log"
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--ServerApp.ip={listen_address()}"),
        *(f"--ServerApp.root_dir={folder}", f"--LabApp.default_url={FIRST_PAGE}"),
        *(("--allow-root",) if os.getuid() == 0 else ()),
    ]
    pid = lease.ask(
        "spawn", command=command, env=_environment(token, folder), cwd=str(folder), log=str(log)
    )
    _wait_until_it_answers(port, token, log)
    return Jupyter(pid, f"http://{ports.LOOPBACK}:{port}{FIRST_PAGE}?token={token}")


def prepare_spark(lease: Lease) -> None:
    """Make Spark's class archive in the background, so that the learner's session starts faster."""
    lease.ask(
        "spawn",
        command=["nice", "-n", "19", sys.executable, "-m", "workbook.session"],
        env=_environment("", home.run_dir()),
        cwd="/",
        log=str(home.run_dir() / "class-archive.log"),
    )


def listen_address() -> str:
    """Loopback, unless ``WORKBOOK_LISTEN`` says otherwise: in a container it is 0.0.0.0."""
    return os.environ.get("WORKBOOK_LISTEN") or ports.LOOPBACK


def _environment(token: str, folder: Path) -> dict[str, str]:
    search = [str(home.ROOT), os.environ.get("PYTHONPATH")]
    return {
        **os.environ,
        "JUPYTER_TOKEN": token,  # not on the command line, where every user could read it
        "WORKBOOK_SOLVED": str(folder / copies.SOLVED),
        "JUPYTER_CONFIG_PATH": str(Path(__file__).with_name("jupyter_config")),
        "JUPYTER_RUNTIME_DIR": str(home.run_dir() / "jupyter"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home.run_dir() / "workspaces"),
        "PYTHONPATH": os.pathsep.join(filter(None, search)),
    }


def _wait_until_it_answers(port: int, token: str, log: Path) -> None:
    status = urllib.request.Request(
        f"http://{ports.LOOPBACK}:{port}/api/status", headers={"Authorization": f"token {token}"}
    )
    # Past any proxy of the environment, which could not reach our loopback address.
    straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        try:
            with straight.open(status, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    tail = "\n  ".join(log.read_text(errors="replace").splitlines()[-5:]) if log.exists() else ""
    raise ServerFailed(
        f"JupyterLab did not answer on port {port} within {DEADLINE:.0f} s. The end of its log:\n"
        f"  {tail}\nRun: python -m workbook doctor"
    )

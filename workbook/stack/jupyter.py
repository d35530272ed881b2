"""Starts JupyterLab as a part of the lab: on loopback, with a token, until the lab ends."""

import html
import os
import secrets
import shlex
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import psutil

from workbook.stack import folders, notebook_copies, ports, process
from workbook.stack.client import Lease
from workbook.stack.server import DEADLINE, TRIES

PORT = 8888
BIN = Path(sys.executable).parent
"""Where ``python`` and ``workbook`` of this environment are."""

# A shell's own start files may put other folders in front, so ours is added behind them.
BASHRC = """\
for start in /etc/bash.bashrc ~/.bashrc; do [ -r "$start" ] && . "$start"; done
export PATH={bin}:"$PATH"
"""

ZSHRC = """\
ZDOTDIR={own}
[ -r "$ZDOTDIR/.zshrc" ] && . "$ZDOTDIR/.zshrc"
export PATH={bin}:"$PATH"
"""

FIRST_PAGE = "/lab/tree/00_start_here.ipynb"

PAGE = ".open_the_lab.html"
"""In the folder of the notebooks while the lab is open; see ``redirect``."""


def start(lease: Lease, folder: Path) -> str:
    """Start JupyterLab on the notebooks in ``folder``; return its URL with the token.

    Raises ``ServerFailed`` as soon as it has ended, or when it does not answer in time.
    """
    log = folders.run_dir() / "jupyter.log"
    for _ in range(TRIES):
        token, port = secrets.token_hex(24), ports.choose(PORT)
        pid = _spawn(lease, folder, token, port, log)
        if _answers(port, pid):
            return f"http://{ports.LOOPBACK}:{port}{FIRST_PAGE}?token={token}"
        # Another lab may have taken the port in the seconds between our look and JupyterLab's own.
        if _runs(pid) or ports.is_free(port):
            break
    raise process.failure(f"JupyterLab on port {port}", log, ended=not _runs(pid))


def _spawn(lease: Lease, folder: Path, token: str, port: int, log: Path) -> int:
    terminal = shell(folders.run_dir() / "shell")
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", f"--port={port}"),
        *("--ServerApp.port_retries=0", f"--ServerApp.ip={listen_address()}"),
        *(f"--ServerApp.root_dir={folder}", f"--LabApp.default_url={FIRST_PAGE}"),
        f"--KernelManager.{_closed_to_others()}",
        f"--ServerApp.terminado_settings=shell_command={shlex.join(terminal)}",
        *(("--allow-root",) if os.getuid() == 0 else ()),
    ]
    env = environment(token, folder)
    return int(lease.ask("spawn", command=command, env=env, cwd=str(folder), log=str(log)))


def redirect(url: str, folder: Path) -> Path:
    """Write a page that leads a browser to JupyterLab; only this user can read it.

    Every user of the machine sees a browser's command line, so the token must not stand there.
    The page is in the folder of the notebooks, since some browsers see no hidden or temporary one.
    """
    page = folder / PAGE
    page.unlink(missing_ok=True)
    url = html.escape(url)
    with open(os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(
            '<!DOCTYPE html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
            f'<meta http-equiv="refresh" content="0; url={url}">'
            f'<title>Opening the lab</title><p><a href="{url}">Open the lab</a></p>\n'
        )
    return page


def listen_address() -> str:
    """Return loopback, unless ``WORKBOOK_LISTEN`` says otherwise: in a container 0.0.0.0."""
    return os.environ.get("WORKBOOK_LISTEN") or ports.LOOPBACK


def _closed_to_others() -> str:
    """Return the option that hides a kernel's output, which its ports give to any local user."""
    longest = folders.run_dir() / "jupyter" / f"kernel-{uuid.uuid4()}-ipc-forks"
    fits = len(os.fsencode(longest)) <= folders.LONGEST_SOCKET + 4
    return "transport=ipc" if fits else "transport_encryption=auto"


def environment(token: str, folder: Path) -> dict[str, str]:
    search = [str(folders.ROOT), os.environ.get("PYTHONPATH")]
    return {
        **os.environ,
        "PATH": search_path(),
        "JUPYTER_TOKEN": token,  # not on the command line, where every user could read it
        "WORKBOOK_SOLVED": str(folder / notebook_copies.SOLVED),
        "JUPYTER_CONFIG_PATH": str(Path(__file__).with_name("jupyter_config")),
        "PYTHONSTARTUP": str(_startup()),
        "JUPYTER_RUNTIME_DIR": str(folders.run_dir() / "jupyter"),
        "JUPYTERLAB_WORKSPACES_DIR": str(folders.run_dir() / "workspaces"),
        "PYTHONPATH": os.pathsep.join(filter(None, search)),
    }


def _startup() -> Path:
    """Write what each kernel runs first: ``PYTHONSTARTUP`` as it was, and ``kernel_start``."""
    own, path = os.environ.get("PYTHONSTARTUP", ""), folders.run_dir() / "kernel_startup.py"
    before = (
        f"exec(compile(open({own!r}).read(), {own!r}, 'exec'))\n" if Path(own).is_file() else ""
    )
    folders.write_whole(
        path,
        f"{before}from workbook.stack.jupyter import close_port\nclose_port()\n"
        "from workbook.classroom.kernel_start import prepare\nprepare()\n"
        "del close_port, prepare\n",
    )
    return path


def _answers(port: int, pid: int) -> bool:
    """Wait until this very process answers; False when it has ended, or not answered in time."""
    url = f"http://{ports.LOOPBACK}:{port}/api"  # which wants no token
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline and _runs(pid):
        if process.has_port(pid, port) and ports.serves(url):
            return True
        time.sleep(0.1)
    return False


def _runs(pid: int) -> bool:
    """Return True if the process lives; an ended one stays as a zombie of the supervisor."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def close_port() -> None:
    """Close the port on which this kernel hears what its forked children print.

    They print by a socket beside the kernel's others, where those are no ports either.
    """
    import zmq
    from ipykernel.kernelapp import IPKernelApp

    app = IPKernelApp.instance() if IPKernelApp.initialized() else None
    if app is None or app.transport != "ipc":
        return
    thread, place = app.iopub_thread, f"ipc://{app.ip}-forks"

    def move() -> None:
        thread._pipe_in.socket.unbind(f"tcp://127.0.0.1:{thread._pipe_port}")
        thread._pipe_in.socket.bind(place)

    def outlet() -> tuple[Any, Any]:
        context = zmq.Context()
        out = context.socket(zmq.PUSH)
        out.linger = 3000
        out.connect(place)
        return context, out

    thread._setup_pipe_out = outlet
    thread.schedule(move)  # the socket belongs to that thread


# --- its terminals: this Python's commands come first --------------------------------------------


def search_path() -> str:
    """Return ``PATH`` with the environment's commands first."""
    return os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])


def shell(folder: Path) -> list[str]:
    """Return the command of an interactive shell; write its start files into ``folder``.

    No login shell, which is JupyterLab's default: it would overwrite ``PATH``.
    """
    chosen = os.environ.get("SHELL") or "sh"
    folder.mkdir(exist_ok=True)
    quoted = shlex.quote(str(BIN))
    match Path(chosen).name:
        case "bash":
            folders.write_whole(folder / "bashrc", BASHRC.format(bin=quoted))
            return [chosen, "--rcfile", str(folder / "bashrc"), "-i"]
        case "zsh":
            own = shlex.quote(os.environ.get("ZDOTDIR") or str(Path.home()))
            folders.write_whole(folder / ".zshrc", ZSHRC.format(bin=quoted, own=own))
            return ["env", f"ZDOTDIR={folder}", chosen, "-i"]
    return [chosen]

"""JupyterLab that doesn't answer, or at another port: a program was quicker with its own."""

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from brokers import free_port

from workbook.errors import ServerFailed
from workbook.stack import folders, jupyter, ports


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("exit('no such option')", r"ended at once(.|\n)*no such option"),
        ("import time; time.sleep(60)", "did not answer in time"),
    ],
)
def test_it_is_named_and_whoever_has_its_port_hears_nothing(
    script: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []

    def spawn(request: str, *, log: str, **rest: Any) -> int:
        with Path(log).open("ab") as said:
            started.append(subprocess.Popen([sys.executable, "-c", script], stderr=said))
        return started[-1].pid

    monkeypatch.setattr(folders, "run_dir", lambda: tmp_path)
    monkeypatch.setattr(jupyter, "DEADLINE", 3)
    supervisor: Any = SimpleNamespace(ask=spawn)
    with socket.create_server((ports.LOOPBACK, 0)) as other:
        monkeypatch.setattr(ports, "choose", lambda port: other.getsockname()[1])
        with pytest.raises(ServerFailed, match=says):
            jupyter.start(supervisor, tmp_path)
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
    for process in started:
        process.kill()
        process.wait()


SERVES = """
import http.server, sys
class Yes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
try:
    server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Yes)
except OSError:
    sys.exit("taken")
server.handle_request()
"""


def test_a_port_that_was_taken_meanwhile_is_tried_once_more_elsewhere_with_another_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, tokens, tried = list[subprocess.Popen[bytes]](), list[str](), list[int]()

    def spawn(request: str, *, command: list[str], env: dict[str, str], **rest: Any) -> int:
        [port] = [word.removeprefix("--port=") for word in command if word.startswith("--port=")]
        tokens.append(env["JUPYTER_TOKEN"])
        started.append(subprocess.Popen([sys.executable, "-c", SERVES, port]))
        return started[-1].pid

    monkeypatch.setattr(folders, "run_dir", lambda: tmp_path)
    supervisor: Any = SimpleNamespace(ask=spawn)
    with socket.create_server((ports.LOOPBACK, 0)) as other:
        tried += [other.getsockname()[1], free_port()]
        chosen = iter(tried)
        monkeypatch.setattr(ports, "choose", lambda port: next(chosen))
        url = jupyter.start(supervisor, tmp_path)
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()
    first, second = tokens
    assert f":{tried[1]}/" in url
    assert url.endswith(second)
    assert first != second
    for process in started:
        process.kill()
        process.wait()


# --- a terminal finds the commands of this environment ----------------------------------------


ASKS = "command -v python\ncommand -v workbook\necho own=$OWN\nexit\n"


@pytest.mark.parametrize(("name", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("sh", "")])
def test_the_environments_commands_come_first(tmp_path, monkeypatch, name, start) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here")
    home = tmp_path / "Ute's home"
    home.mkdir()
    if start:  # as conda and pyenv do, and Debian's profile
        (home / start).write_text("PATH=/usr/bin:/bin\nOWN=kept\n")
    monkeypatch.setenv("SHELL", str(shutil.which(name)))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("ZDOTDIR", raising=False)
    monkeypatch.setenv("PATH", jupyter.search_path())
    command = jupyter.shell(tmp_path / "run folder")
    said = subprocess.run(command, input=ASKS, capture_output=True, text=True, timeout=60).stdout
    found = [line for line in said.splitlines() if os.sep in line or "own=" in line]
    expected = [str(Path(sys.executable).with_name(word)) for word in ("python", "workbook")]
    assert found[-3:-1] == expected
    assert ("own=kept" in said) == bool(start)

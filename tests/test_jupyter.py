"""JupyterLab that ends before it answers: another lab was quicker with the port."""

import http.server
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from workbook.errors import ServerFailed
from workbook.stack import folders, jupyter, ports


class Supervisor:
    """Runs a script in place of JupyterLab, and keeps what was asked for."""

    def __init__(self, script: str) -> None:
        self.script, self.commands, self.tokens = script, list[list[str]](), list[str]()
        self.processes: list[subprocess.Popen[bytes]] = []

    def ask(
        self, request: str, *, command: list[str], log: str, env: dict[str, str], **rest: Any
    ) -> int:
        self.commands.append(command)
        self.tokens.append(env["JUPYTER_TOKEN"])
        port = next(w.removeprefix("--port=") for w in command if w.startswith("--port="))
        with Path(log).open("ab") as output:
            self.processes.append(
                subprocess.Popen([sys.executable, "-c", self.script, port], stdout=output)
            )
        return self.processes[-1].pid


LISTENS = """
import http.server, sys, time
time.sleep(0.5)
class Yes(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers()
try:
    http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Yes).handle_request()
except OSError:
    sys.exit("taken")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(folders, "run_dir", lambda: tmp_path)
    return tmp_path


def test_a_port_that_was_taken_meanwhile_is_tried_once_more_elsewhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = Supervisor(LISTENS)
    heard = list[str]()

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.path} {self.headers}")
            self.send_response(200)
            self.end_headers()

    with http.server.HTTPServer((ports.LOOPBACK, 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        taken = other.server_port
        monkeypatch.setattr(jupyter, "PORT", taken)
        answers = iter([True])  # the look at the port comes too early
        look = ports.is_free
        monkeypatch.setattr(ports, "is_free", lambda port: next(answers, None) or look(port))
        server = jupyter.start(lab, folder)  # type: ignore[arg-type]
        other.shutdown()
    assert not heard
    assert len({*lab.tokens}) == 2
    assert server.endswith(lab.tokens[1])
    assert [f"--port={taken}" in command for command in lab.commands] == [True, False]
    assert f":{taken}/" not in server
    for process in lab.processes:
        process.wait(10)


def test_one_that_ends_for_another_reason_is_an_error_at_once(folder: Path) -> None:
    lab, began = Supervisor("print('no such option')"), time.monotonic()
    with pytest.raises(ServerFailed, match=r"ended at once(.|\n)*no such option"):
        jupyter.start(lab, folder)  # type: ignore[arg-type]
    assert len(lab.commands) == 1
    assert time.monotonic() - began < 20
    lab.processes[0].wait(10)

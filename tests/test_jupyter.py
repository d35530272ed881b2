"""JupyterLab that doesn't answer: another program was quicker with the port."""

import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

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
        return started[0].pid

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
    started[0].kill()
    started[0].wait()

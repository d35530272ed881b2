"""A terminal of JupyterLab finds the commands of this environment, whatever start files say."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from workbook.stack import jupyter

ASKS = "command -v python\ncommand -v workbook\necho own=$OWN\nexit\n"


@pytest.mark.parametrize(("name", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc"), ("sh", "")])
def test_the_environments_commands_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, start: str
) -> None:
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

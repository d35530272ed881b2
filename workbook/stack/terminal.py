"""Sets up the shell of JupyterLab's terminals: this Python's commands come first."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

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


def search_path() -> str:
    """Return ``PATH`` with the environment's commands first."""
    return os.pathsep.join([str(BIN), os.environ.get("PATH", os.defpath)])


def shell(folder: Path) -> list[str]:
    """Return the command of an interactive shell; write its start files into ``folder``.

    No login shell, which is JupyterLab's default: it would set ``PATH`` anew.
    """
    chosen = os.environ.get("SHELL") or "sh"
    folder.mkdir(exist_ok=True)
    quoted = shlex.quote(str(BIN))
    match Path(chosen).name:
        case "bash":
            (folder / "bashrc").write_text(BASHRC.format(bin=quoted))
            return [chosen, "--rcfile", str(folder / "bashrc"), "-i"]
        case "zsh":
            own = shlex.quote(os.environ.get("ZDOTDIR") or str(Path.home()))
            (folder / ".zshrc").write_text(ZSHRC.format(bin=quoted, own=own))
            return ["env", f"ZDOTDIR={folder}", chosen, "-i"]
    return [chosen]

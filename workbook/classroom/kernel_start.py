"""Prepares a kernel of the lab before its first cell; JupyterLab's ``PYTHONSTARTUP`` runs it.

After a restart the cells in the middle of a chapter miss every name: the error says what to do, and
``recover()`` opens the chapter anew. What the first cell imports is imported meanwhile.
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from IPython import get_ipython

from workbook.views.cell_clock import time_cells

NEW_KERNEL = (
    "What to do: this kernel is new, and nothing of the chapter has run in it yet (views and "
    "buttons with a broken link belong to the old one). Run the cells from the top (menu Run, “Run "
    "All Above Selected Cell”), or `recover()` in a cell of its own: it takes you back to the "
    "chapter's start."
)


def notebook() -> str:
    """Return the name of the chapter that this kernel was started for; '' outside the lab."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).stem.removeprefix("newer_")


def is_chapter(name: str) -> bool:
    """Return True for the name of one of the workbook's notebooks."""
    return bool(name) and (Path(__file__).parents[2] / "notebooks" / f"{name}.ipynb").is_file()


def prepare() -> None:
    """Explain names that are gone, offer ``recover``, and import what a first cell needs."""
    shell = get_ipython()
    if shell is None or not notebook():
        return
    if is_chapter(notebook()):
        shell.set_custom_exc((NameError,), _shown)
    shell.push({"recover": recover}, interactive=False)
    time_cells()
    threading.Thread(target=_import_early, daemon=True).start()


def recover(step: int = 1) -> None:
    """Open the chapter anew, as its first cells do: new topics, and nothing of before.

    A session in steps opens at the start of one of them.
    """
    from workbook.classroom.reopen import reopen

    reopen(notebook(), step)


def _import_early() -> None:
    with suppress(Exception):  # the first cell will say what's wrong
        import workbook.classroom.chapter  # noqa: F401


def _shown(
    shell: Any,
    kind: type[BaseException],
    error: BaseException,
    trace: TracebackType | None,
    tb_offset: int | None = None,
) -> None:
    lines = shell.InteractiveTB.structured_traceback(kind, error, trace, tb_offset=tb_offset)
    step = "" if notebook()[:2].isdigit() else " `recover(3)` opens its third step."
    shell._showtraceback(kind, error, [*lines, f"\n{NEW_KERNEL}{step}"])

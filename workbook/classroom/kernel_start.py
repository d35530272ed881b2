"""Prepares a kernel of the lab before its first cell, and reopens a chapter: ``recover``.

JupyterLab's ``PYTHONSTARTUP`` runs ``prepare``. After a restart the cells in the middle of a
chapter miss every name: the error says what to do, and ``recover()`` reopens the chapter. What
the first cell imports is imported meanwhile.
"""

import json
import os
import re
import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from IPython import get_ipython

from workbook.classroom.errors import NOTEBOOKS, show
from workbook.errors import WorkbookError
from workbook.views.cell_clock import time_cells

NEW_KERNEL = (
    "this kernel is new, and nothing of the chapter has run in it yet. Shift + Enter "
    "runs nothing while a kernel is starting, and views and buttons with a broken link belong to "
    "the old one. Run the cells from the top (menu Run, “Run All Above Selected Cell”), or "
    "`recover()` in a cell of its own: it takes you back to the chapter's start."
)
SETUP = "recover"
"""The tag of the cells that a session in steps needs at the start of any of them."""

Cells = list[dict[str, Any]]


def notebook() -> str:
    """Return the name of the chapter that this kernel was started for; '' outside the lab."""
    return Path(os.environ.get("JPY_SESSION_NAME", "")).stem.removeprefix("newer_")


def prepare() -> None:
    """Explain names that are gone, offer ``recover``, and import what a first cell needs."""
    shell = get_ipython()
    if shell is None or not notebook():
        return
    path, folded = NOTEBOOKS / f"{notebook()}.ipynb", list[str]()
    if path.is_file():
        shell.set_custom_exc((NameError,), _shown)
        cells: Cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        folded = [c["id"] for c in cells if c["metadata"].get("jupyter", {}).get("source_hidden")]
    shell.push({"recover": recover}, interactive=False)
    time_cells(folded)
    threading.Thread(target=_import_early, daemon=True).start()


def _import_early() -> None:
    with suppress(Exception):  # the first cell will say what's wrong
        import workbook.classroom.chapter  # noqa: F401


def _shown(shell: Any, kind: Any, error: Any, trace: Any, tb_offset: int | None = None) -> None:
    step = "" if notebook()[:2].isdigit() else " `recover(3)` opens its third step."
    show(shell, error, trace, tb_offset, NEW_KERNEL + step)


def recover(step: int = 1, chapter: str = "") -> None:
    """Run the cells that open a chapter, by default this kernel's, and say where to go on.

    A session in steps opens at the start of one of them, with our answer to the step before.
    There are new topics; what this kernel has opened ends, and nothing is deleted. Raises
    WorkbookError outside a chapter, and for a step that it doesn't have.
    """
    chapter, shell, began = chapter or notebook(), get_ipython(), time.monotonic()
    path = NOTEBOOKS / f"{chapter}.ipynb"
    if shell is None or not path.is_file():
        raise WorkbookError(
            f"Expected a chapter's notebook, but this one is {chapter or 'unknown'!r}. Run its "
            "cells from the top: menu Run, “Run All Above Selected Cell”."
        )
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    steps = _steps(cells)
    if step not in (steps or [1]):
        there = f"the steps 1 to {max(steps)}" if steps else "no steps: `recover()` takes no number"
        raise WorkbookError(f"Expected a step of this notebook, but got {step!r}. It has {there}.")
    opening, heading = (_setup(cells), steps[step]) if steps else _opening(cells)
    for source in opening:
        exec(compile(source, "<recover>", "exec"), shell.user_ns)
    so_far = _answer_so_far(chapter, step, shell.user_ns) if steps else ""
    took = time.monotonic() - began
    print(f"The chapter is open again, after {took:.1f} s. {so_far}Go on under “{heading}”.")


def _setup(cells: Cells) -> list[str]:
    """Return the code cells that all steps of a session rest on; none in another chapter."""
    return ["".join(cell["source"]) for cell in cells if SETUP in cell["metadata"].get("tags", ())]


def _steps(cells: Cells) -> dict[int, str]:
    """Return the headings of a session in steps by their numbers; none in another chapter."""
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    headings = re.findall(r"^## ((\d+)\. .*)$", "\n".join(texts), re.MULTILINE)
    return {int(number): heading for heading, number in headings} if _setup(cells) else {}


def _opening(cells: Cells) -> tuple[list[str], str]:
    """Return the code cells up to the one that opens the chapter, and the heading to go on at."""
    opening, headings = list[str](), list[str]()
    for cell in cells:
        is_open = bool(opening) and "Chapter(" in opening[-1]
        if is_open and headings:
            break
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            headings += re.findall(r"^## (.*)", text, re.MULTILINE)
        elif not is_open:
            opening.append(text)
    return opening, headings[-1]


def _answer_so_far(chapter: str, step: int, names: dict[str, Any]) -> str:
    """Take our answers to all steps before this one, and say so; hand out the exercises."""
    from workbook.classroom.core import stub_name

    module = import_module(f"workbook.lessons.{chapter}")
    before = module.problems[: step - 1]
    for problem in before:
        problem.skip()
        names[stub_name(problem.stub)] = problem.reference
    there = [id(problem) for problem in module.problems[:step]]
    names |= {name: thing for name, thing in vars(module).items() if id(thing) in there}
    return f"Our program of step {step - 1} stands in. " if before else ""

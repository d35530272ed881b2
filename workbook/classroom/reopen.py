"""Opens a chapter anew in a kernel that has lost it: runs its cells up to its ``Chapter(...)``."""

from __future__ import annotations

import json
import re
import time
from importlib import import_module
from typing import Any

from IPython import get_ipython

from workbook.classroom import cells
from workbook.classroom.solution import stub_name
from workbook.errors import WorkbookError

SETUP = "recover"
"""The tag of the cells that a session in steps needs at the start of any of them."""

Found = list[dict[str, Any]]


def reopen(chapter: str, step: int = 1) -> None:
    """Run what opens a chapter in the notebook's own names, and say where to go on.

    A session in steps is opened at the start of one of them, with our answer to the step before.
    What an earlier kernel had opened, ended with it; what this one has, ends now. Nothing is
    deleted. Raises WorkbookError outside a chapter, and for a step that it doesn't have.
    """
    path, shell, began = cells.NOTEBOOKS / f"{chapter}.ipynb", get_ipython(), time.monotonic()
    if shell is None or not path.is_file():
        raise WorkbookError(
            f"Expected a chapter's notebook, but this one is {chapter or 'unknown'!r}. Run its "
            "cells from the top: menu Run, “Run All Above Selected Cell”."
        )
    found = json.loads(path.read_text(encoding="utf-8"))["cells"]
    steps = _steps(found)
    if step not in (steps or [1]):
        there = f"the steps 1 to {max(steps)}" if steps else "no steps: `recover()` takes no number"
        raise WorkbookError(f"Expected a step of this notebook, but got {step!r}. It has {there}.")
    opening, heading = _setup(found, steps[step]) if steps else _opening(found)
    for source in opening:
        exec(compile(source, "<recover>", "exec"), shell.user_ns)
    so_far = _answer_so_far(chapter, step, shell.user_ns) if steps else ""
    took = time.monotonic() - began
    print(f"The chapter is open again, after {took:.1f} s. {so_far}Go on under “{heading}”.")


def _steps(found: Found) -> dict[int, str]:
    """Return the headings of a session in steps by their numbers; none of another chapter."""
    if not any(SETUP in cell["metadata"].get("tags", ()) for cell in found):
        return {}
    texts = ["".join(cell["source"]) for cell in found if cell["cell_type"] == "markdown"]
    headings = re.findall(r"^## ((\d+)\. .*)$", "\n".join(texts), re.MULTILINE)
    return {int(number): heading for heading, number in headings}


def _setup(found: Found, heading: str) -> tuple[list[str], str]:
    """Return the code cells that all steps rest on, and the heading to go on at."""
    kept = [cell for cell in found if SETUP in cell["metadata"].get("tags", ())]
    return ["".join(cell["source"]) for cell in kept], heading


def _answer_so_far(chapter: str, step: int, names: dict[str, Any]) -> str:
    """Take our answers to all steps before this one, and say so; hand out the exercises."""
    module = import_module(f"workbook.lessons.{chapter}")
    before = module.problems[: step - 1]
    for problem in before:
        problem.skip()
        names[stub_name(problem.stub)] = problem.reference
    there = [id(problem) for problem in module.problems[:step]]
    names |= {name: thing for name, thing in vars(module).items() if id(thing) in there}
    return f"Our program of step {step - 1} stands in. " if before else ""


def _opening(found: Found) -> tuple[list[str], str]:
    """Return the code cells up to the one that opens the chapter, and the heading to go on at."""
    texts = [(cell["cell_type"], "".join(cell["source"])) for cell in found]
    [at, *_] = [i for i, (kind, text) in enumerate(texts) if kind == "code" and "Chapter(" in text]
    headings = [
        (i, line.lstrip("# "))
        for i, (kind, text) in enumerate(texts)
        for line in text.splitlines()
        if kind == "markdown" and line.startswith("## ")
    ]
    before = [title for i, title in headings if i < at]
    [after, *_] = [title for i, title in headings if i > at]
    return [text for kind, text in texts[: at + 1] if kind == "code"], [after, *before][-1]

"""Opens a chapter anew in a kernel that has lost it: runs its cells up to its ``Chapter(...)``."""

from __future__ import annotations

import json
import time
from typing import Any

from IPython import get_ipython

from workbook.chapter import cells
from workbook.errors import WorkbookError


def reopen(chapter: str) -> None:
    """Run what opens a chapter in the notebook's own names, and say where to go on.

    What an earlier kernel had opened, ended with it. Raises WorkbookError outside a chapter.
    """
    path, shell, began = cells.NOTEBOOKS / f"{chapter}.ipynb", get_ipython(), time.monotonic()
    if shell is None or not path.is_file():
        raise WorkbookError(
            f"Expected a chapter's notebook, but this one is {chapter or 'unknown'!r}. Run its "
            "cells from the top: *Run*, *Run All Above Selected Cell*."
        )
    opening, heading = _opening(json.loads(path.read_text(encoding="utf-8"))["cells"])
    for source in opening:
        exec(compile(source, "<recover>", "exec"), shell.user_ns)
    took = time.monotonic() - began
    print(f"The chapter is open again, after {took:.1f} s. Go on under “{heading}”.")


def _opening(found: list[dict[str, Any]]) -> tuple[list[str], str]:
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

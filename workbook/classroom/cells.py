"""Says which cell of a chapter runs, and which one makes a name that isn't defined."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from IPython import get_ipython

import workbook

NOTEBOOKS = Path(workbook.__file__).parents[1] / "notebooks"

chapter = ""
"""The notebook that runs in this kernel, without its ending."""


def is_cell(filename: str) -> bool:
    """Return True for the file name under which a notebook's cell was compiled."""
    return "ipykernel_" in filename or filename.startswith("<ipython-input")


def running() -> str | None:
    """Return the id of the cell that runs; None outside a notebook that names its cells."""
    parent: dict[str, Any] = getattr(get_ipython(), "get_parent", dict)()
    cell: str | None = parent.get("metadata", {}).get("cellId")
    return cell


def step_for(name: str) -> str:
    """Return what to do where a name isn't defined: run the chapter's cell that makes it."""
    heading = _heading_of(name)
    if heading is None:
        return ""
    under = f", under “{heading}”" if heading else ""
    return (
        f"`{name}` is made in another cell of this chapter{under}. Run that cell first; after a "
        "restart of the kernel run all from the top: menu Run, “Run All Above Selected Cell”."
    )


def _heading_of(name: str) -> str | None:
    """Return the heading above the first cell that binds a name; None where no cell does."""
    path, heading = NOTEBOOKS / f"{chapter}.ipynb", ""
    if not chapter or not path.is_file():
        return None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            headings = [line for line in text.splitlines() if line.startswith("#")]
            heading = headings[-1].lstrip("# ") if headings else heading
        elif name in _bound(text):
            return heading
    return None


def _bound(source: str) -> Iterator[str]:
    try:
        return bound(ast.parse(source))
    except SyntaxError:  # a magic
        return iter(())


def bound(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a cell imports, defines or assigns."""
    for node in ast.walk(tree):
        if isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id

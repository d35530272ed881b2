"""The form of a notebook as numbers: minutes, names of the package, cells without a sentence.

python tests/forms.py                 a line per notebook
python tests/forms.py --waits 05      run it, and note in it the seconds that its cells wait
"""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chapters import NOTEBOOKS, places, problems

WORDS_PER_MINUTE = 180
CELL_S = 25
"""Seconds to read and run a code cell."""

LONG_S = 1.0
"""A cell that runs for longer is waited for."""


def read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())


def texts(path: Path, kind: str) -> list[str]:
    return ["".join(c["source"]) for c in read(path)["cells"] if c["cell_type"] == kind]


def words(path: Path) -> int:
    return sum(len(text.split()) for text in texts(path, "markdown"))


def waits_s(path: Path) -> float:
    """The seconds that its cells waited when it was measured; 0 if it never was."""
    return read(path)["metadata"].get("workbook", {}).get("waits_s", 0)


def parts(path: Path) -> dict[str, float]:
    """The minutes for words, for code cells, for exercises, and for measured waits."""
    return {
        "words": words(path) / WORDS_PER_MINUTE,
        "cells": CELL_S * len(texts(path, "code")) / 60,
        "exercises": sum(problem.minutes for problem in problems(path)),
        "waits": waits_s(path) / 60,
    }


def minutes(path: Path) -> float:
    """Words, code cells, exercises and measured waits, in minutes."""
    return sum(parts(path).values())


def timetable(path: Path) -> list[int]:
    """The minutes in the notebook's own table of what you'll do."""
    rows = [line for line in texts(path, "markdown")[0].splitlines() if line.startswith("| ")]
    last = [row.rstrip("| ").rpartition("|")[2].strip() for row in rows]
    return [int(cell) for cell in last if cell.isdigit()]


def stated_minutes(path: Path) -> int:
    """The sum of that table."""
    return sum(timetable(path))


def minutes_by_section(path: Path) -> list[float]:
    """The minutes up to the first numbered heading, and of each numbered section, without waits."""
    found, number = [0.0], 0
    exercises = iter(problems(path))
    for cell in read(path)["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found[-1] += CELL_S / 60
            continue
        if text.startswith(f"## {number + 1}. "):
            number += 1
            problem = next(exercises, None)
            found.append(problem.minutes if problem else 0.0)
        found[-1] += len(text.split()) / WORDS_PER_MINUTE
    return found


def turns(path: Path) -> dict[int, tuple[int, int]]:
    """The minutes from and to which the keyboard is a section's driver's."""
    pattern = re.compile(r"^## (\d+)\. .*?minutes (\d+) to (\d+)\.", re.MULTILINE | re.DOTALL)
    text = "\n".join(texts(path, "markdown"))
    return {int(n): (int(begin), int(end)) for n, begin, end in pattern.findall(text)}


def visible(path: Path) -> Iterator[str]:
    """The code cells that a learner reads: those that aren't folded."""
    for cell in read(path)["cells"]:
        folded = cell["metadata"].get("jupyter", {}).get("source_hidden", False)
        if cell["cell_type"] == "code" and not folded:
            yield "".join(cell["source"])


def package_names(path: Path) -> set[str]:
    """The names of the package in visible cells, without the chapter's exercises.

    An attribute of a namespace, be it a module or the chapter, counts as a name.
    """
    trees = [ast.parse(cell) for cell in visible(path)]
    names, spaces = set(), {"chapter", "workbook"}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("workbook"):
            if ".exercises.chapters" in str(node.module):
                continue
            for alias in node.names:
                names.add(alias.name)
                if importlib.util.find_spec(str(node.module)) and _is_module(node, alias):
                    spaces.add(alias.asname or alias.name)
    for node in (node for tree in trees for node in ast.walk(tree)):
        owner = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(owner, ast.Name) and owner.id in spaces:
            names.add(node.attr)
    return names


def _is_module(node: ast.ImportFrom, alias: ast.alias) -> bool:
    try:
        return importlib.util.find_spec(f"{node.module}.{alias.name}") is not None
    except ModuleNotFoundError:
        return False


def unintroduced(path: Path) -> list[str]:
    """The code cells without a text cell right before them."""
    found, before = [], ""
    for cell in read(path)["cells"]:
        if cell["cell_type"] == "code" and before != "markdown":
            found.append("".join(cell["source"]))
        before = cell["cell_type"]
    return found


def unused_answers(path: Path) -> list[str]:
    """The exercises with a function whose answer no later cell uses."""
    cells = [c["source"] for c in read(path)["cells"] if c["cell_type"] == "code"]
    found = []
    for place in places(path):
        if not place.problem.stub.lstrip().startswith("def "):
            continue
        later = "\n".join("".join(cell) for cell in cells[place.cell + 1 :])
        used = [
            node
            for node in ast.walk(ast.parse(later))
            if isinstance(node, ast.Name)
            and node.id == place.name
            and isinstance(node.ctx, ast.Load)
        ]
        if len(used) < 2:  # once in `resolve`
            found.append(place.problem.name)
    return found


def measure_waits(path: Path) -> float:
    """Run a notebook; the seconds of its cells that took longer than a moment."""
    import nbformat
    from nbclient import NotebookClient

    notebook, waited = nbformat.read(path, 4), 0.0
    client = NotebookClient(notebook, timeout=300, kernel_name="python3")
    with client.setup_kernel():
        for number, cell in enumerate(notebook.cells):
            began = time.monotonic()
            client.execute_cell(cell, number)
            took = time.monotonic() - began
            waited += took if took > LONG_S else 0
    return waited


def main() -> None:
    if "--waits" in sys.argv:
        for path in NOTEBOOKS:
            if path.name.startswith(sys.argv[-1]):
                notebook = read(path)
                notebook["metadata"]["workbook"] = {"waits_s": round(measure_waits(path))}
                path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    head = "notebook | minutes (stated) | of which | words | code cells | waits | names"
    print(head, "| no sentence | unused")
    for path in NOTEBOOKS:
        print(
            path.stem, f"{minutes(path):.0f} ({stated_minutes(path)})",
            " + ".join(f"{part:.0f} {name}" for name, part in parts(path).items()), words(path),
            len(texts(path, "code")), f"{waits_s(path):.0f} s", len(package_names(path)),
            len(unintroduced(path)), ", ".join(unused_answers(path)), sep=" | ",
        )  # fmt: skip


if __name__ == "__main__":
    main()

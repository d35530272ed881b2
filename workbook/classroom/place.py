"""Your place in the book: which exercises have passed, and where to go on.

The lab names a file for them among your copies of the notebooks. Nothing leaves the machine, and
whoever deletes the file starts afresh.
"""

import ast
import fcntl
import html
import json
import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbook.stack.folders import ROOT
from workbook.views.tables import CELL, TABLE, captioned


@dataclass(frozen=True)
class Part:
    """A notebook, how many of its exercises have passed, and how many it has."""

    notebook: str
    passed: int
    exercises: int

    @property
    def name(self) -> str:
        """Return its name as text, such as ``05 many_partitions``."""
        number, _, rest = self.notebook.partition("_")
        return f"{number} {rest}" if number.isdigit() else self.notebook


class Place:
    """All notebooks of the book; a table in a notebook, and a line in a terminal."""

    def __init__(self, parts: Iterable[Part], last: str = "") -> None:
        self.parts = list(parts)
        open_ = [part for part in self.parts if part.passed < part.exercises]
        here = [part for part in open_ if part.notebook == last]
        places = [part.notebook for part in self.parts]
        later = [p for p in open_ if last and places.index(p.notebook) > places.index(last)]
        self.next = next(iter([*here, *later, *open_]), None)

    def __repr__(self) -> str:
        passed, all_ = (sum(getattr(p, n) for p in self.parts) for n in ("passed", "exercises"))
        onward = f"next: {self.next.name}" if self.next else "you've solved them all"
        return f"{passed} of {all_} exercises; {onward}"

    def _repr_html_(self) -> str:
        rows = "".join(map(self._row, self.parts))
        return f"<table style='{TABLE}'>{captioned(repr(self))}<tbody>{rows}</tbody></table>"

    def _row(self, part: Part) -> str:
        name = html.escape(part.name)
        link = f"<a href='{html.escape(part.notebook)}.ipynb'>{name}</a>"
        marks = "●" * part.passed + "○" * (part.exercises - part.passed)
        here = "go on here" if part is self.next else ""
        cells = (link, marks, f"{part.passed} of {part.exercises}", here)
        row = "".join(f"<td style='{CELL}'>{cell}</td>" for cell in cells)
        return f"<tr>{row}</tr>"


def place(file: Path | None = None) -> Place:
    """Return how far the learner has come, by ``solved``; outside the lab nothing has passed."""
    passed, parts, last = solved(file), list[Part](), dict[str, str]()
    for notebook, names in exercises().items():
        last |= dict.fromkeys(names, notebook)
        parts.append(Part(notebook, sum(name in passed for name in names), len(names)))
    known = [last[name] for name in passed if name in last]
    return Place(parts, known[-1] if known else "")


def exercises() -> dict[str, list[str]]:
    """Return the names of each notebook's exercises, read from their source.

    Importing all of them takes three seconds and more.
    """
    found = {}
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        folder = notebook.stem.partition("_")[2] if notebook.stem[0].isdigit() else notebook.stem
        files = sorted((ROOT / "workbook" / "lessons" / folder).glob("*.py"))
        found[notebook.stem] = [name for file in files for name in _names(file)]
    return found


def _names(file: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            words = {word.arg: word.value for word in node.keywords}
            name = words.get("name")
            if "task" in words and isinstance(name, ast.Constant):
                yield str(name.value)


# --- the answers that passed --------------------------------------------------------------------


def remember(name: str, text: str) -> None:
    """Keep the text of an answer that has passed; only where the lab names a file for it."""
    file = _file()
    if file is None:
        return
    unfinished = file.with_suffix(".unfinished")
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two kernels may write at the same time
        kept = dict[str, Any]()
        try:
            kept = _kept(file)
        except ValueError:
            file.rename(file.with_suffix(".damaged"))
        kept = {**{other: kept[other] for other in kept if other != name}, name: text}
        unfinished.write_text(json.dumps(kept, indent=1, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(file)


def solved(file: Path | None = None) -> dict[str, str]:
    """Return the answers that passed by exercise, newest last, from ``file`` or the lab's."""
    file, kept = file or _file(), dict[str, Any]()
    with suppress(OSError, ValueError):
        kept = _kept(file) if file else {}
    return {name: text for name, text in kept.items() if isinstance(text, str)}


def _kept(file: Path) -> dict[str, Any]:
    """Return what a file holds, if there is one; raise ``ValueError`` where it was cut off."""
    return msgspec.json.decode(file.read_bytes(), type=dict[str, Any]) if file.exists() else {}


def _file() -> Path | None:
    named = os.environ.get("WORKBOOK_SOLVED")
    return Path(named) if named else None

"""Your place in the book: which exercises have passed, and where to go on.

The lab keeps them in a file among your copies of the notebooks (``classroom.texts``). Nothing
leaves the machine, and whoever deletes the file starts afresh.
"""

import ast
import html
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from workbook.classroom.texts import solved
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

"""Copies the notebooks to a folder that git ignores, so that a pull never meets learners' work.

A chapter that has changed since it was copied replaces a copy that nobody worked in; beside one
that somebody worked in, it is offered under a name of its own.
"""

import hashlib
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from workbook.stack.folders import write_whole

NOTE = ".copied.json"
"""In the folder of the copies: name of the copy to the digest of the chapter it was made from."""

SOLVED = ".solved.json"
"""In the folder of the copies: the answers that passed; see ``classroom.place``."""

NEWER = "newer_"
"""It comes first, because a narrow file browser cuts off the end of a name."""

LINK = re.compile(r"\[([^\[\]]*)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
"""A relative link in Markdown: its text, its target, its anchor."""

HEADING = re.compile(r"^##+ (.+)$", re.MULTILINE)


def refresh(chapters: Path, copies: Path, say: Callable[[str], None] = print) -> Path:
    """Bring ``copies`` up to date with ``chapters`` without touching anybody's work."""
    copies.mkdir(parents=True, exist_ok=True)
    note = copies / NOTE
    made_from = _read(note)
    for chapter in sorted(chapters.glob("*.ipynb")):
        copy = copies / chapter.name
        if _outdated(chapter, copy, made_from):
            if _worked_in(copy, made_from):
                copy = copies / f"{NEWER}{chapter.name}"
                if not _outdated(chapter, copy, made_from):
                    continue
                if _worked_in(copy, made_from):
                    say(f"{chapter.name} has a newer version: rename {copy.name} to get it")
                    continue
                say(f"{chapter.name} has a newer version: it is beside yours, as {copy.name}")
            write_whole(copy, chapter.read_bytes())
            made_from[copy.name] = _digest(chapter)
    _copy_pages(chapters.resolve().parent, copies, made_from)
    write_whole(note, json.dumps(made_from, indent=1))
    return copies


def _copy_pages(root: Path, copies: Path, made_from: dict[str, str]) -> None:
    """Copy README.md, docs/ and programs/, except over a file that somebody has changed.

    Notebooks link to ``../docs/page.md``. That needs no change: in the folder where JupyterLab
    begins, it takes ``..`` for that same folder.
    """
    names = ("README.md", "docs/*.md", "docs/images/*", "programs/*.py")
    pages = [page for name in names for page in root.glob(name)]
    for page in pages:
        content = page.read_bytes()
        if page.suffix == ".md":
            text = LINK.sub(partial(_link, page, pages), content.decode())
            content = HEADING.sub(_anchor, text).encode()
        name, digest = page.relative_to(root).as_posix(), hashlib.sha256(content).hexdigest()
        copy = copies / name
        there = hashlib.sha256(copy.read_bytes()).hexdigest() if copy.exists() else None
        if there in (None, digest, made_from.get(name)):
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_whole(copy, content)
            made_from[name] = digest


def _link(page: Path, pages: list[Path], link: re.Match[str]) -> str:
    """Lead a page's link to the copy of a notebook; keep the text alone if there is no copy."""
    text, target, anchor = link.groups(default="")
    file = (page.parent / target).resolve()
    if file.suffix == ".ipynb":
        return f"[{text}]({target.replace('notebooks/', '')}{anchor})"
    return text if file.exists() and file not in pages else link[0]


def _anchor(heading: re.Match[str]) -> str:
    """Write down the anchor that GitHub gives a heading, because JupyterLab's are different."""
    name = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
    return f'<span id="{name}"></span>\n\n{heading[0]}'


def _read(note: Path) -> dict[str, str]:
    try:
        return dict(json.loads(note.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # none yet, or damaged: then every copy counts as work
        return {}


def _outdated(chapter: Path, copy: Path, made_from: dict[str, str]) -> bool:
    newest = _digest(chapter)
    return not copy.exists() or newest not in (made_from.get(copy.name), _digest(copy))


def _worked_in(copy: Path, made_from: dict[str, str]) -> bool:
    return copy.exists() and _digest(copy) != made_from.get(copy.name)


def _digest(notebook: Path) -> str:
    """Hash the cells' text; outputs and the state of widgets do not count as work."""
    try:
        cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        texts = [(cell["cell_type"], "".join(cell["source"])) for cell in cells]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "unreadable"
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()

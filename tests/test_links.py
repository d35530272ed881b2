"""No relative link is dead: in the repository, and in the folder of copies that the lab opens."""

import json
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from workbook.stack.notebook_copies import refresh

ROOT = Path(__file__).parents[1]
CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.MULTILINE | re.DOTALL)
TARGET = re.compile(r"\]\(([^)\s]+)|^\[[^\]]+\]: (\S+)|(?:src|href)=\"([^\"]+)", re.MULTILINE)


def text_of(page: Path) -> str:
    """A page's Markdown; of a notebook, that of all its Markdown cells."""
    if page.suffix != ".ipynb":
        return page.read_text()
    cells = json.loads(page.read_text())["cells"]
    return "\n\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "markdown")


def headings(text: str) -> set[str]:
    """The anchors that GitHub gives a page."""
    found = re.findall(r"^#+ +(.+?)\s*$", CODE_BLOCK.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in found}


def ids(text: str) -> set[str]:
    """The anchors that JupyterLab finds in a page, without those that it makes itself."""
    return set(re.findall(r'<span id="([^"]+)">', text))


def dead(root: Path, anchors: Callable[[str], set[str]], top: str = "") -> list[str]:
    """The dead links below a folder. With "/" as its top, ``..`` stays there, as in JupyterLab."""
    pages = [p for where in ("*", "docs/*", "notebooks/*") for p in root.glob(where)]
    found = []
    for page in (page for page in pages if page.suffix in (".md", ".ipynb")):
        here = top + page.relative_to(root).as_posix()
        text = re.sub("`[^`\n]+`", "code", CODE_BLOCK.sub("", text_of(page)))
        for target in ("".join(groups) for groups in TARGET.findall(text)):
            path, _, anchor = target.partition("#")
            there = posixpath.join(posixpath.dirname(here), path) if path else here
            file = root / posixpath.normpath(there).lstrip("/")
            there_is = file.exists() and (not anchor or anchor in anchors(text_of(file)))
            if not re.match(r"\w+:", target) and not there_is:
                found.append(f"{here}: {target}")
    return found


def test_no_link_in_the_repository_is_dead() -> None:
    assert not dead(ROOT, headings)


def test_no_link_in_the_folder_of_copies_is_dead(tmp_path: Path) -> None:
    refresh(ROOT / "notebooks", tmp_path)
    assert not dead(tmp_path, ids, top="/")
    assert (tmp_path / "docs" / "images").is_dir()


def test_copied_pages_follow_the_repository_and_spare_what_is_not_ours(tmp_path: Path) -> None:
    copies, page = tmp_path / "mine", tmp_path / "docs" / "a.md"
    for file in (tmp_path / "notebooks" / "b.ipynb", copies / "README.md", page):
        file.parent.mkdir(exist_ok=True)
        file.write_text('{"cells": []}')
    (tmp_path / "README.md").write_text("the workbook's")
    for text in ("old", "[b](../notebooks/b.ipynb), [it](a.md#x), [code](..)"):
        page.write_text(text)
        refresh(tmp_path / "notebooks", copies)
    assert (copies / "docs" / "a.md").read_text() == "[b](../b.ipynb), [it](a.md#x), code"
    assert (copies / "README.md").read_text() == '{"cells": []}'


@pytest.mark.parametrize("page", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda p: p.stem)
def test_a_notebook_links_to_the_pages_it_names(page: Path) -> None:
    assert not re.findall(r"`(?:docs/[\w-]+|README|CONTRIBUTING)\.md`", text_of(page))

"""What a chapter shows, for those who read it by other means: axe-core on its exported page."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from chapters import NOTEBOOKS
from chromium import chromium, grave, needed
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from workbook.stack import jars

pytestmark = [pytest.mark.slow, needed]

CHAPTERS = [path for path in NOTEBOOKS if path.stem[:2] in ("00", "02", "21")]
WHERE = """{include: [['body']], exclude: [
  ['.jp-InputPrompt'], ['.jp-OutputPrompt'], ['.highlight'], ['.jp-RenderedText']]}"""
"""Without Jupyter's own theme, whose prompts, code, traces and links are too pale."""


@pytest.fixture(params=CHAPTERS, ids=lambda path: path.stem)
def page_of(request: pytest.FixtureRequest, broker: Any, tmp_path: Path) -> Path:
    """A chapter that has run, as a page of its own."""
    jars.prefetch()
    notebook = nbformat.read(request.param, 4)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    html, _ = HTMLExporter().from_notebook_node(notebook, {"metadata": {"name": "chapter"}})
    page = tmp_path / "chapter.html"
    page.write_text(html)
    return page


def test_axe_core_finds_nothing_serious(page_of: Path) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(page_of.as_uri(), wait_until="domcontentloaded")
        assert grave(page, WHERE, "{'link-in-text-block': {enabled: false}}") == []

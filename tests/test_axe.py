"""What a chapter shows, for those who read it by other means: axe-core on its exported page."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from chapters import NOTEBOOKS
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from workbook.stack import jars

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.base", reason="axe-core is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH"),
]

CHAPTERS = [path for path in NOTEBOOKS if path.stem[:2] in ("00", "02", "21")]
GRAVE = ("serious", "critical")

RUN = """axe.run(
  {include: [['body']], exclude: [['.jp-InputPrompt'], ['.jp-OutputPrompt'], ['.highlight'],
                                  ['.jp-RenderedText']]},
  {resultTypes: ['violations'], rules: {'link-in-text-block': {enabled: false}}}
)"""
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
    script = (Path(axe.__file__).parent / "axe.min.js").read_text()
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(page_of.as_uri(), wait_until="domcontentloaded")
        page.evaluate(script)
        found = page.evaluate(RUN)["violations"]
        browser.close()
    grave = [
        (each["id"], len(each["nodes"]), each["nodes"][0]["html"][:200])
        for each in found
        if each["impact"] in GRAVE
    ]
    assert grave == []

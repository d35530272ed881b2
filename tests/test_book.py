"""The static pages of `make book`: read on a phone and on a screen, and by axe-core."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from workbook.stack.folders import ROOT

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.base", reason="axe-core is not installed")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH"),
]

CHAPTERS = ["00_start_here", "12_clamp"]
"""One with widgets, and one with pictures and checks."""

READ = [*(f"notebooks/{name}.html" for name in CHAPTERS), "index.html", "docs/cli.html"]
RUN = """axe.run({resultTypes: ['violations']}).then(found => found.violations.filter(
  each => ['serious', 'critical'].includes(each.impact)).map(
  each => [each.id, each.nodes.length, each.nodes[0].html.slice(0, 200)]))"""


@pytest.fixture(scope="module")
def site() -> Path:
    words = ["make", "book", f"CHAPTERS={' '.join(CHAPTERS)}"]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert built.returncode == 0, built.stdout + built.stderr
    return ROOT / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", READ)
def test_a_page_fits_and_axe_core_finds_nothing_serious(
    site: Path, browser: Any, name: str, width: int
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((site / name).as_uri(), wait_until="load")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text())
    assert page.evaluate(RUN) == []
    page.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_widgets_stand_still_and_links_lead_somewhere(site: Path, name: str) -> None:
    text = (site / "notebooks" / f"{name}.html").read_text()
    assert "widget-view" not in text
    assert "Traceback" not in text
    here = site / "notebooks"
    for link in re.findall(r'href="([^"#]+)', text):
        parts = urlsplit(link)
        # The chapters that weren't built here have no page.
        if not parts.scheme and not re.search(r"(\d\d|mob)_\w+\.(html|ipynb)$", parts.path):
            assert (here / unquote(parts.path)).exists(), link

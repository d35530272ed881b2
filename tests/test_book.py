"""The static pages of `make book`: read on a phone and on a screen, and by axe-core."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from chromium import chromium, grave, needed

from workbook.stack.folders import ROOT

pytestmark = [pytest.mark.slow, needed]

CHAPTERS = ["00_start_here", "12_clamp", "21_us_share_holders"]
"""Widgets; pictures with axes, and checks; rows of boxes, and a slider."""

READ = [*(f"notebooks/{name}.html" for name in CHAPTERS), "index.html", "docs/cli.html"]


@pytest.fixture(scope="module")
def site() -> Path:
    words = ["make", "book", f"CHAPTERS={' '.join(CHAPTERS)}"]
    built = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert built.returncode == 0, built.stdout + built.stderr
    return ROOT / "site"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("name", READ)
def test_a_page_fits_and_axe_core_finds_nothing_serious(site, browser, name, width) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((site / name).as_uri(), wait_until="load")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert grave(page) == []
    page.close()


@pytest.mark.parametrize("name", CHAPTERS)
def test_widgets_stand_still_and_links_lead_somewhere(site: Path, name: str) -> None:
    text = (site / "notebooks" / f"{name}.html").read_text()
    assert "widget-view" not in text
    assert "Traceback" not in text
    assert "IPython.core.display" not in text
    here = site / "notebooks"
    for link in re.findall(r'href="([^"#]+)', text):
        parts = urlsplit(link)
        # The chapters that weren't built here have no page.
        if not parts.scheme and not re.search(r"(\d\d|mob)_\w+\.(html|ipynb)$", parts.path):
            assert (here / unquote(parts.path)).exists(), link

"""Debian's Chromium, and what axe-core finds on one of its pages."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needed = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")


@contextmanager
def chromium(flags: str = "--no-sandbox") -> Iterator[Any]:
    """A headless browser, closed at the end."""
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=flags.split())
        yield browser
        browser.close()


def grave(page: Any, where: str = "document", rules: str = "{}") -> list[tuple[str, int, str]]:
    """What axe-core finds serious or critical: rule, number of nodes, the first one's HTML."""
    axe = pytest.importorskip("axe_playwright_python.base", reason="axe-core is not installed")
    page.evaluate((Path(axe.__file__).parent / "axe.min.js").read_text())
    found = page.evaluate(f"axe.run({where}, {{resultTypes: ['violations'], rules: {rules}}})")
    return [
        (each["id"], len(each["nodes"]), each["nodes"][0]["html"][:200])
        for each in found["violations"]
        if each["impact"] in ("serious", "critical")
    ]

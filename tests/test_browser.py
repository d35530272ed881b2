"""A learner's browser: JupyterLab in headless Chromium, chapters run, the shop clicked.

`WORKBOOK_SCREENSHOTS=docs/images` keeps the pictures, one of which stands in the README.
"""

import os
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from chromium import chromium, needed
from labs import OwnLab, interrupt, own_lab, read_until, until
from nbformat.reader import NotJSONError
from nbformat.v4 import new_code_cell, new_notebook

from workbook.stack import jars

pytestmark = needed

FLAGS = (
    "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run"
)
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
RUN_S = 300_000
"""Milliseconds that a chapter may take to run in the browser."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[OwnLab, str]]:
    """An open lab with copies of its own, and its address."""
    jars.prefetch()
    with own_lab() as mine:
        mine.env["WORKBOOK_NOTEBOOKS"] = str(tmp_path_factory.mktemp("lab") / "my notebooks ü")
        process = mine.start("-m", "workbook", "lab", "--no-browser")
        address = read_until(process, "The lab is open").partition(": ")[2].strip()
        yield mine, address
        assert "Everything the lab started has ended" in interrupt(process)
        mine.assert_nothing_is_left(set())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(FLAGS) as started:
        yield started


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    page = browser.new_page(viewport={"width": 1100, "height": 1000})
    page.set_default_timeout(120_000)
    yield page
    page.close()


def open_chapter(page: Any, address: str, name: str) -> None:
    # Without the pages that an earlier test had open: hidden, they would be found first.
    page.goto(address.replace("00_start_here", name) + "&reset")
    page.wait_for_selector(".jp-Notebook .jp-Cell")
    page.wait_for_selector("text=Python 3 (ipykernel) | Idle")
    assert page.locator(".jp-Dialog").count() == 0, "a dialog meets the learner"
    assert page.get_by_text("official Jupyter news").count() == 0


def run_up_to(page: Any, text: str) -> None:
    """Select the cell that holds a text, run all above it and it, and wait for the kernel."""
    find_cell(page, text).locator(".jp-InputArea-editor").first.click()
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Above Selected Cell", exact=True).click()
    page.keyboard.press("Control+Enter")
    page.wait_for_function(
        "!Array.from(document.querySelectorAll('.jp-InputPrompt'))"
        ".some(prompt => prompt.textContent.includes('[*]'))",
        timeout=RUN_S,
    )
    errors = page.locator(".jp-RenderedText[data-mime-type='application/vnd.jupyter.error']")
    assert errors.count() == 0, errors.first.inner_text()


def find_cell(page: Any, text: str) -> Any:
    """The code cell with a text; cells far away are not drawn before they are scrolled to."""
    cell = page.locator(".jp-CodeCell", has_text=text).last
    panel = page.locator(".jp-WindowedPanel-outer").first
    for place in range(0, 40_000, 600):
        if cell.count():
            break
        panel.evaluate("(panel, place) => panel.scrollTop = place", place)
        page.wait_for_timeout(50)
    cell.scroll_into_view_if_needed()
    return cell


def keep_screenshot(page: Any, name: str) -> None:
    folder = os.environ.get("WORKBOOK_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{folder}/{name}.png")


def test_one_s_own_clicks_are_counted_by_spark(lab: tuple[OwnLab, str], page: Any) -> None:
    open_chapter(page, lab[1], "00_start_here")
    run_up_to(page, "Page views, counted by Spark")
    cell = find_cell(page, "Page views, counted by Spark")

    def shoes() -> int:
        row = re.search(r"/shoes\s+([\d,]+)", cell.inner_text())
        return int(row.group(1).replace(",", "")) if row else 0

    until(lambda: shoes() > 0, "Spark's first count of /shoes")
    before = shoes()
    for _ in range(3):
        cell.get_by_role("button", name="Shoes").click()
    until(lambda: shoes() >= before + 3, "three more views of /shoes")
    assert shoes() == before + 3
    keep_screenshot(page, "00_start_here")


IMPORTS = """
import ipywidgets
from workbook.views.live import Live
"""
BUTTONS = """
earlier = globals().get("watching")
watching, ended = Live(lambda: "goes on"), Live(lambda: "is over")
ended.stop()
if earlier:
    earlier._thread.join(5)
    print("The earlier view lives:", earlier._thread.is_alive())
ipywidgets.Button(description="Press me")
"""


def is_saved(file: Path, word: str) -> bool:
    """What the saved cells show is in the saved state, and so is a word of it."""
    try:
        saved = nbformat.read(file, 4)
    except NotJSONError:  # it is just being written
        return False
    outputs = [output for cell in saved.cells for output in cell.outputs if "data" in output]
    views = [output.data.get("application/vnd.jupyter.widget-view+json") for output in outputs]
    shown = {view["model_id"] for view in views if view}
    widgets = saved.metadata.get("widgets", {})
    state = widgets.get("application/vnd.jupyter.widget-state+json", {}).get("state", {})
    return len(shown) > 0 and shown <= set(state) and word in str(state)


def open_with(page: Any, lab: tuple[OwnLab, str], name: str, *texts: str) -> Path:
    """Open a notebook of these cells; return its file."""
    file = Path(lab[0].env["WORKBOOK_NOTEBOOKS"]) / f"{name}.ipynb"
    cells = [new_code_cell(text.strip()) for text in texts]
    nbformat.write(new_notebook(cells=cells, metadata=KERNEL), file)
    open_chapter(page, lab[1], name)
    return file


def test_a_cell_run_again_ends_its_view_and_a_saved_notebook_shows_its_buttons(lab, page) -> None:
    address = lab[1]
    file = open_with(page, lab, "saved", IMPORTS, BUTTONS)
    run_up_to(page, "Press me")
    run_up_to(page, "Press me")
    page.get_by_text("The earlier view lives: False", exact=True).wait_for()
    page.get_by_role("button", name="Press me").wait_for()
    page.keyboard.press("Control+s")
    until(lambda: is_saved(file, "Press me"), "the saved buttons")

    server, _, token = address.replace("/lab/tree/00_start_here.ipynb", "").partition("?token=")
    said = {"headers": {"Authorization": f"token {token}"}}
    [kernel] = [
        session["kernel"]["id"]
        for session in page.request.get(f"{server}/api/sessions", **said).json()
        if session["path"] == file.name
    ]
    page.goto("about:blank")
    page.request.delete(f"{server}/api/kernels/{kernel}", **said)
    open_chapter(page, address, "saved")
    page.get_by_role("button", name="Press me").wait_for()
    assert page.get_by_role("button", name="Stop watching").count() == 1
    assert page.get_by_text("Error displaying widget").count() == 0


PICTURES = {
    "00_start_here": {"Who writes where": "keys", "This chapter's pipeline": "pipeline"},
    "01_page_view_counter": {"Two memories": "tape"},
    "02_views_per_second": {"Event time against arrival": "event_time"},
    "04_at_least_once": {"kill -9 ends a program": "crash", "The checkpoint:": "checkpoint"},
    "05_many_partitions": {"The clock of each partition": "clocks"},
    "06_rebalance": {"Who reads what": "group"},
    "11_event_time_timeout": {"Each visit on its line": "merging"},
    "12_clamp": {"A topic may be read up to the": "leads"},
    "13_restart_from_the_sink": {"Above, the partition that is read": "restart"},
    "32_windowed_store": {"A line per group": "windowed_store"},
    "22_stores_and_instances": {"Look for what the query costs": "topology"},
    "20_positions_table": {"before and after its compaction": "compaction"},
    "21_us_share_holders": {"The groups, change by change": "groups", "One update:": "update"},
    "30_consumer_offsets": {"Each cell is a byte": "record_bytes"},
    "31_active_groups": {"Groups over time": "group_life"},
    "42_the_owners_page": {"How is my ad doing": "owners_page"},
    "45_groups_of_viewers": {"How is my ad doing": "owners_page_groups"},
    "43_reprocess_and_diagnose": {"How is my ad doing": "owners_page_replayed"},
}
"""Chapter to the captions of its pictures, and the names under which they are kept."""


@pytest.mark.slow
@pytest.mark.parametrize("chapter", PICTURES)
def test_each_picture_stands_in_its_chapter(lab, page, chapter) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    open_chapter(page, lab[1], chapter)
    page.get_by_role("menuitem", name="View", exact=True).click()
    page.get_by_text("Expand All Code", exact=True).click()
    cells = nbformat.read(Path(lab[0].env["WORKBOOK_NOTEBOOKS"]) / f"{chapter}.ipynb", 4).cells
    sources = [cell.source for cell in cells if cell.cell_type == "code"]
    closing = "chapter.close()" if chapter[:2] != "04" else "each.close()"
    [last] = [one for one, after in pairwise(sources) if closing in after]
    run_up_to(page, max(last.splitlines(), key=len))
    panel = page.locator(".jp-WindowedPanel-outer").first
    for caption, name in PICTURES[chapter].items():
        figure = page.locator("figure:visible", has_text=caption).last
        for place in range(0, 60_000, 500):
            if figure.count() and figure.is_visible():
                break
            panel.evaluate("(panel, place) => panel.scrollTop = place", place)
            page.wait_for_timeout(80)
        for width in (1440, 1280):
            page.set_viewport_size({"width": width, "height": 900})
            figure.scroll_into_view_if_needed()
            sizes = figure.evaluate("f => [f.scrollWidth, f.clientWidth]")
            assert sizes[0] <= sizes[1] + 1, f"{name} is cut off at {width} pixels"
        if folder := os.environ.get("WORKBOOK_SCREENSHOTS"):
            Path(folder).mkdir(parents=True, exist_ok=True)
            figure.screenshot(path=f"{folder}/{name}.png")
    run_up_to(page, closing)


SETUP = """
import pandas as pd
from workbook.views.cell_clock import keep_the_current_cell
from workbook.views.clocks import clocks
from workbook.views.rewind import Rewind
keep_the_current_cell()
"""
PRESSED = """
presses = []
button = ipywidgets.Button(description="Press this")
button.on_click(presses.append)
watching = Live(lambda: f"pressed {len(presses)} times")
button
"""
SLIDER = """
polled = pd.DataFrame({"partition": range(5), "timestamp": range(5)})
Rewind(lambda n: clocks(polled, 5, until=n), [(f"after {n} records", n) for n in range(6)])
"""


def test_buttons_and_a_slider_keep_the_current_cell_and_survive_a_reload(lab, page) -> None:
    file = open_with(page, lab, "pressed", IMPORTS + SETUP, PRESSED, SLIDER, "far_below = 2")
    run_up_to(page, "Rewind(lambda")
    find_cell(page, "far_below").locator(".jp-InputArea-editor").first.click()
    page.get_by_role("button", name="Press this").click()
    page.get_by_text("pressed 1 times").wait_for()
    assert "far_below" in page.locator(".jp-Cell.jp-mod-active").inner_text()
    cell = find_cell(page, "Rewind(lambda")
    page.get_by_text("Partitions with a clock: 5 of 5").first.wait_for()
    assert cell.locator("figure").count() == 1
    cell.locator(".noUi-handle").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.get_by_text("Partitions with a clock: 3 of 5").first.wait_for()
    assert cell.locator("figure:visible").count() == 1
    cell.get_by_role("button", name="back").click()
    page.get_by_text("Partitions with a clock: 2 of 5").first.wait_for()
    cell.get_by_role("button", name="forward").focus()
    page.keyboard.press("Space")
    page.get_by_text("Partitions with a clock: 3 of 5").first.wait_for()
    page.keyboard.press("Control+s")
    until(lambda: is_saved(file, "after 3 records"), "the saved widgets")
    page.goto("about:blank")
    open_chapter(page, lab[1], "pressed")
    page.get_by_role("button", name="Press this").click()
    page.get_by_text("pressed 2 times").wait_for()
    find_cell(page, "Rewind(lambda").get_by_role("button", name="back").click()
    page.get_by_text("Partitions with a clock: 2 of 5").first.wait_for()

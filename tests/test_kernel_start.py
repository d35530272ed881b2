"""A restarted kernel of the lab: a name that is gone is explained, and `recover()` helps."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernels import Kernel, kernel

from workbook.classroom import kernel_start
from workbook.classroom.errors import NOTEBOOKS
from workbook.errors import WorkbookError
from workbook.stack import jupyter

CHAPTERS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb"))


@pytest.fixture
def mine(broker: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Kernel]:
    """A kernel that JupyterLab has started for chapter 01."""
    own = tmp_path / "own.py"
    own.write_text("mine = 42\n")
    monkeypatch.setenv("PYTHONSTARTUP", str(own))
    env = {
        "PYTHONSTARTUP": str(jupyter._startup()),
        "JPY_SESSION_NAME": "/somewhere/my notebooks/newer_01_page_view_counter.ipynb",
    }
    with kernel(tmp_path, **env) as made:
        yield made


def test_after_a_restart_a_missing_name_says_what_to_do(mine: Kernel) -> None:
    assert mine.run("print(mine)") == "42\n"  # somebody's own start-up file still runs
    assert "prepare" not in mine.run("print(dir())")
    missing = mine.failing("shop.click('/home')")
    assert "\x1b[1mrecover()\x1b[0m in a cell of its own" in (
        advice := missing.rpartition("What to do")[2]
    )
    assert "`" not in advice
    assert max(map(len, advice.splitlines())) < 90
    began = time.monotonic()
    assert "Go on under “1. Six records, raw”" in mine.run("recover()")
    took = time.monotonic() - began
    assert mine.run("print(len(shop.sent))") == "5\n"
    assert "ran for 4 s" in mine.run("import time; time.sleep(4)")
    assert mine.run("time.sleep(0.1)") == ""
    fold = "from workbook.views import cell_clock\ncell_clock.running_cell = lambda: "
    mine.run(f"{fold}min(cell_clock._clock.folded)")
    assert "has run" in mine.run("1")
    mine.run(f"{fold}None")
    again = mine.failing("next_count(1, b'')")
    assert "made in another cell of this chapter, under “2. The step" in " ".join(again.split())
    began = time.monotonic()
    assert "open again" in mine.run("recover()")  # twice
    assert min(took, time.monotonic() - began) < 10  # the machine may have been busy once
    mine.run("chapter.close()")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_knows_where_it_opens(chapter: str) -> None:
    found = json.loads((NOTEBOOKS / f"{chapter}.ipynb").read_text())["cells"]
    sources, heading = kernel_start._opening(found)
    assert sum("Chapter(" in source for source in sources) == 1
    assert "Chapter(" in sources[-1]
    assert heading.startswith(("1.", "2."))


def test_elsewhere_it_says_so() -> None:
    with pytest.raises(WorkbookError, match="Expected a chapter's notebook"):
        kernel_start.recover(chapter="Untitled")


def test_a_step_that_there_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_start, "get_ipython", object)
    with pytest.raises(WorkbookError, match="steps 1 to 6"):
        kernel_start.recover(7, "mob_ninety_minutes")

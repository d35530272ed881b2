"""A restarted kernel of the lab: errors say what to do, `recover()` helps, `close()` ends Spark."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from kernels import Kernel, kernel
from labs import until

from workbook.classroom import kernel_start
from workbook.classroom.errors import NOTEBOOKS
from workbook.errors import WorkbookError
from workbook.stack import jupyter

CHAPTERS = sorted(path.stem for path in NOTEBOOKS.glob("[0-9]*.ipynb"))

OPENS = """
from workbook.classroom import chapter as module
module.PAUSE_S = 10**6  # the tests' lab keeps no spare: each that a test kills would cost another
recover()
"""

SPARK = """
import time
from workbook.spark import session
while not session._starting.locked():
    time.sleep(0.01)
spark = chapter.spark()
assert spark.range(3).count() == 3 and chapter.spark() is spark
"""

FAILS = """
query = (
    spark.readStream.format('kafka').options(**chapter.spark_options)
    .option('subscribe', 'nowhere').load()
    .writeStream.format('noop').option('checkpointLocation', chapter.checkpoint()).start()
)
"""


@pytest.fixture(scope="module")
def mine(broker: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kernel]:
    """A kernel that JupyterLab has started for chapter 01; its Spark is a cold one."""
    folder = tmp_path_factory.mktemp("mine")
    own = folder / "own.py"
    own.write_text("mine = 42\n")
    with pytest.MonkeyPatch.context() as before:
        before.setenv("PYTHONSTARTUP", str(own))
        startup = str(jupyter._startup())
    env = {
        "PYTHONSTARTUP": startup,
        "JPY_SESSION_NAME": "/somewhere/my notebooks/newer_01_page_view_counter.ipynb",
        "SPARK_DRIVER_MEMORY": "2049m",  # more than a warm one has
    }
    with kernel(folder, **env) as made:
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
    assert "Go on under “1. Six records, raw”" in mine.run(OPENS)
    took = time.monotonic() - began
    assert "Spark is starting" in mine.run(SPARK)  # in the background, since the chapter opened
    assert mine.run("print(len(shop.sent))") == "5\n"
    assert "ran for 4 s" in mine.run("time.sleep(4)")
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


@pytest.fixture
def opened(mine: Kernel) -> Kernel:
    """The kernel with its chapter open, whether or not a test has opened it before."""
    mine.run(OPENS)
    return mine


def test_an_error_stays_an_error_and_is_short(opened: Kernel) -> None:
    shown = opened.failing("one = 1\nchapter.wait(lambda: 0, 'a miracle', seconds=0.1)")
    assert "a miracle" in shown
    assert "live.py" not in shown
    assert "%tb" in shown
    assert "live.py" in opened.run("%tb")
    assert "1 / 0" in opened.failing("def mine():\n    return 1 / 0\n\nmine()")
    for unknown in ("import nothing_of_the_kind", "nothing_of_the_kind"):
        assert "What to do" not in opened.failing(unknown)
    assert "SyntaxError" in opened.failing("a b c")
    stopped = opened.failing("def f():\n    raise KeyboardInterrupt\nchapter.wait(f, 'x')")
    assert "You've interrupted the cell" in stopped
    assert "process of Spark" not in stopped
    assert "live.py" not in stopped
    assert "they differ" in opened.failing("assert 1 == 2")
    assert "they differ" not in opened.failing("assert 1 == 2, 'a text of its own'")
    assert opened.run("print(one)") == "1\n"


def test_a_query_that_fails_is_reported_once_and_spark_ends_with_the_chapter(opened) -> None:
    opened.run("spark = chapter.spark()")
    opened.run(FAILS)
    waiting = opened.failing("chapter.wait(lambda: False, 'rows', seconds=60)")
    assert "UnknownTopicOrPartition" in waiting
    assert "The topic isn't there" in waiting
    assert "Streaming Query ===" not in waiting
    assert opened.run("pass") == ""
    opened.run(FAILS + "query, failed = query, query")
    text = opened.run("chapter.wait(lambda: query.exception(), 'the failure')\nNone")
    assert text.count("The query `") == 1  # below a line on what is waited for
    assert "What to do: The topic isn't there" in text
    assert opened.sparks()
    closing = opened.run("chapter.close()\nchapter.close()")
    assert "Closed." in closing
    assert "The query" not in closing
    assert "Traceback" not in closing
    closed = opened.failing("spark.range(3).count()")
    assert "Spark was closed" in closed
    assert "pyspark/" not in closed
    until(lambda: not opened.sparks(), "the end of Spark's Java process")


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

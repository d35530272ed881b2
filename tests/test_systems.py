"""The systems as declared: complete, each under its own name, and listed in docs/cli.md."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser
from pathlib import Path

import pytest

from workbook.systems import STREAMS, SYSTEMS, by_name
from workbook.systems.base import System
from workbook.systems.crashes import CRASHES
from workbook.systems.crashes.base import Crashes
from workbook.systems.page_views import PageViews

COMMANDS = Path(__file__).parents[1] / "docs/cli.md"


class Nameless(PageViews):
    """Lacks two of its declarations."""

    name = ""
    examples = ()


def test_a_system_that_declares_too_little_is_named() -> None:
    with pytest.raises(ValueError, match="Expected Nameless to declare name, examples: add it"):
        by_name([Nameless()])


def test_a_system_that_cannot_start_is_named() -> None:
    class Unfinished(System):
        def add_options(self, parser: ArgumentParser) -> None:
            pass

    with pytest.raises(TypeError, match=r"Unfinished .*abstract methods? .*'?start"):
        Unfinished()


@pytest.mark.parametrize("missing", ["fill", "judge", "out", "came"])
def test_crashes_without_an_input_results_or_a_judge_are_named(missing: str) -> None:
    def done(self: Crashes) -> None:
        pass

    there = {name: done for name in ("fill", "judge", "out", "came") if name != missing}
    with pytest.raises(TypeError, match=rf"Unjudged .*abstract method '?{missing}"):
        type("Unjudged", (Crashes,), there)()


def test_two_systems_of_one_name_are_named() -> None:
    class Other(PageViews):
        pass

    with pytest.raises(ValueError, match="PageViews and Other are both 'page_views': rename one"):
        by_name([PageViews(), Other()])


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_the_page_of_commands_tells_of_each_system(system: System) -> None:
    text = COMMANDS.read_text()
    assert f"run {system.name}" in text
    assert f"systems/{system.name}.py" in text
    assert not system.streams or system.reads in STREAMS
    assert all(f"generate {stream.name}" in text for stream in system.streams)


@pytest.mark.parametrize("name", CRASHES)
def test_the_crash_lab_can_run_it(name: str) -> None:
    options = SYSTEMS[name].options(["--out", "results", *CRASHES[name].words])
    assert options.out == "results"


def test_help_loads_neither_spark_nor_kafka() -> None:
    heavy = {"pyspark", "confluent_kafka", "pandas", "polars", "pyarrow", "numpy", "IPython"}
    code = (
        "import sys\nfrom workbook.cli import main\n"
        "try: main(['run', 'share_holders', '--help'])\nexcept SystemExit: pass\n"
        f"print('loaded', sorted({heavy!r} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Keep the table of who holds US shares" in said.stdout
    assert "--lateness" not in said.stdout
    assert said.stdout.splitlines()[-1] == "loaded []"

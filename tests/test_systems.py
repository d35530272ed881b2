"""The systems as declared: complete, each under its own name, and on each page that lists them."""

import subprocess
import sys
from pathlib import Path

import pytest

from workbook.crashlab.crashes import CRASHES
from workbook.systems import STREAMS, SYSTEMS
from workbook.systems.base import System

DOCS = Path(__file__).parents[1] / "docs"
NOT_IN_THE_CRASH_LAB = {"archive": "killed at random, in test_archive.py"}


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=list(SYSTEMS))
def test_each_page_that_lists_the_systems_has_it_and_the_crash_lab_too(system: System) -> None:
    for page in ("own-servers.md", "guarantees.md"):
        assert f"`run {system.name}" in (DOCS / page).read_text(), page
    assert (system.name in CRASHES) != (system.name in NOT_IN_THE_CRASH_LAB)
    text = (DOCS / "cli.md").read_text()
    assert f"run {system.name}" in text
    assert f"systems/{system.name}.py" in text
    assert not system.streams or system.reads.removesuffix(".long-lived") in STREAMS
    assert all(f"generate {stream.name}" in text for stream in system.streams)


@pytest.mark.parametrize("name", CRASHES)
def test_the_crash_lab_can_run_it(name: str, tmp_path: Path) -> None:
    crashes, system = CRASHES[name], SYSTEMS[name]
    for variant in crashes.variants:
        words = (*crashes.out("results", tmp_path), *crashes.words, *variant.words)
        assert system.options(words).checkpoint is None
        assert variant.points


def test_help_loads_neither_spark_nor_kafka() -> None:
    heavy = {"pyspark", "confluent_kafka", "pandas", "polars", "pyarrow", "numpy"}
    heavy |= {"IPython", "psycopg"}
    code = (
        "import sys\nfrom workbook.cli.main import main\n"
        "try: main(['run', 'share_holders', '--help'])\nexcept SystemExit: pass\n"
        f"print('loaded', sorted({heavy!r} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Keep the table of who holds US shares" in said.stdout
    assert "--lateness" not in said.stdout
    assert said.stdout.splitlines()[-1] == "loaded []"

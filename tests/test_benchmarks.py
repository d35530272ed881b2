"""Each benchmark runs to its end; its figures for tiny inputs mean nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
COMPARE = "compare {} --messages 2000 --rounds 2" + ("" if shutil.which("javac") else " --no-peer")
SYSTEMS = tuple(path.stem for path in (BENCHMARKS / "systems").glob("*.py"))
TINY = (
    *map(COMPARE.format, SYSTEMS),
    "ad_latency --rate 100 --seconds 5",
    "crash_matrix --seeds 1 --systems page_views --variants after-poll --write {folder}/page",
    "diagnosis --actions 2000 --runs 1",
    "group_latency --commits 2",
    "live_views 0.5",
    "migrate --ads 20 --days 5",
    "pictures",
    "soak --minutes 0.5",
    "startup 1",
    "state 1000",
)


def test_no_benchmark_is_forgotten() -> None:
    found = {path.stem for path in BENCHMARKS.glob("*.py")} - {"harness", "rounds"}
    assert found == {words.split()[0] for words in TINY}


@pytest.mark.slow
@pytest.mark.parametrize("words", TINY)
def test_a_benchmark_runs_to_its_end(words: str, tmp_path: Path) -> None:
    name, *options = words.format(folder=tmp_path).split()
    command = [sys.executable, BENCHMARKS / f"{name}.py", *options]
    ran = subprocess.run(command, text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr[-2000:]

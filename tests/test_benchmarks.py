"""Each benchmark runs to its end; its figures for tiny inputs mean nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TINY = (
    "active_groups --records 2000 --runs 1 --commits 2 --per-batch 1000",
    "ad_statistics --actions 2000 --runs 1 --no-peer",
    "ad_statistics --latency 100 --seconds 5",
    "assigned --records 2000 --commits 2",
    "clamped --messages 2000 --runs 1",
    "crash_matrix --seeds 1 --systems page_views --variants after-poll --write {folder}/page",
    "dashboard --groups 20 --looks 2",
    "diagnosis --actions 2000 --runs 1",
    "event_time_merge --messages 5000 --runs 1 --no-peer",
    "lead --hours 0.02 --leads 10s",
    "live_views 0.5",
    "migrate --ads 20 --days 5",
    "pictures",
    "share_holders --updates 2000 --runs 1 --no-peer",
    "soak --minutes 0.5",
    "startup 1",
    "state 1000",
    "viewers 1",
    "views_per_second --events 2000 --runs 1",
    "windowed_store --groups 10 --windows 3 --seconds 2",
)


def test_no_benchmark_is_forgotten() -> None:
    found = {path.stem for path in BENCHMARKS.glob("*.py")} - {"ad_latency"}  # of ad_statistics
    assert found == {words.split()[0] for words in TINY}


@pytest.mark.slow
@pytest.mark.parametrize("words", TINY)
def test_a_benchmark_runs_to_its_end(words: str, tmp_path: Path) -> None:
    name, *options = words.format(folder=tmp_path).split()
    command = [sys.executable, BENCHMARKS / f"{name}.py", *options]
    ran = subprocess.run(command, text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr[-2000:]

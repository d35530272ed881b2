"""Each benchmark runs to its end; its figures for tiny inputs mean nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
TINY = {
    "active_groups": "--records 2000 --runs 1 --commits 2 --per-batch 1000",
    "ad_latency": "",
    "ad_statistics": "--actions 2000 --runs 1 --no-peer",
    "assigned": "--records 2000 --commits 2",
    "clamped": "--messages 2000 --runs 1",
    "crash_matrix": "--seeds 1 --systems page_views --variants after-poll --write {folder}/page",
    "dashboard": "--groups 20 --looks 2",
    "diagnosis": "--actions 2000 --runs 1",
    "event_time_merge": "--messages 5000 --runs 1 --no-peer",
    "lead": "--hours 0.02 --leads 10s",
    "live_views": "0.5",
    "migrate": "--ads 20 --days 5 --ranges 8",
    "pictures": "",
    "share_holders": "--updates 2000 --runs 1 --no-peer",
    "soak": "--minutes 0.5",
    "startup": "1",
    "state": "1000",
    "viewers": "1",
    "views_per_second": "--events 2000 --runs 1",
    "windowed_store": "--groups 10 --windows 3 --seconds 2",
}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_runs_to_its_end(path: Path, tmp_path: Path) -> None:
    words = TINY[path.stem].format(folder=tmp_path).split()
    ran = subprocess.run([sys.executable, path, *words], text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr[-2000:]

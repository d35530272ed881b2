"""Each benchmark runs to its end; its figures for tiny inputs mean nothing."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
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
    "latency --rate 50 --seconds 5",
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


def test_the_table_compares_ours_with_the_best_peer_in_pairs(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    from harness import Comparison, Cost, Program, Run, rows

    def runs(*seconds: float) -> list[Run]:
        costs = [Cost(each, {"program": 2 * each, "kafka": each}) for each in seconds]
        return [Run(cost, cost, cost, 1.0) for cost in costs]

    programs = [
        Program(name, [], lambda number: ("", lambda answer: None), role=role)
        for name, role in (("slow", "peer"), ("quick", "peer"), ("own", "ours"))
    ]
    found = {"slow": runs(9, 9, 9), "quick": runs(2, 4, 3), "own": runs(4, 5, 6)}
    slow, _, own = rows(Comparison("counts", 60, programs), found)
    assert slow.startswith("| **counts**, 60 | slow |")
    assert "| 12 (10 to 15) | 0.50 / 0.50 / 0.50 |" in own
    assert "| 166666.7 | 166666.7 | kafka 83333.3 | 1.0 |" in own


@pytest.mark.slow
@pytest.mark.parametrize("words", TINY)
def test_a_benchmark_runs_to_its_end(words: str, tmp_path: Path) -> None:
    name, *options = words.format(folder=tmp_path).split()
    command = [sys.executable, BENCHMARKS / f"{name}.py", *options]
    ran = subprocess.run(command, text=True, capture_output=True)
    assert ran.returncode == 0, ran.stderr[-2000:]


# --- a soak -----------------------------------------------------------------------------------


def test_growth_is_told_from_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    from soak import growth

    at, noise = np.arange(120), 15 * np.sin(np.arange(120) * 7.0)
    grow = [380 + at // 5, 900 + 1.5 * at + noise]
    warm_up, step = 900 + np.minimum(at, 50) * 5 + noise, 900 + 60 * (at > 95) + noise
    bounded = [900 + 3 * noise, warm_up, step, 100 + at % 20, 1000 + at / 10]
    found = [growth([*zip(at / 120, of, strict=True)]) > 0 for of in (*grow, *bounded)]
    assert found == [True] * len(grow) + [False] * len(bounded)

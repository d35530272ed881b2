"""What the soak calls growth, and what it calls bounded."""

from pathlib import Path

import numpy as np
import pytest


def test_growth_is_told_from_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    from soak import growth

    at = np.arange(120)
    noise = 15 * np.sin(at * 7.0)
    shapes = {
        "a leak of four descriptors in ten minutes": (True, 380 + at // 5),
        "a leak in noise": (True, 900 + 1.5 * at + noise),
        "noise": (False, 900 + 3 * noise),
        "a warm-up that ends": (False, 900 + np.minimum(at, 50) * 5 + noise),
        "one step": (False, 900 + 60 * (at > 95) + noise),
        "files that are cleared": (False, 100 + at % 20),
        "less than two per cent an hour": (False, 1000 + at / 10),
    }
    for name, (grows, values) in shapes.items():
        assert bool(growth([*zip(at / 120, values, strict=True)])) == grows, name

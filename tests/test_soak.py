from pathlib import Path

import numpy as np
import pytest


def test_growth_is_told_from_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    from soak import growth

    at, noise = np.arange(120), 15 * np.sin(np.arange(120) * 7.0)
    grow = [380 + at // 5, 900 + 1.5 * at + noise]
    warm_up, step = 900 + np.minimum(at, 50) * 5 + noise, 900 + 60 * (at > 95) + noise
    bounded = [900 + 3 * noise, warm_up, step, 100 + at % 20, 1000 + at / 10]
    found = [growth([*zip(at / 120, of, strict=True)]) > 0 for of in (*grow, *bounded)]
    assert found == [True] * len(grow) + [False] * len(bounded)

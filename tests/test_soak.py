"""What the soak calls growth, and what it calls bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

SHAPES: dict[str, tuple[bool, Callable[[int], float]]] = {
    "a leak of four descriptors in ten minutes": (True, lambda s: 380 + s // 5),
    "a leak in noisy memory": (True, lambda s: 900 + 1.5 * s + 15 * np.sin(s * 7.0)),
    "noise": (False, lambda s: 900 + 40 * np.sin(s * 7.0)),
    "a warm-up that ends": (False, lambda s: 900 + min(s, 50) * 5 + 3 * np.sin(s * 7.0)),
    "one step": (False, lambda s: 900 + 60 * (s > 95) + 3 * np.sin(s * 7.0)),
    "files that are cleared": (False, lambda s: 100 + s % 20),
    "less than two per cent an hour": (False, lambda s: 1000 + s / 10),
}


@pytest.mark.parametrize(("grows", "shape"), SHAPES.values(), ids=SHAPES)
def test_growth_is_told_from_noise(
    grows: bool, shape: Callable[[int], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "benchmarks"))
    from soak import growth

    samples = [(number / 120, shape(number)) for number in range(120)]
    assert bool(growth(samples)) == grows

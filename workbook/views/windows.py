"""Draws windows as a column of boxes beside an axis of event times: closed ones are hatched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbook.views.axis import TimeAxis
from workbook.views.drawing import INK, Drawing

LOW = 8
"""Boxes below this height are joined with their neighbours in the same state."""


@dataclass(frozen=True)
class Windows:
    """Windows by their starts (ms, rising): whether each is closed, and what it holds, in words."""

    starts: NDArray[np.int64]
    closed: NDArray[np.bool_]
    labels: Sequence[str] = ()


def column(drawing: Drawing, axis: TimeAxis, windows: Windows, x: float, width: float) -> None:
    """Draw the windows as boxes ``width`` wide at ``x``, their labels on the right.

    Where there are no labels, or the boxes would be too low to read, neighbours in the same state
    share a box, and their number stands beside it.
    """
    joined = not windows.labels or axis.band < LOW
    for first, last in _runs(axis, windows) if joined else _each(windows):
        closed = bool(windows.closed[first])
        state = "closed" if closed else "open"
        label = f"{last - first + 1:,} {state}" if joined else windows.labels[first]
        top, bottom = axis(windows.starts[last] + axis.step), axis(windows.starts[first])
        high = max(bottom - top - 1, 2.0)
        drawing.box(
            x, top + 0.5, width, high, hatched=closed, dashed=not closed, edge=INK, corner=0,
            title=label if joined else f"{label}, {state}",
        )  # fmt: skip
        if high >= LOW - 1:
            drawing.text(x + width + 5, (top + bottom) / 2 + 4, label, size=10)


def _each(windows: Windows) -> Iterable[tuple[int, int]]:
    return ((n, n) for n in range(len(windows.starts)))


def _runs(axis: TimeAxis, windows: Windows) -> Iterable[tuple[int, int]]:
    """Return the first and the last of neighbours in one state, each within one stretch."""
    if not len(windows.starts):
        return []
    stretch = np.searchsorted([part.end for part in axis.stretches], windows.starts, side="right")
    changes = np.flatnonzero((np.diff(stretch) != 0) | (np.diff(windows.closed) != 0))
    return zip([0, *(changes + 1)], [*changes, len(windows.starts) - 1], strict=True)

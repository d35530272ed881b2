"""Charts of counts per second."""

from collections.abc import Mapping

import numpy as np

from workbook.views.picture import Picture
from workbook.views.plane import LINES, Plane

Series = Mapping[int, int]
"""Epoch second to count."""

SHOWN_S = 60


def per_second(series: Mapping[str, Series], caption: str) -> Picture:
    """Draw counts per second by name: the last minute, the newest at the right.

    A line has a gap where a second has no count. A series without any is named all the same.
    """
    last = max((max(counts, default=0) for counts in series.values()), default=0)
    plane = Plane("seconds before the newest one", "per second", width=700, height=270)
    for (name, counts), (colour, dashes, mark) in zip(series.items(), LINES, strict=False):
        first = max(last - SHOWN_S + 1, min(counts, default=0))
        drawn = range(first, max(counts, default=-1) + 1)
        plane.axes.plot(
            [second - last for second in drawn], [counts.get(second, np.nan) for second in drawn],
            dashes, color=colour, marker=mark, markersize=5, markerfacecolor="none",
            label=f" {name}",  # not drawn where it begins with "_"
        )  # fmt: skip
    plane.axes.set_xlim(-SHOWN_S, 1)
    plane.axes.set_ylim(0, 1.15 * max(plane.axes.get_ylim()[1], 1))
    plane.counts(y=True)
    plane.legend()
    return Picture(plane, caption, rows=_rows(series, last - SHOWN_S))


def _rows(series: Mapping[str, Series], after: int) -> list[dict[str, str]]:
    """Return of each series its newest count, and its mean over the seconds past ``after``."""
    rows = []
    for name, counts in series.items():
        recent = {second: count for second, count in counts.items() if second > after}
        mean = sum(recent.values()) / (max(counts) - min(recent) + 1) if recent else 0.0
        newest = f"{counts[max(counts)]:,}" if counts else "nothing yet"
        rows.append({"line": name, "newest second": newest, "on average": f"{mean:,.1f}"})
    return rows

"""Charts of counts per second."""

from collections.abc import Mapping

import numpy as np

from workbook.views.picture import Picture
from workbook.views.plane import LINES, Plane

Series = Mapping[int, int]
"""Epoch second to count."""

SHOWN_S, NUMBERS = 60, 8


def per_second(series: Mapping[str, Series], caption: str, shown: int = SHOWN_S) -> Picture:
    """Draw counts per second by name: the last ``shown`` seconds, the newest at the right.

    A line has a gap where a second has no count. A series without any is named all the same.
    """
    last = max((max(counts, default=0) for counts in series.values()), default=0)
    plane = Plane("seconds before the newest one", "per second", width=700, height=270)
    for (name, counts), (colour, dashes, mark) in zip(series.items(), LINES, strict=False):
        first = max(last - shown + 1, min(counts, default=0))
        drawn = range(first, max(counts, default=-1) + 1)
        plane.axes.plot(
            [second - last for second in drawn], [counts.get(second, np.nan) for second in drawn],
            dashes, color=colour, marker=mark, markersize=5, markerfacecolor="none",
            label=f" {name}",  # not drawn where it begins with "_"
        )  # fmt: skip
    plane.axes.set_xlim(-shown, 1)
    plane.axes.set_ylim(0, 1.15 * max(plane.axes.get_ylim()[1], 1))
    plane.counts(y=True)
    plane.legend()
    return Picture(plane, caption, in_words(series, last - shown), _rows(series, last))


def in_words(series: Mapping[str, Series], after: int = 0) -> str:
    """Describe each series: its newest count, and its mean over the seconds past ``after``."""
    lines = []
    for name, counts in series.items():
        if not counts:
            lines.append(f"{name}: nothing yet")
            continue
        recent = {second: count for second, count in counts.items() if second > after}
        mean = sum(recent.values()) / (max(counts) - min(recent) + 1) if recent else 0.0
        newest = counts[max(counts)]
        lines.append(f"{name}: {newest:,} in the newest second, {mean:,.1f} on average")
    return "; ".join(lines) + "."


def _rows(series: Mapping[str, Series], last: int) -> list[dict[str, int | str]]:
    """Return a row for each series, a column for each of the last seconds."""
    seconds = range(last - NUMBERS + 1, last + 1)
    return [
        {"per second": name, **{f"{second % 10_000}": counts.get(second, "") for second in seconds}}
        for name, counts in series.items()
    ]

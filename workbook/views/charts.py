"""Lines over time: counts per second, and how a running query is doing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from workbook.views.colours import BLUE, ORANGE
from workbook.views.picture import Picture, number
from workbook.views.plane import LINES, Plane, moments

if TYPE_CHECKING:
    from workbook.spark.progress import Progress

Series = Mapping[int, int]
"""Epoch second to count."""

SHOWN_S = 60


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
    return Picture(plane, caption, rows=_rows(series, last - shown))


def _rows(series: Mapping[str, Series], after: int) -> list[dict[str, str]]:
    """Return of each series its newest count, and its mean over the seconds past ``after``."""
    rows = []
    for name, counts in series.items():
        recent = {second: count for second, count in counts.items() if second > after}
        mean = sum(recent.values()) / (max(counts) - min(recent) + 1) if recent else 0.0
        newest = f"{counts[max(counts)]:,}" if counts else "nothing yet"
        rows.append({"line": name, "newest second": newest, "on average": f"{mean:,.1f}"})
    return rows


# --- how a query is doing ---------------------------------------------------------------------

CAPTION = (
    "Is the query keeping up? The distance upwards between the lines is the lag; the distance to "
    "the right is the time for which a record waits to be read."
)


def panel(progress: Progress) -> list[dict[str, str]]:
    """Return the figures of a query as rows of name, value, unit."""
    return [
        {
            "name": f"{figure.name}: {figure.of}" if figure.of else figure.name,
            "value": f"{figure.value:,.3f}".rstrip("0").rstrip("."),
            "unit": figure.unit,
        }
        for figure in progress.figures()
    ]


def monitor(progress: Progress) -> Picture:
    """Draw the records of the last two minutes, arrived and read: ``monitor(running.progress)``."""
    samples = tuple(progress.samples)
    known = [(s.time * 1000, s.read + s.lag, s.read) for s in samples if s.lag is not None]
    words = "No micro-batch has ended yet."
    if known:
        _, arrived, read = known[-1]
        words = f"{number(read, 'record')} read, lag {number(arrived - read, 'record')}."
        if progress.delay:
            words += " Delay: {:,.1f} s for half of them, {:,.1f} s for 99 %.".format(
                *progress.delay
            )
        words = " ".join([words, *(progress.alerts().values() or ["No alert."])])
    return lag_lines(known, words, panel(progress))


def lag_lines(
    known: Sequence[tuple[float, int, int]],
    words: str,
    rows: Sequence[dict[str, Any]],
    caption: str = CAPTION,
) -> Picture:
    """Draw (ms, records arrived, records read) as two lines, with a caption and a table twin."""
    plane = Plane("time (UTC)", "records since the start")
    plane.counts(y=True)
    if known:
        times, arrived, read = zip(*known, strict=True)
        lines = (arrived, "arrived", "--", ORANGE), (read, "read", "-", BLUE)
        for points, name, look, colour in lines:
            plane.axes.step(moments(times), points, look, where="post", color=colour, label=name)
        plane.times(x=True)
        plane.legend()
    return Picture(plane, caption, words, rows)

"""How a running query is doing: its lag drawn from two lines, and every figure as a table."""

from collections.abc import Sequence
from typing import Any

from workbook.spark.progress import Progress
from workbook.views.colours import BLUE, ORANGE
from workbook.views.picture import Picture, number
from workbook.views.plane import Plane, moments

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

"""The clocks of a topic's partitions, and how far time has come by either rule.

By the minimum a window closes when the slowest clock has passed it; a partition without a record
has no clock, and so nothing closes. By the maximum it closes a fixed delay after the fastest one,
as Spark's watermark does.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbook.views.colours import BLUE, GREEN, GREY, INK_ON_PAPER, ORANGE
from workbook.views.picture import Picture, moment, number
from workbook.views.plane import Plane, moments
from workbook.views.runs import WINDOW_MS

CAPTION = (
    "The clock of each partition: its newest event time. What lies below a line is closed by that "
    "rule."
)
DELAY_MS = 5000
MINIMUM, MAXIMUM = "minimum", f"maximum less {DELAY_MS // 1000} seconds"


def clocks(
    records: pd.DataFrame,
    partitions: int,
    *,
    until: int | None = None,
    recent_ms: int | None = None,
) -> Picture:
    """Draw the clocks after the first ``until`` records, by default all of them.

    ``records`` are in the order in which a reader polled them: partition, timestamp (the event
    time in ms). ``partitions`` is the number of the topic's partitions, with and without records.
    The axis begins ``recent_ms`` before the newest event time, or else with the earliest one.
    """
    whole, read = (part.dropna(subset=["timestamp"]) for part in (records, records[:until]))
    newest = {int(p): int(t) for p, t in read.groupby("partition")["timestamp"].max().items()}
    count = max(partitions, int(whole["partition"].max()) + 1 if len(whole) else 0)
    ends = np.unique(read["timestamp"].to_numpy(np.int64) // WINDOW_MS * WINDOW_MS) + WINDOW_MS
    rules: dict[str, int | None] = {
        MINIMUM: min(newest.values()) if newest and len(newest) == count else None,
        MAXIMUM: max(newest.values()) - DELAY_MS if newest else None,
    }
    behind = rules[MAXIMUM] or 0
    late = [p for p, at in newest.items() if at // WINDOW_MS * WINDOW_MS + WINDOW_MS <= behind]
    plane = Plane("partition", "event time (UTC)", height=360, right=0.24)
    times = whole["timestamp"].to_numpy(np.int64)
    if len(times):
        low = int(times.min()) if recent_ms is None else max(newest.values()) - recent_ms
        low = min(low, *newest.values()) if newest else low
        plane.axes.set_ylim(*moments([low - DELAY_MS, int(times.max()) + WINDOW_MS]))
    _draw_clocks(plane, newest, late, count)
    closed = {name: 0 if at is None else int((ends <= at).sum()) for name, at in rules.items()}
    _draw_rules(plane, rules, closed, len(ends))
    plane.times(y=True)
    plane.counts(x=True)
    plane.legend(3)
    words = f"Partitions with a clock: {len(newest):,} of {count:,}."
    for name, windows in closed.items():
        words += f" Closed by the {name}: {windows:,} of {number(len(ends), 'window')}."
    return Picture(plane, CAPTION, words, _rows(newest, late, count))


def _draw_clocks(plane: Plane, newest: Mapping[int, int], late: Sequence[int], count: int) -> None:
    axes = plane.axes
    for some, fill, label in (
        ([p for p in newest if p not in late], BLUE, "clock"),
        (late, "none", "clock in a window that the maximum has closed"),
    ):
        if some:
            times = moments([newest[p] for p in some])
            axes.plot(some, times, "o", color=BLUE, mfc=fill, label=label)
            axes.vlines(some, axes.get_ylim()[0], times, color=GREY, lw=0.8, zorder=0)
    none = [p for p in range(count) if p not in newest]
    if none:
        axes.plot(
            none, [0.02] * len(none), "s", color=INK_ON_PAPER, mfc="none", label="no record yet",
            transform=axes.get_xaxis_transform(),
        )  # fmt: skip
    axes.set_xlim(-0.7, count - 0.3)


def _draw_rules(
    plane: Plane, rules: Mapping[str, int | None], closed: Mapping[str, int], windows: int
) -> None:
    looks = {MINIMUM: (GREEN, "-"), MAXIMUM: (ORANGE, "--")}
    for name, rule in rules.items():
        if rule is not None:
            colour, dashes = looks[name]
            words = f"by {name}:\n{closed[name]:,} of {windows:,} windows\nclosed"
            plane.axes.axhline(moments(rule), color=colour, ls=dashes, lw=2, label=name)
            plane.beside(moments(rule), words)


def _rows(newest: Mapping[int, int], late: Sequence[int], count: int) -> list[dict[str, Any]]:
    rows = []
    for p in range(count):
        row = {"newest event time": "none", "behind the fastest": "–", "its window": "–"}
        if p in newest:
            row = {
                "newest event time": moment(newest[p]),
                "behind the fastest": f"{(max(newest.values()) - newest[p]) / 1000:,g} s",
                "its window": "closed by the maximum" if p in late else "open",
            }
        rows.append({"partition": p, **row})
    return rows

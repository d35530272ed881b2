"""The clocks of a topic's partitions, and how far time has come by either rule.

By the minimum a window closes when the slowest clock has passed it; a partition without a record
has no clock, and so nothing closes. By the maximum it closes a fixed delay after the fastest one,
as Spark's watermark does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbook.views.colours import BLUE, GREEN, GREY, INK_ON_PAPER, ORANGE
from workbook.views.picture import Picture, duration, moment, number
from workbook.views.plane import Plane, moments

CAPTION = (
    "The clock of each partition: its newest event time. What lies below a line is closed by that "
    "rule."
)


@dataclass(frozen=True)
class _Sheet:
    """The clock (ms) of each partition that has one, and the windows by start (ms)."""

    clocks: Mapping[int, int]
    partitions: Sequence[int]
    windows: NDArray[np.int64]
    window: int
    delay: int

    @property
    def slowest(self) -> int | None:
        """Return the minimum; None until each partition has a clock."""
        ready = len(self.clocks) == len(self.partitions)
        return min(self.clocks.values()) if ready and self.clocks else None

    @property
    def behind(self) -> int | None:
        """Return the maximum less the delay; None until a partition has a clock."""
        return max(self.clocks.values()) - self.delay if self.clocks else None

    def closed(self, rule: int | None) -> int:
        """Count the windows that a rule has closed."""
        return 0 if rule is None else int((self.windows + self.window <= rule).sum())

    def late(self, partition: int) -> bool:
        """Return True if the maximum has closed the window in which a partition's clock is."""
        clock, behind = self.clocks.get(partition), self.behind
        if clock is None or behind is None:
            return False
        return clock // self.window * self.window + self.window <= behind


def clocks(
    records: pd.DataFrame,
    partitions: int,
    *,
    until: int | None = None,
    delay_ms: int = 5000,
    window_ms: int = 1000,
    recent_ms: int | None = None,
    caption: str = CAPTION,
) -> Picture:
    """Draw the clocks after the first ``until`` records, by default all of them.

    ``records`` are in the order in which a reader polled them: partition, timestamp (the event
    time in ms). ``partitions`` is the number of the topic's partitions, with and without records.
    The axis begins ``recent_ms`` before the newest event time, or else with the earliest one.
    """
    whole, read = (part.dropna(subset=["timestamp"]) for part in (records, records[:until]))
    newest = {int(p): int(t) for p, t in read.groupby("partition")["timestamp"].max().items()}
    most = max(partitions, int(whole["partition"].max()) + 1 if len(whole) else 0)
    windows = np.unique(read["timestamp"].to_numpy(np.int64) // window_ms * window_ms)
    sheet = _Sheet(newest, range(most), windows, window_ms, delay_ms)
    times = whole["timestamp"].to_numpy(np.int64)
    plane = Plane("partition", "event time (UTC)", height=360, right=0.2)
    if len(times):
        low = int(times.min()) if recent_ms is None else max(newest.values()) - recent_ms
        low = min(low, *newest.values()) if newest else low
        plane.axes.set_ylim(*moments([low - delay_ms, int(times.max()) + window_ms]))
    _draw(plane, sheet)
    return Picture(plane, caption, _words(sheet), _rows(sheet))


def _draw(plane: Plane, sheet: _Sheet) -> None:
    axes, late = plane.axes, [p for p in sheet.clocks if sheet.late(p)]
    for some, fill, label in (
        ([p for p in sheet.clocks if p not in late], BLUE, "clock"),
        (late, "none", "clock in a window that the maximum has closed"),
    ):
        if some:
            times = moments([sheet.clocks[p] for p in some])
            axes.plot(some, times, "o", color=BLUE, markerfacecolor=fill, label=label)
            axes.vlines(some, axes.get_ylim()[0], times, color=GREY, lw=0.8, zorder=0)
    none = [p for p in sheet.partitions if p not in sheet.clocks]
    if none:
        axes.plot(
            none, [0.02] * len(none), "s", color=INK_ON_PAPER, markerfacecolor="none",
            transform=axes.get_xaxis_transform(), label="no record yet",
        )  # fmt: skip
    rules = (sheet.slowest, GREEN, "-", "minimum"), (sheet.behind, ORANGE, "--", "maximum")
    for rule, colour, dashes, name in rules:
        if rule is not None:
            less = f" less {duration(sheet.delay)}" if name == "maximum" else ""
            at, count = moments(rule), sheet.closed(rule)
            axes.axhline(at, color=colour, ls=dashes, lw=2, label=f"{name}{less}")
            axes.text(
                1.01, at, f"by {name}{less}:\n{count:,} of {len(sheet.windows):,} closed",
                transform=axes.get_yaxis_transform(), va="center", fontsize=8,
            )  # fmt: skip
    axes.set_xlim(-0.7, len(sheet.partitions) - 0.3)
    plane.times(y=True)
    plane.counts(x=True)
    plane.legend(3)


def _words(sheet: _Sheet) -> str:
    if not sheet.clocks:
        return f"None of {number(len(sheet.partitions), 'partition')} has a record yet."
    (low, first), *_ = sorted((time, p) for p, time in sheet.clocks.items())
    high, last = max((time, -p) for p, time in sheet.clocks.items())
    total = number(len(sheet.partitions), "partition")
    said = [f"{len(sheet.clocks):,} of {total} {_verb(len(sheet.clocks), 'has', 'have')} a clock"]
    if len(sheet.clocks) > 1:
        said.append(f"from {moment(low)} (partition {first}) to {moment(high)} (partition {-last})")
    missing = [p for p in sheet.partitions if p not in sheet.clocks]
    by_minimum = f"By the minimum, {_closed(sheet, sheet.slowest)}"
    if missing:
        by_minimum = (
            "By the minimum nothing is closed, because "
            f"{_named(missing)} {_verb(len(missing), 'has', 'have')} no record yet"
        )
    by_maximum = f"By the maximum less {duration(sheet.delay)}, {_closed(sheet, sheet.behind)}"
    late = [p for p in sheet.clocks if sheet.late(p)]
    if late:
        by_maximum += (
            f", and {_named(late)} {_verb(len(late), 'is', 'are')} in one of them: "
            "the next click there may come too late"
        )
    return f"{', '.join(said)}. {by_minimum}. {by_maximum}."


def _closed(sheet: _Sheet, rule: int | None) -> str:
    count, total = sheet.closed(rule), len(sheet.windows)
    are = "is" if 1 in (count, total) else "are"
    return f"{count:,} of {number(total, 'window')} {are} closed"


def _named(partitions: Sequence[int]) -> str:
    if len(partitions) <= 2:
        names = " and ".join(map(str, partitions))
        return f"partition{'s' * (len(partitions) > 1)} {names}"
    return f"{len(partitions):,} partitions"


def _verb(count: int, one: str, more: str) -> str:
    return one if count == 1 else more


def _rows(sheet: _Sheet) -> list[Mapping[str, Any]]:
    newest = max(sheet.clocks.values(), default=0)
    rows: list[Mapping[str, Any]] = []
    for p in sheet.partitions:
        clock = sheet.clocks.get(p)
        state = "closed by the maximum" if sheet.late(p) else "open"
        rows.append({
            "partition": p,
            "newest event time": "none" if clock is None else moment(clock),
            "behind the fastest": "–" if clock is None else duration(newest - clock),
            "its window": "–" if clock is None else state,
        })  # fmt: skip
    return rows

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

from workbook.views.axis import TimeAxis, duration
from workbook.views.drawing import BLUE, FAINT, GREEN, GREY, ORANGE, Drawing, wide
from workbook.views.picture import Picture, number
from workbook.views.windows import Windows, column

CAPTION = (
    "The clock of each partition: its newest event time. What lies below a line is closed by that "
    "rule."
)

WIDTH, TOP, BOTTOM, FOOT = 900, 34, 314, 66
COLUMN, LABELS = 26, 70
"""The width of the windows' boxes, and of the words on their right."""


@dataclass(frozen=True)
class Sheet:
    """What is drawn: the clock (ms) of each partition that has one, and the windows by start (ms).

    ``slowest`` is None until each partition has a clock, ``behind`` None until one has.
    """

    clocks: Mapping[int, int]
    partitions: Sequence[int]
    windows: NDArray[np.int64]
    axis: TimeAxis
    delay: int

    @property
    def slowest(self) -> int | None:
        ready = len(self.clocks) == len(self.partitions)
        return min(self.clocks.values()) if ready and self.clocks else None

    @property
    def behind(self) -> int | None:
        """The maximum less the delay."""
        return max(self.clocks.values()) - self.delay if self.clocks else None

    def closed(self, rule: int | None) -> NDArray[np.bool_]:
        """Return which windows a rule that stands at a time (ms) has closed."""
        never = np.iinfo(np.int64).min
        return np.asarray(self.windows + self.axis.step <= (never if rule is None else rule))

    def late(self, partition: int) -> bool:
        """Return True if the maximum has closed the window in which a partition's clock stands."""
        step = self.axis.step
        clock = self.clocks.get(partition)
        ends = None if clock is None else clock // step * step + step
        return ends is not None and self.behind is not None and ends <= self.behind


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
    sheet = _sheet(records, partitions, until, (delay_ms, window_ms, recent_ms))
    return Picture(_draw(sheet), caption, _words(sheet), _rows(sheet))


def _sheet(
    records: pd.DataFrame,
    partitions: int,
    until: int | None,
    lengths: tuple[int, int, int | None],
) -> Sheet:
    delay, window, recent = lengths
    whole, read = (part.dropna(subset=["timestamp"]) for part in (records, records[:until]))
    newest = {int(p): int(t) for p, t in read.groupby("partition")["timestamp"].max().items()}
    starts = np.unique(whole["timestamp"].to_numpy(np.int64) // window * window)
    latest = max(newest.values(), default=0)
    places = starts if recent is None else starts[starts >= latest - recent]
    lowest = [int(places[0]) - delay] if len(places) else []
    return Sheet(
        newest,
        range(max(partitions, int(whole["partition"].max()) + 1 if len(whole) else 0)),
        np.unique(read["timestamp"].to_numpy(np.int64) // window * window),
        TimeAxis([*places.tolist(), *newest.values(), *lowest], BOTTOM, TOP, window),
        delay,
    )


def _draw(sheet: Sheet) -> Drawing:
    drawing = Drawing(WIDTH, BOTTOM + FOOT)
    labels = sheet.axis.labels()
    left = 14 + max(wide("event time (UTC)", 10), *(wide(words, 10) for _, words in labels))
    right = WIDTH - 2 * (COLUMN + LABELS) - 16
    drawing.text(left - 7, TOP - 14, "event time (UTC)", anchor="end", size=10)
    for time, words in labels:
        y = sheet.axis(time)
        drawing.line([(left - 4, y), (right, y)], colour=FAINT, thick=0.8)
        drawing.text(left - 7, y + 3.5, words, anchor="end", size=10)
    for part in sheet.axis.left_out:
        y = (part.top + part.bottom) / 2
        drawing.line([(left - 4, y), (right, y)], colour=GREY, thick=1, dashed=True)
        drawing.text(left + 4, y - 3, f"{duration(part.end - part.start)} left out", size=10)
    drawing.line([(left, TOP), (left, BOTTOM), (right, BOTTOM)], thick=1)
    _hands(drawing, sheet, left, right)
    _rules(drawing, sheet, left, right)
    _legend(drawing, sheet)
    return drawing


def _hands(drawing: Drawing, sheet: Sheet, left: float, right: float) -> None:
    """Draw a stem with a mark for each clock, and an empty box where there is none."""
    each = (right - left) / max(len(sheet.partitions), 1)
    every = next(n for n in (1, 2, 5, 10, 20, 50, 100, 10**9) if n * each >= 18)
    for p in sheet.partitions:
        x, clock = left + (p + 0.5) * each, sheet.clocks.get(p)
        if p % every == 0:
            drawing.text(x, BOTTOM + 16, str(p), anchor="middle", size=10)
        if clock is None:
            title = f"partition {p}: no record yet"
            drawing.box(x - 5, BOTTOM - 11, 10, 10, dashed=True, corner=0, title=title)
            continue
        y = sheet.axis(clock)
        drawing.line([(x, BOTTOM), (x, y)], colour=GREY, thick=1)
        title = f"partition {p}: {sheet.axis.words(clock)}"
        drawing.dot(x, y, radius=min(4, each / 3), colour=BLUE, hollow=sheet.late(p), title=title)
    drawing.text(left - 7, BOTTOM + 16, "partition", anchor="end", size=10)


def _rules(drawing: Drawing, sheet: Sheet, left: float, right: float) -> None:
    """Draw how far time has come by either rule, as a line and as the windows that it closes."""
    names = "by minimum", f"by max. − {sheet.delay / 1000:g} s"
    for n, (name, rule) in enumerate(zip(names, (sheet.slowest, sheet.behind), strict=True)):
        x = right + 8 + n * (COLUMN + LABELS)
        drawing.text(x, TOP - 14, name, size=10)
        column(drawing, sheet.axis, Windows(sheet.windows, sheet.closed(rule)), x, COLUMN)
        if rule is not None:
            y, colour = sheet.axis(rule), (GREEN, ORANGE)[n]
            drawing.line([(left, y), (x + COLUMN, y)], colour=colour, thick=2, dashed=n == 1)


def _legend(drawing: Drawing, sheet: Sheet) -> None:
    upper, lower = BOTTOM + 36, BOTTOM + 56
    x = 8.0
    for hollow, words in (
        (False, "clock"),
        (True, "clock in a window that the maximum has closed"),
    ):
        drawing.dot(x + 7, upper - 4, radius=4, colour=BLUE, hollow=hollow)
        drawing.text(x + 19, upper, words, size=11)
        x += 19 + wide(words, 11) + 16
    drawing.box(x, upper - 9, 10, 10, dashed=True, corner=0)
    drawing.text(x + 16, upper, "no record yet", size=11)
    x = 8.0
    lines = (GREEN, "minimum"), (ORANGE, f"maximum less {duration(sheet.delay)}")
    for colour, words in lines:
        drawing.line([(x, lower - 4), (x + 14, lower - 4)], colour=colour, dashed=colour == ORANGE,
                     thick=2)  # fmt: skip
        drawing.text(x + 19, lower, words, size=11)
        x += 19 + wide(words, 11) + 16
    for closed, words in ((True, "window closed"), (False, "still open")):
        drawing.box(x, lower - 10, 14, 11, hatched=closed, dashed=not closed, corner=0)
        drawing.text(x + 19, lower, words, size=11)
        x += 19 + wide(words, 11) + 16


def _words(sheet: Sheet) -> str:
    if not sheet.clocks:
        return f"None of {number(len(sheet.partitions), 'partition')} has a record yet."
    (low, first), *_ = sorted((time, p) for p, time in sheet.clocks.items())
    high, last = max((time, -p) for p, time in sheet.clocks.items())
    words, total = sheet.axis.words, number(len(sheet.partitions), "partition")
    said = [f"{len(sheet.clocks):,} of {total} {_verb(len(sheet.clocks), 'has', 'have')} a clock"]
    if len(sheet.clocks) > 1:
        said.append(f"from {words(low)} (partition {first}) to {words(high)} (partition {-last})")
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
            f", and {_named(late)} {_verb(len(late), 'stands', 'stand')} in one of them: "
            "the next click there may come too late"
        )
    return f"{', '.join(said)}. {by_minimum}. {by_maximum}."


def _closed(sheet: Sheet, rule: int | None) -> str:
    count, total = int(sheet.closed(rule).sum()), len(sheet.windows)
    are = "is" if 1 in (count, total) else "are"
    return f"{count:,} of {number(total, 'window')} {are} closed"


def _named(partitions: Sequence[int]) -> str:
    if len(partitions) == 1:
        return f"partition {partitions[0]}"
    if len(partitions) == 2:
        return f"partitions {partitions[0]} and {partitions[1]}"
    return f"{len(partitions):,} partitions"


def _verb(count: int, one: str, more: str) -> str:
    return one if count == 1 else more


def _rows(sheet: Sheet) -> list[Mapping[str, Any]]:
    newest = max(sheet.clocks.values(), default=0)
    return [
        {
            "partition": p,
            "newest event time": sheet.axis.words(sheet.clocks[p]) if p in sheet.clocks else "none",
            "behind the fastest": duration(newest - sheet.clocks[p]) if p in sheet.clocks else "–",
            "its window": _state(sheet, p),
        }
        for p in sheet.partitions
    ]


def _state(sheet: Sheet, partition: int) -> str:
    if partition not in sheet.clocks:
        return "–"
    return "closed by the maximum" if sheet.late(partition) else "open"

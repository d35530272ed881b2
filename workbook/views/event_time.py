"""Event time against arrival: each click a mark, the watermark a stair, what it drops a cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from workbook.views.colours import BLUE, GREEN, GREY, INK_ON_PAPER, ORANGE, RED
from workbook.views.picture import Picture, moment, number
from workbook.views.plane import Plane, moments
from workbook.views.runs import EARLIER, WAITING, MicroBatch, Run, dropped, newest

CAPTION = (
    "Event time against arrival: a click whose window lies below the stair when it comes is "
    "dropped (✗)."
)
THE_WATERMARK = "the watermark of the micro-batch before"

MOST = 900
"""Of more clicks a sample is drawn, with all that were dropped in it."""

FAR = 6
"""A time farther from the middle half than this many times its spread is drawn at the edge."""


def event_time(
    run: Run,
    *,
    until: int | None = None,
    window_ms: int = 1000,
    last: int | None = None,
    apart: int | None = None,
    thing: str = "page view",
    caption: str = CAPTION,
) -> Picture:
    """Draw a run up to its micro-batch ``until``, by default all of it.

    With ``last`` only the newest micro-batches are drawn, those of so many clicks. The clicks of
    partition ``apart`` are squares. Of thousands of clicks a sample is drawn, and the words say so.
    """
    sheet = _Sheet(run, newest(run, last), until, window_ms, apart, thing)
    plane = Plane(
        "clicks, in the order of arrival; the small numbers are micro-batches",
        "event time (UTC)",
        height=430,
        right=0.17,
    )
    drawn = _clicks(plane, sheet)
    _stair(plane, sheet)
    _windows(plane, sheet)
    plane.axes.set_xlim(0, max(len(sheet.all), 1) + 0.5)
    low, high = sheet.limits
    plane.axes.set_ylim(*moments([low, high]))
    plane.times(y=True)
    plane.counts(x=True)
    plane.legend(3)
    return Picture(plane, caption, _words(run, sheet, drawn), _rows(sheet))


@dataclass(frozen=True)
class _Sheet:
    """What is drawn of a run: all micro-batches have a place, up to ``until`` their clicks too."""

    run: Run
    batches: Sequence[MicroBatch]
    until: int | None
    window: int
    apart: int | None
    thing: str

    @cached_property
    def seen(self) -> Sequence[MicroBatch]:
        whole = self.until is None
        return [b for b in self.batches if whole or b.number <= (self.until or 0)]

    @cached_property
    def all(self) -> pd.DataFrame:
        """The clicks of the micro-batches and those that wait, by arrival, each with its ``x``."""
        clicks = self.run.clicks.assign(lost=dropped(self.run, self.window))
        first = self.batches[0].number if self.batches else 0
        batch = clicks["batch"].to_numpy(np.int64)
        clicks = clicks[(batch >= first) | (batch == WAITING)]
        waits = clicks["batch"] == WAITING
        keys = ("offset", "partition", "arrival", "batch")
        order = [*(clicks[key].to_numpy(np.int64) for key in keys), waits.to_numpy()]
        ordered = clicks.iloc[np.lexsort(order)]
        starts = ordered["time"].to_numpy(np.int64) // self.window * self.window
        return ordered.assign(x=np.arange(1, len(ordered) + 1), window=starts)

    @cached_property
    def clicks(self) -> pd.DataFrame:
        """Those that are drawn: up to the last micro-batch seen, and at the end what waits."""
        last = self.seen[-1].number if self.seen else EARLIER
        whole = not self.batches or last >= self.batches[-1].number
        batch = self.all["batch"]
        return self.all[((batch <= last) & (batch != WAITING)) | ((batch == WAITING) & whole)]

    @cached_property
    def taken(self) -> pd.DataFrame:
        return self.clicks[self.clicks["batch"] != WAITING]

    @property
    def watermark(self) -> int | None:
        return self.seen[-1].watermark if self.seen else None

    @cached_property
    def windows(self) -> pd.DataFrame:
        """A row per window, by its start (ms): kept, lost, closed."""
        kept = self.taken.groupby("window")["lost"].agg(lost="sum", count="size")
        ends = kept.index.to_numpy(np.int64) + self.window
        closed = ends <= (0 if self.watermark is None else self.watermark)
        return kept.assign(kept=kept["count"] - kept["lost"], closed=closed)

    @cached_property
    def limits(self) -> tuple[int, int]:
        """The event times at both ends of the axis; a few far ones don't squeeze the others."""
        marks = [m for b in self.batches for m in (b.drops, b.watermark) if m is not None]
        times = np.array([*self.all["time"], *marks], np.int64)
        if not len(times):
            return 0, self.window
        low, high = np.quantile(times, [0.25, 0.75])
        room = FAR * max(high - low, 2 * self.window)
        near = times[(times >= low - room) & (times <= high + room)]
        return int(near.min()) - self.window, int(near.max()) + 2 * self.window


def _clicks(plane: Plane, sheet: _Sheet) -> int:
    """Draw a mark per click, and return how many are drawn."""
    clicks = sheet.clicks
    if len(clicks) > MOST:
        rare = clicks["lost"] | (clicks["partition"] == sheet.apart)
        step = -(-int((~rare).sum()) // MOST) or 1
        clicks = clicks[rare | (np.arange(len(clicks)) % step == 0)]
    low, high = sheet.limits
    far = ~clicks["time"].between(low, high)
    is_apart, waits = clicks["partition"] == sheet.apart, clicks["batch"] == WAITING
    of = f"{sheet.thing} of partition {sheet.apart}"
    for mask, mark, colour, fill, label in (
        (~is_apart & ~clicks["lost"] & ~waits, "o", BLUE, BLUE, sheet.thing),
        (is_apart & ~clicks["lost"] & ~waits, "s", ORANGE, "none", of),
        (clicks["lost"] & ~is_apart, "x", RED, RED, "dropped"),
        (clicks["lost"] & is_apart, "$\\boxtimes$", RED, RED, f"{of}, dropped"),
        (waits, "o", BLUE, "none", "not read yet"),
    ):
        some = clicks[mask & ~far]
        if len(some):
            plane.axes.plot(
                some["x"], moments(some["time"]), marker=mark, linestyle="", color=colour,
                markerfacecolor=fill,
                markersize=6 if mark[0] == "$" else 4, label=label,
            )  # fmt: skip
    _far(plane, sheet, clicks[far])
    for batch, some in sheet.all.groupby("batch"):
        plane.axes.axvline(some["x"].max() + 0.5, color=GREY, lw=0.5, zorder=0)
        if sheet.all["batch"].nunique() <= 30 and batch != WAITING:
            plane.axes.text(
                some["x"].mean(), 0.005, str(batch), ha="center", va="bottom", fontsize=7,
                transform=plane.axes.get_xaxis_transform(),
            )  # fmt: skip
    return len(clicks)


def _far(plane: Plane, sheet: _Sheet, far: pd.DataFrame) -> None:
    """Point from the edge at the times that lie beyond it."""
    for above in (False, True):
        some = far[(far["time"] > sheet.limits[1]) == above]
        if len(some):
            at = np.full(len(some), 0.985 if above else 0.015)
            first = moment(int(some["time"].iloc[0]), day=True)
            plane.axes.plot(
                some["x"], at, "^" if above else "v", color=RED, markersize=7,
                transform=plane.axes.get_xaxis_transform(),
                label=f"{'later' if above else 'earlier'}: {first}",
            )  # fmt: skip


def _stair(plane: Plane, sheet: _Sheet) -> None:
    """Draw what each micro-batch drops by; at the end what the next one will drop by."""
    ends = sheet.all.groupby("batch")["x"].max()
    x, y, at = list[float](), list[int](), 0.5
    for batch in sheet.seen:
        after = ends.get(batch.number, at - 0.5) + 0.5
        if batch.drops is not None:
            x, y = [*x, at, after], [*y, batch.drops, batch.drops]
        at = after
    if sheet.watermark is not None:
        x, y = [*x, at, len(sheet.all) + 0.5], [*y, sheet.watermark, sheet.watermark]
    if x:
        label = "watermark of the micro-batch before"
        plane.axes.plot(x, moments(y), color=GREEN, lw=2.5, label=label)


def _windows(plane: Plane, sheet: _Sheet) -> None:
    """Draw each window as a box at the right: closed ones are hatched; of many only their sums."""
    low, high = sheet.limits
    shown = sheet.windows[sheet.windows.index.to_series().between(low, high)]
    place, few = plane.axes.get_yaxis_transform(), len(shown) <= 24
    for start, row in shown.iterrows():
        bottom, top = moments([start, start + sheet.window])
        plane.axes.fill_between(
            [1.015, 1.045], bottom, top, transform=place, clip_on=False, facecolor="none",
            edgecolor=INK_ON_PAPER, hatch="////" if row["closed"] else "", lw=0.7,
        )  # fmt: skip
        if few:
            lost = f" and {row['lost']:,} ✗" if row["lost"] else ""
            words = f"{row['kept']:,}{lost} {'closed' if row['closed'] else 'open'}"
            middle = bottom + (top - bottom) / 2
            plane.axes.text(1.055, middle, words, transform=place, va="center", fontsize=7)
    if len(shown):
        plane.axes.text(1.015, -0.06, "windows", transform=plane.axes.transAxes)


def _words(run: Run, sheet: _Sheet, drawn: int) -> str:
    said = [f"The query has failed: {run.failed.rstrip('.')}."] if run.failed else []
    total, waiting = len(sheet.clicks), len(sheet.clicks) - len(sheet.taken)
    if not len(run.clicks):
        said.append(f"No {sheet.thing} has come yet.")
    elif not sheet.seen and (run.clicks["batch"] == EARLIER).any():
        said.append("Spark keeps no report of the micro-batches that have read it any more.")
    elif not sheet.seen:
        said.append("The query has reported no micro-batch yet.")
    else:
        said += [_of_windows(sheet), _of_dropped(sheet)]
    if waiting:
        waits = "waits" if waiting == 1 else "wait"
        said.append(f"{number(waiting, sheet.thing)} {waits} to be read.")
    if drawn < total:
        said.append(f"Of {total:,} a sample of {drawn:,} is drawn; the counts are of all.")
    if run.unreadable:
        said.append(f"{number(run.unreadable, 'record')} couldn't be read.")
    return " ".join(said)


def _of_windows(sheet: _Sheet) -> str:
    first, last = sheet.seen[0].number, sheet.seen[-1].number
    where = f"micro-batch {first:,}" if first == last else f"micro-batches {first:,} to {last:,}"
    count, closed = len(sheet.windows), int(sheet.windows["closed"].sum())
    mark = sheet.watermark
    stands = (
        "there's no watermark yet" if mark is None else f"the watermark is {_time(sheet, mark)}"
    )
    return (
        f"In {where}: {number(len(sheet.taken), sheet.thing)} in {number(count, 'window')}, "
        f"{closed:,} closed and {count - closed:,} open; {stands}."
    )


def _of_dropped(sheet: _Sheet) -> str:
    lost = sheet.taken.loc[sheet.taken["lost"], "partition"]
    if not len(lost):
        return "None was dropped."
    by = lost.value_counts().sort_index()
    where = ""
    if sheet.taken["partition"].nunique() > 1 and len(by) < 4:
        parts = [f"{n:,} of partition {p}" for p, n in by.items()]
        where = f", all of partition {by.index[0]}" if len(by) == 1 else f", {' and '.join(parts)}"
    if len(lost) == 1:
        where = where.replace("all of", "of")
        return f"1 was dropped{where}: its window had ended by {THE_WATERMARK}."
    return f"{len(lost):,} were dropped{where}: their windows had ended by {THE_WATERMARK}."


def _time(sheet: _Sheet, ms: int) -> str:
    """Write a time, with its date where that isn't the day of most clicks."""
    days = sheet.all["time"] // 86_400_000
    usual = days.mode().iloc[0] if len(days) else 0
    return moment(ms, day=ms // 86_400_000 != usual)


def _rows(sheet: _Sheet) -> list[Mapping[str, Any]]:
    groups = sheet.taken.groupby("batch")
    found = groups.agg(first=("time", "min"), last=("time", "max"), lost=("lost", "sum"))
    facts = found.assign(count=groups.size()).to_dict("index")
    return [_row(batch, facts.get(batch.number, {}), sheet) for batch in sheet.seen]


def _row(batch: MicroBatch, facts: Mapping[Any, Any], sheet: _Sheet) -> dict[str, Any]:
    times = "–"
    if facts:
        first, last = _time(sheet, int(facts["first"])), _time(sheet, int(facts["last"]))
        times = first if first == last else f"{first} to {last}"
    return {
        "micro-batch": batch.number,
        f"{sheet.thing}s": int(facts.get("count", 0)),
        "event times": times,
        "drops what ended by": "–" if batch.drops is None else _time(sheet, batch.drops),
        "dropped": int(facts.get("lost", 0)),
        "watermark": "–" if batch.watermark is None else _time(sheet, batch.watermark),
    }

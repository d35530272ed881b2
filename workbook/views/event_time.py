"""Event time against arrival: each click a mark, the watermark a stair, what it drops a cross."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from workbook.views.colours import BLUE, GREEN, GREY, INK_ON_PAPER, ORANGE, RED
from workbook.views.picture import Picture, moment, number
from workbook.views.plane import Plane, moments
from workbook.views.runs import EARLIER, WAITING, WINDOW_MS, MicroBatch, Run, dropped, newest

CAPTION = (
    "Event time against arrival: a click whose window lies below the stair when it comes is "
    "dropped (✗; ▼ where its time is too early for the picture)."
)
STAIR = "watermark of the micro-batch before"

MOST = 900
"""Of more clicks a sample is drawn, with all that were dropped in it."""

LINES = 30
"""Lines of words that have room along the axis of times."""

FAR = 6
"""A time farther from the middle half than this many times its spread is drawn at the edge."""

DAY_MS = 86_400_000

Limits = tuple[int, int]
"""The event times (ms) at both ends of the axis."""


def event_time(
    run: Run, *, until: int | None = None, last: int | None = None, apart: int | None = None
) -> Picture:
    """Draw a run up to its micro-batch ``until``, by default all of it.

    With ``last`` only the newest micro-batches are drawn, those of this number of clicks. The
    clicks of partition ``apart`` are squares. Of thousands of clicks a sample is drawn, and the
    words say so.
    """
    batches = newest(run, last)
    seen = [batch for batch in batches if until is None or batch.number <= until]
    every = _by_arrival(run, batches)
    taken = every[every["batch"].isin([batch.number for batch in seen])]
    waiting = every[(every["batch"] == WAITING) & (len(seen) == len(batches))]
    windows = _windows(taken, seen[-1].watermark if seen else None)
    limits = _limits(every, batches)
    plane = Plane(
        "clicks, in the order of arrival; the small numbers are micro-batches",
        "event time (UTC)",
        height=430,
        right=0.17,
    )
    clicks = _sample(pd.concat([taken, waiting]), apart)
    _draw_clicks(plane, clicks, limits, apart)
    _draw_batches(plane, every)
    _draw_stair(plane, every, seen)
    _draw_windows(plane, windows[windows.index.to_series().between(*limits)], limits)
    plane.axes.set_xlim(0, max(len(every), 1) + 0.5)
    plane.axes.set_ylim(*moments(limits))
    plane.times(y=True)
    plane.counts(x=True)
    plane.legend(3)
    usual = int(every["time"].median()) // DAY_MS if len(every) else 0
    words = [f"The query has failed: {run.failed.rstrip('.')}."] if run.failed else []
    words.append(_words(run, seen, taken, len(windows)))
    if len(waiting):
        words.append(f"Waiting to be read: {number(len(waiting), 'page view')}.")
    if len(clicks) < len(taken) + len(waiting):
        words.append(f"Of {len(taken) + len(waiting):,} a sample of {len(clicks):,} is drawn.")
    if run.unreadable:
        words.append(f"{number(run.unreadable, 'record')} couldn't be read.")
    return Picture(plane, CAPTION, " ".join(words), _rows(seen, taken, usual))


def _by_arrival(run: Run, batches: Sequence[MicroBatch]) -> pd.DataFrame:
    """Return the clicks of the micro-batches, then those that wait, each with its place ``x``."""
    clicks = run.clicks.assign(lost=dropped(run), waits=run.clicks["batch"] == WAITING)
    clicks = clicks[clicks["waits"] | (clicks["batch"] >= (batches[0].number if batches else 0))]
    clicks = clicks.sort_values(["waits", "batch", "arrival", "partition", "offset"])
    starts = clicks["time"] // WINDOW_MS * WINDOW_MS
    return clicks.assign(x=np.arange(1, len(clicks) + 1), window=starts)


def _windows(taken: pd.DataFrame, watermark: int | None) -> pd.DataFrame:
    """Return a row per window, by its start (ms): kept, lost, closed."""
    windows = taken.groupby("window")["lost"].agg(lost="sum", count="size")
    closed = windows.index.to_numpy(np.int64) + WINDOW_MS <= (watermark or 0)
    return windows.assign(kept=windows["count"] - windows["lost"], closed=closed)


def _limits(every: pd.DataFrame, batches: Sequence[MicroBatch]) -> Limits:
    """Return the ends of the axis: a few times far from the others don't squeeze them."""
    marks = [mark for b in batches for mark in (b.drops, b.watermark) if mark is not None]
    times = np.array([*every["time"], *marks], np.int64)
    if not len(times):
        return 0, WINDOW_MS
    low, high = np.quantile(times, [0.25, 0.75])
    room = FAR * max(high - low, 2 * WINDOW_MS)
    near = times[(times >= low - room) & (times <= high + room)]
    return int(near.min()) - WINDOW_MS, int(near.max()) + 2 * WINDOW_MS


def _sample(clicks: pd.DataFrame, apart: int | None) -> pd.DataFrame:
    """Return the clicks to be drawn: of too many, all rare ones, and a sample of the rest."""
    rare = clicks["lost"] | (clicks["partition"] == apart)
    step = max(-(-int((~rare).sum()) // MOST), 1) if len(clicks) > MOST else 1
    return clicks[rare | (np.arange(len(clicks)) % step == 0)]


def _draw_clicks(plane: Plane, clicks: pd.DataFrame, limits: Limits, apart: int | None) -> None:
    """Draw a mark per click; a triangle at the edge for those that lie beyond it."""
    is_apart, lost, waits = clicks["partition"] == apart, clicks["lost"], clicks["waits"]
    near, of = clicks["time"].between(*limits), f"page view of partition {apart}"
    for mask, mark, size, colour, fill, label in (
        (~is_apart & ~lost & ~waits, "o", 4, BLUE, BLUE, "page view"),
        (is_apart & ~lost & ~waits, "s", 4, ORANGE, "none", of),
        (~is_apart & lost, "x", 4, RED, RED, "dropped"),
        (is_apart & lost, "$\\boxtimes$", 6, RED, RED, f"{of}, dropped"),
        (waits, "o", 4, BLUE, "none", "not read yet"),
    ):
        some = clicks[mask & near]
        if len(some):
            plane.axes.plot(
                some["x"], moments(some["time"]), marker=mark, ls="", color=colour, mfc=fill,
                ms=size, label=label,
            )  # fmt: skip
    for mask, mark, at, side in (
        (clicks["time"] > limits[1], "^", 0.985, "later"),
        (clicks["time"] < limits[0], "v", 0.015, "earlier"),
    ):
        some = clicks[mask]
        if len(some):
            label = f"{side}: {moment(int(some['time'].iloc[0]), day=True)}"
            plane.axes.plot(
                some["x"], np.full(len(some), at), mark, color=RED, ms=7, label=label,
                transform=plane.axes.get_xaxis_transform(),
            )  # fmt: skip


def _draw_batches(plane: Plane, every: pd.DataFrame) -> None:
    """Draw a line behind each micro-batch, and its number unless they are too many."""
    few = every["batch"].nunique() <= 30
    for batch, places in every.groupby("batch")["x"]:
        plane.axes.axvline(places.max() + 0.5, color=GREY, lw=0.5, zorder=0)
        if few and batch != WAITING:
            plane.axes.text(
                places.mean(), 0.005, str(batch), ha="center", va="bottom", fontsize=7,
                transform=plane.axes.get_xaxis_transform(),
            )  # fmt: skip


def _draw_stair(plane: Plane, every: pd.DataFrame, seen: Sequence[MicroBatch]) -> None:
    """Draw what each micro-batch drops by; at the end what the next one will drop by."""
    if not seen:
        return
    ends = every.groupby("batch")["x"].max().reindex([batch.number for batch in seen])
    borders = [0.5, *(ends.ffill().fillna(0) + 0.5), len(every) + 0.5]
    drops = [*(batch.drops for batch in seen), seen[-1].watermark]
    marks = [mark for mark in drops if mark is not None]  # the first ones may have none
    if marks:
        borders = borders[-len(marks) - 1 :]
        plane.axes.stairs(moments(marks), borders, baseline=None, color=GREEN, lw=2.5, label=STAIR)


def _draw_windows(plane: Plane, windows: pd.DataFrame, limits: Limits) -> None:
    """Draw each window as a box at the right, closed ones hatched; what's in it if there's room."""
    place, line = plane.axes.get_yaxis_transform(), (limits[1] - limits[0]) // LINES
    said: list[int] = []
    for start, row in windows.sort_values("lost", ascending=False, kind="stable").iterrows():
        bottom, middle, top = moments([start, start + WINDOW_MS // 2, start + WINDOW_MS])
        plane.axes.fill_between(
            [1.015, 1.045], bottom, top, transform=place, clip_on=False, facecolor="none",
            edgecolor=INK_ON_PAPER, hatch="////" if row["closed"] else "", lw=0.7,
        )  # fmt: skip
        if all(abs(start - other) >= line for other in said):
            said.append(start)
            lost = f" and {row['lost']:,} ✗" if row["lost"] else ""
            words = f"{row['kept']:,}{lost} {'closed' if row['closed'] else 'open'}"
            plane.axes.text(1.055, middle, words, transform=place, va="center", fontsize=7)
    if len(windows):
        plane.axes.text(1.015, -0.06, "windows", transform=plane.axes.transAxes)


def _words(run: Run, seen: Sequence[MicroBatch], taken: pd.DataFrame, windows: int) -> str:
    """Return what the micro-batches took and dropped; why there are none, if so."""
    if not len(run.clicks):
        return "No page view has come yet."
    if not seen:
        gone = (run.clicks["batch"] == EARLIER).any()
        reported = "keeps no report of its micro-batches any more" if gone else "has no report yet"
        return f"The query {reported}."
    return (
        f"Micro-batches {seen[0].number:,} to {seen[-1].number:,}: "
        f"{number(len(taken), 'page view')} in {number(windows, 'window')}. "
        f"Dropped: {taken['lost'].sum():,}."
    )


def _time(ms: int | None, usual: int) -> str:
    """Write a time (ms), with its date where that isn't the ``usual`` day (since 1970)."""
    return "none yet" if ms is None else moment(ms, day=ms // DAY_MS != usual)


def _rows(seen: Sequence[MicroBatch], taken: pd.DataFrame, usual: int) -> list[dict[str, Any]]:
    rows = []
    for batch in seen:
        its = taken[taken["batch"] == batch.number]
        ends = [_time(int(ms), usual) for ms in (its["time"].min(), its["time"].max()) if len(its)]
        rows.append({
            "micro-batch": batch.number,
            "page views": len(its),
            "event times": " to ".join(dict.fromkeys(ends)) or "–",
            "drops what ended by": _time(batch.drops, usual),
            "dropped": int(its["lost"].sum()),
            "watermark": _time(batch.watermark, usual),
        })  # fmt: skip
    return rows

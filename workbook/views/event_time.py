"""Event time against arrival: each click a dot, the watermark a stair, the windows a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from workbook.views.axis import TimeAxis
from workbook.views.event_time_sheet import BOTTOM, TOP, Look, Sheet, draw
from workbook.views.picture import Picture, number
from workbook.views.runs import EARLIER, WAITING, MicroBatch, Run, dropped, newest

CAPTION = (
    "Event time against arrival: a click whose window lies below the stair when it comes is "
    "dropped (✗)."
)

THE_WATERMARK = "the watermark of the micro-batch before"


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
    batches = newest(run, last)
    sheet = _sheet(run, batches, until, Look(window_ms, apart, thing))
    drawing, drawn = draw(sheet)
    return Picture(drawing, caption, _words(run, sheet, drawn), _rows(sheet))


def _sheet(run: Run, batches: list[MicroBatch], until: int | None, look: Look) -> Sheet:
    """Collect what's drawn; all micro-batches have their place, the clicks only up to ``until``."""
    numbers = [batch.number for batch in batches]
    whole = until is None or not numbers or until >= numbers[-1]
    seen = numbers if until is None or whole else [n for n in numbers if n <= until]
    clicks = run.clicks.assign(lost=dropped(run, look.window_ms))
    clicks["window"] = clicks["time"].to_numpy(np.int64) // look.window_ms * look.window_ms
    batch = clicks["batch"].to_numpy(np.int64)
    waiting, last = batch == WAITING, seen[-1] if seen else EARLIER
    placed, counts = _placed(clicks[waiting | (batch >= numbers[0] if numbers else waiting)])
    here = (placed["batch"] <= last) & (placed["batch"] != WAITING)
    drawn = batch >= (numbers[0] if numbers else 0)  # a window's number is that of its dots
    known = ~waiting & drawn & (batch <= last)
    kept = clicks.loc[known & ~clicks["lost"], "window"]
    return Sheet(
        batches=batches,
        seen=batches[: len(seen)],
        counts=counts,
        clicks=placed[here | (placed["batch"] == WAITING) if whole else here],
        kept=kept.value_counts().to_dict(),
        axis=TimeAxis(_points(placed, batches), BOTTOM, TOP, look.window_ms),
        look=look,
    )


def _placed(clicks: pd.DataFrame) -> tuple[pd.DataFrame, dict[int, int]]:
    """Add each click's share of its micro-batch's width, by order of arrival; and the counts."""
    keys = ("offset", "partition", "arrival", "batch")
    ordered = clicks.iloc[np.lexsort([clicks[key].to_numpy(np.int64) for key in keys])]
    batches, first, counts = np.unique(
        ordered["batch"].to_numpy(np.int64), return_index=True, return_counts=True
    )
    ranks = np.arange(len(ordered)) - np.repeat(first, counts)
    shares = (ranks + 0.5) / np.repeat(counts, counts)
    return ordered.assign(share=shares), dict(zip(batches.tolist(), counts.tolist(), strict=True))


def _points(placed: pd.DataFrame, batches: Sequence[MicroBatch]) -> NDArray[np.int64]:
    """Return the times (ms) that need a place: windows and watermarks."""
    both = (mark for batch in batches for mark in (batch.drops, batch.watermark))
    marks = [mark for mark in both if mark is not None]
    return np.concatenate([placed["window"].to_numpy(np.int64), np.array(marks, np.int64)])


def _words(run: Run, sheet: Sheet, drawn: int) -> str:
    said = [f"The query has failed: {run.failed.rstrip('.')}."] if run.failed else []
    total, waiting = len(sheet.clicks), len(sheet.clicks) - len(sheet.taken)
    if not len(run.clicks):
        said.append(f"No {sheet.look.thing} has come yet.")
    elif not sheet.seen:
        said.append(_of_none(run))
    else:
        said += [_of_windows(sheet), _of_dropped(sheet)]
    if waiting:
        waits = "waits" if waiting == 1 else "wait"
        said.append(f"{number(waiting, sheet.look.thing)} {waits} to be read.")
    if drawn < total:
        said.append(f"Of {total:,} a sample of {drawn:,} is drawn; the counts are of all.")
    if run.unreadable:
        said.append(f"{number(run.unreadable, 'record')} couldn't be read.")
    return " ".join(said)


def _of_none(run: Run) -> str:
    if (run.clicks["batch"] == EARLIER).any():
        return "Spark keeps no report of the micro-batches that have read it any more."
    return "The query has reported no micro-batch yet."


def _of_windows(sheet: Sheet) -> str:
    first, last = sheet.seen[0].number, sheet.seen[-1].number
    where = f"micro-batch {first:,}" if first == last else f"micro-batches {first:,} to {last:,}"
    windows = sheet.windows
    count, closed = len(windows.starts), int(windows.closed.sum())
    mark = sheet.seen[-1].watermark
    stands = "there's no watermark yet"
    if mark is not None:
        stands = f"the watermark is {sheet.axis.words(mark)}"
    return (
        f"In {where}: {number(len(sheet.taken), sheet.look.thing)} in "
        f"{number(count, 'window')}, {closed:,} closed and {count - closed:,} open; "
        f"{stands}."
    )


def _of_dropped(sheet: Sheet) -> str:
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


def _rows(sheet: Sheet) -> list[Mapping[str, Any]]:
    groups = sheet.taken.groupby("batch")
    found = groups.agg(first=("time", "min"), last=("time", "max"), lost=("lost", "sum"))
    facts = found.assign(count=groups.size()).to_dict("index")
    return [_row(batch, facts.get(batch.number, {}), sheet) for batch in sheet.seen]


def _row(batch: MicroBatch, facts: Mapping[Any, Any], sheet: Sheet) -> dict[str, Any]:
    words, times = sheet.axis.words, "–"
    if facts:
        first, last = int(facts["first"]), int(facts["last"])
        times = words(first) if first == last else f"{words(first)} to {words(last)}"
    return {
        "micro-batch": batch.number,
        f"{sheet.look.thing}s": int(facts.get("count", 0)),
        "event times": times,
        "drops what ended by": "–" if batch.drops is None else words(batch.drops),
        "dropped": int(facts.get("lost", 0)),
        "watermark": "–" if batch.watermark is None else words(batch.watermark),
    }

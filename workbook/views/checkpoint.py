"""The checkpoint as a timeline: when each micro-batch wrote its files, and where a kill fell."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import inf

from workbook.views.checkpoint_sheet import KINDS, Sheet, Times
from workbook.views.drawing import Drawing
from workbook.views.picture import Picture

BEFORE, AFTER = 5, 2
"""So many micro-batches are drawn up to the kill's, and after it; more can't be told apart."""

NONE = -1
"""No micro-batch."""

EMPTY = "The checkpoint has no files: the query has planned no micro-batch yet."
CAPTION = "The checkpoint: each micro-batch writes offsets, then state, then commits"

Files = Sequence[tuple[str, int, float]]
"""Kind, micro-batch and time of each file."""


def checkpoint(
    files: Files,
    *,
    kills: Sequence[float] = (),
    starts: Sequence[float] = (),
    planned: Mapping[int, int] | None = None,
    caption: str = CAPTION,
    kinds: Sequence[str] = KINDS,
    kill_is: str = "kill -9",
) -> Picture:
    """Draw the files of a checkpoint: kind (offsets, state, commits), micro-batch, time (s).

    ``kills`` and ``starts`` (again) are times too. ``planned`` says up to which offset a
    micro-batch reads. The micro-batches around the last kill are drawn, or the last ones; of
    several files of a kind the one written last, in each life of the query. With ``kinds``, other
    writes than those of files, in the order in which a micro-batch makes them.
    """
    planned = planned or {}
    kill = max(kills) if kills else inf
    batches = _batches(files, kill)
    times = _times([file for file in files if file[1] in batches], sorted(kills))
    if not times:
        return Picture(Drawing(10, 10), caption, EMPTY)
    sheet = Sheet(times, kills, starts, kinds, kill_is)
    sheet.draw_files()
    sheet.draw_marks()
    last = {kind: _last(files, kind, kill) for kind in kinds}
    open_ = last["offsets"] if last["offsets"] > last["commits"] else NONE
    if kills and open_ in times:
        sheet.draw_missing(open_, [k for k in kinds if not _by(times[open_], k, kill)])
    words = [f"The last micro-batch {', '.join(f'in {k}: {_named(last[k])}' for k in kinds)}."]
    if kills:
        words = _at_kill(times.get(open_, {}), last, kill, planned)
    if (everything := len({batch for _, batch, _ in files})) > len(times):
        words.append(f"{everything:,} micro-batches have files here, {len(times)} are drawn.")
    rows = [_row(batch, sheet, planned, kinds) for batch in times]
    return Picture(sheet.drawing, caption, " ".join(words), rows)


def _batches(files: Files, kill: float) -> set[int]:
    """Return the micro-batches to draw."""
    begun = {batch for _, batch, at in files if at <= kill}
    later = {batch for _, batch, _ in files} - begun
    return {*sorted(begun)[-BEFORE:], *sorted(later)[:AFTER]}


def _times(files: Files, kills: Sequence[float]) -> Times:
    """Return of each micro-batch and kind when its last file was written, in each life."""
    lives: dict[tuple[int, str, int], float] = {}
    for kind, batch, at in files:
        key = batch, kind, bisect_left(kills, at)
        lives[key] = max(at, lives.get(key, at))
    times: Times = {}
    for (batch, kind, _), at in sorted(lives.items()):
        times.setdefault(batch, {}).setdefault(kind, []).append(at)
    return times


def _last(files: Files, kind: str, kill: float) -> int:
    """Return the last micro-batch that has a file of a kind, by the kill."""
    return max((n for what, n, at in files if what == kind and at <= kill), default=NONE)


def _named(batch: int) -> str:
    return "none" if batch == NONE else str(batch)


def _by(kinds: Mapping[str, Sequence[float]], kind: str, kill: float) -> bool:
    """Return True if a kind of file was there by the kill."""
    return any(at <= kill for at in kinds.get(kind, ()))


def _at_kill(
    kinds: Mapping[str, Sequence[float]],
    last: Mapping[str, int],
    kill: float,
    planned: Mapping[int, int],
) -> list[str]:
    """Return what a kill found: ``kinds`` are the files of the micro-batch that was open."""
    if last["offsets"] == NONE:
        return ["When the kill fell, no micro-batch was planned."]
    batch, done = last["offsets"], last["commits"]
    latest = "None was in commits." if done == NONE else f"The last one in commits was {done}."
    if not kinds:
        return ["When the kill fell, each planned micro-batch was in commits.", latest]
    there = [kind for kind in last if _by(kinds, kind, kill)]
    missing = [kind for kind in last if kind not in there]
    said = (
        f"When the kill fell, micro-batch {batch}{_records(batch, planned)} was in "
        f"{' and '.join(there)}, and not in {' or '.join(missing)}."
    )
    again = [kind for kind in last if any(at > kill for at in kinds.get(kind, ()))]
    since = [f"Since then {batch} was written to {' and '.join(again)}."] if again else []
    return [said, latest, *since]


def _records(batch: int, planned: Mapping[int, int]) -> str:
    if batch not in planned or batch - 1 not in planned:
        return ""
    first, last = planned[batch - 1], planned[batch] - 1
    if last < first:
        return " (no records)"
    return f" (offset {first:,})" if last == first else f" (offsets {first:,} to {last:,})"


def _row(
    batch: int, sheet: Sheet, planned: Mapping[int, int], kinds: Sequence[str]
) -> dict[str, str]:
    row = {"micro-batch": str(batch)}
    if planned:
        row["reads up to offset"] = f"{planned[batch]:,}" if batch in planned else "?"
    return row | {kind: sheet.said(batch, kind) for kind in kinds}

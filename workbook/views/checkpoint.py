"""The checkpoint: the files of each micro-batch in the order of time, and where a kill fell."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple

from workbook.views.colours import GREEN
from workbook.views.picture import Picture
from workbook.views.strip import Look, Strip

BEFORE, AFTER = 4, 1
"""Micro-batches that are drawn up to the kill's, and after it."""

NONE = -1
"""No micro-batch."""

CAPTION = "The checkpoint: each micro-batch writes offsets, then state, then commits"

KINDS = ("offsets", "state", "commits")
MEANING = {
    "offsets": "what it reads",
    "state": "its counts",
    "database": "its counts",
    "commits": "it's done",
}


class File(NamedTuple):
    """A file of a micro-batch, and when it was written (s)."""

    kind: str
    batch: int
    at: float


def checkpoint(
    files: Sequence[tuple[str, int, float]],
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
    planned, kills, kill = planned or {}, sorted(kills), max(kills, default=inf)
    begun = sorted({batch for _, batch, at in files if at <= kill})
    later = sorted({batch for _, batch, _ in files} - set(begun))
    shown = [*begun[-BEFORE:], *later[:AFTER]]
    found = _last_files([File(*each) for each in files if each[1] in shown], kills, kinds)
    if not found:
        return Picture(Strip(1), caption)
    last = {
        kind: max((n for what, n, at in files if what == kind and at <= kill), default=NONE)
        for kind in kinds
    }
    there = {file.kind for file in found if file.batch == last["offsets"] and file.at <= kill}
    missing = [kind for kind in kinds if kills and there and kind not in there]
    if kills:
        words = _at_kill(last, missing)
    else:
        named = (f"in {kind}: {'none' if n == NONE else n}" for kind, n in last.items())
        words = f"The last micro-batch {', '.join(named)}."
    zero = kills[-1] if kills else found[-1].at
    gone = [File(kind, last["offsets"], kill) for kind in missing]
    strip = _draw(found, gone, kinds, zero)
    _draw_marks(strip, [file.at for file in found], kills, starts, bool(gone), kill_is)
    rows = [_row(batch, found, planned, kinds, zero) for batch in shown]
    return Picture(strip, caption, words, rows)


def _last_files(files: Sequence[File], kills: Sequence[float], kinds: Sequence[str]) -> list[File]:
    """Return the last file of each micro-batch and kind in each life, in the order of time."""
    lives: dict[tuple[str, int, int], File] = {}
    for file in sorted(files, key=lambda file: file.at):
        lives[file.kind, file.batch, bisect_left(kills, file.at)] = file
    return sorted(lives.values(), key=lambda file: (file.at, file.batch, kinds.index(file.kind)))


def _at_kill(last: Mapping[str, int], missing: Sequence[str]) -> str:
    """Return what a kill found."""
    batch = last["offsets"]
    if batch == NONE:
        return "When the kill fell, no micro-batch was planned."
    if not missing:
        return "When the kill fell, each planned micro-batch was in commits."
    there = [kind for kind in last if kind not in missing]
    return (
        f"When the kill fell, micro-batch {batch} was in {' and '.join(there)}, and not in "
        f"{' or '.join(missing)}."
    )


def _draw(found: Sequence[File], gone: Sequence[File], kinds: Sequence[str], zero: float) -> Strip:
    """Draw a column per file, and one behind the kill for those that are ``gone``."""
    before = [file for file in found if not gone or file.at <= zero]
    columns = [[file] for file in before] + [gone] * bool(gone)
    columns += [[file] for file in found[len(before) :]]
    strip = Strip(len(columns))
    for kind in kinds:
        strip.next(f"{kind}: {MEANING[kind]}")
        for column, files in enumerate(columns):
            for file in files:
                if file.kind == kind:
                    name, look = f"{kind}/{file.batch}", Look.PLAIN
                    if files is gone:
                        name, look = f"{name} is missing", Look.CROSSED
                    strip.cell(column, str(file.batch), look, title=name)
    strip.next("seconds", bold=False)
    for column, files in enumerate(columns):
        if files is not gone:
            strip.text(column, f"{files[0].at - zero:+.1f}")
    return strip


def _draw_marks(
    strip: Strip, times: Sequence[float], kills: Sequence[float], starts: Sequence[float],
    gone: bool, kill_is: str,
) -> None:  # fmt: skip
    """Draw a line through all rows for each kill, and an arrow for each start."""
    top = strip.row + 1
    for at in starts:
        if at >= times[0]:
            column = sum(time <= at for time in times) + (gone and at > kills[-1])
            strip.arrow(column, "▶ started again", top, GREEN)
    for at in kills:
        if at >= times[0]:
            strip.cut(sum(time <= at for time in times), kill_is, 1)


def _row(
    batch: int, found: Sequence[File], planned: Mapping[int, int], kinds: Sequence[str],
    zero: float,
) -> dict[str, str]:  # fmt: skip
    row = {"micro-batch": str(batch)}
    if planned:
        row["reads up to offset"] = f"{planned[batch]:,}" if batch in planned else "?"
    for kind in kinds:
        its = [file.at for file in found if file.batch == batch and file.kind == kind]
        row[kind] = ", ".join(f"{at - zero:+.2f} s" for at in its) or "–"
    return row

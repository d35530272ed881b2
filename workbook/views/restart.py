"""A restart as a picture: a partition of the source, what its sink says, and what is read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbook.views.drawing import BLUE, GREEN, RED
from workbook.views.picture import Picture, number
from workbook.views.strip import Look, Strip
from workbook.views.tape import written

CAPTION = (
    "Above, the partition that is read; below, the sink. Each of its records says where a start "
    "without state begins."
)

Record = tuple[str, Sequence[int], int | None]
"""Of the sink: the visit, the offsets of its messages, and where it says to begin."""

Moment = tuple[int, int, Mapping[str, Sequence[int]], Sequence[Record]]
"""A batch and what held after it: the offset at which it began, and the one after its last record;
each open visit with the offsets of its messages; the sink's records."""

SHOWN = 22
"""Records that are drawn of either partition: the last ones."""


def restart(
    labels: Sequence[str],
    moments: Sequence[Moment],
    until: int | None = None,
) -> Picture:
    """Draw a loop after its first ``until`` batches, by default all of them.

    ``labels`` name the visit of each record of the source, by offset. A batch that begins before
    the end of the one before it is a new start, and the loop before it was killed: what lies
    between is read again. Lost is what was read, and is neither open nor in the sink.
    """
    seen = list(moments if until is None else moments[:until])
    killed = len(seen) < len(moments) and _begins_anew(moments, len(seen))
    began, stands, opened, sink = seen[-1] if seen else (0, 0, {}, [])
    held = {offset for offsets in opened.values() for offset in offsets}
    emitted = Counter(offset for _, offsets, _ in sink for offset in offsets)
    times = Counter(offset for since, to, *_ in seen for offset in range(since, to))
    twice = {offset for offset, count in times.items() if count > 1}
    read = range(min((since for since, *_ in seen), default=0), stands)
    lost = set(read) - held - set(emitted)

    first = max(len(labels) - SHOWN, 0)
    strip = Strip(max(len(labels) - first, min(len(sink), SHOWN), 1), widest=52)
    strip.next()
    if stands > max(began, first):
        what = "a new start" if _begins_anew(seen, len(seen) - 1) else "this batch"
        low, high = max(began - first, 0), stands - first
        strip.bracket(low, high, f"{what}: {written(began, stands)}", BLUE)
    strip.next("offset")
    for offset in range(first, len(labels)):
        strip.text(offset - first, str(offset))
    strip.next("source")
    for offset in range(first, len(labels)):
        state = _state(offset, stands, held, emitted, lost)
        look = {"open": Look.HATCHED, "not read": Look.DASHED, "lost": Look.CROSSED}.get(state)
        title = f"offset {offset}: {labels[offset]}, {state}"
        strip.cell(offset - first, labels[offset], look or Look.PLAIN, title=title)
    strip.next()
    for offset in range(first, len(labels)):
        ticks = "✓" * emitted[offset] if emitted[offset] < 3 else f"{emitted[offset]}✓"
        strip.text(offset - first, ticks + "↻" * (offset in twice), colour=GREEN)
    _places(strip, max(stands - first, 0), stands, sink, first, killed)
    _sink(strip, sink)
    looks = {"open": Look.HATCHED, "not read yet": Look.DASHED, "✗ lost": Look.CROSSED}
    strip.legend(looks, "✓ emitted, ✓✓ twice", "↻ read again")
    words = _words(labels, seen, len(twice), len(lost), killed)
    return Picture(strip, CAPTION, words, _rows(labels, seen))


def _begins_anew(moments: Sequence[Moment], number: int) -> bool:
    """Return whether a batch, by its number from 0, begins before the end of the one before it."""
    return number > 0 and moments[number][0] < moments[number - 1][1]


def _state(
    offset: int, stands: int, held: set[int], emitted: Mapping[int, int], lost: set[int]
) -> str:
    if offset in lost:
        return "lost"
    if offset in held:
        return "open"
    return "emitted" if emitted.get(offset) else "read" if offset < stands else "not read"


def _places(
    strip: Strip, column: int, stands: int, sink: Sequence[Record], first: int, killed: bool
) -> None:
    """Draw where the reader stands or was killed, and where the sink says to begin."""
    top = strip.row + 1
    if killed:
        strip.cut(column, f"killed at {stands}", 1)
    else:
        strip.arrow(column, f"reading goes on at {stands}", top)
    if sink and sink[-1][2] is not None:
        says = f"a restart begins at {sink[-1][2]}, says the last record of the sink"
        strip.arrow(max(sink[-1][2] - first, 0), says, top, RED)


def _sink(strip: Strip, sink: Sequence[Record]) -> None:
    """Draw the sink's records, each with what it says."""
    shown = sink[-SHOWN:]
    strip.next("sink")
    for column, (visit, offsets, _) in enumerate(shown):
        strip.cell(column, visit, title=f"{visit}: offsets {', '.join(map(str, offsets))}")
    if not sink:
        strip.text(0, "empty")
    strip.next("says")
    for column, (*_, said) in enumerate(shown):
        strip.text(column, "–" if said is None else str(said))
    if len(sink) > SHOWN:
        strip.note(f"the last {SHOWN} of {len(sink)} records")


def _words(
    labels: Sequence[str], seen: Sequence[Moment], twice: int, lost: int, killed: bool
) -> str:
    if not seen:
        return f"{number(len(labels), 'record')}, none of them read yet."
    _, stands, opened, sink = seen[-1]
    emitted = Counter(offset for _, offsets, _ in sink for offset in offsets)
    again = sum(times > 1 for times in emitted.values())
    parts = [
        f"{'Killed' if killed else 'Reading goes on'} at {stands} of {len(labels)}",
        f"{', '.join(opened) or 'nothing'} open",
        f"{number(len(sink), 'record')} in the sink, {_says(sink)}",
        f"{number(twice, 'record')} read more than once",
        f"{number(again, 'message')} emitted more than once",
        *([f"{number(lost, 'message')} lost"] if lost else []),
    ]
    return "; ".join(parts) + "."


def _says(sink: Sequence[Record]) -> str:
    if not sink or sink[-1][2] is None:
        return "which don't say where to begin" if sink else "so nothing says where to begin"
    return f"the last of which says {sink[-1][2]}"


def _rows(labels: Sequence[str], seen: Sequence[Moment]) -> list[dict[str, Any]]:
    rows, before = [], 0
    for count, (began, stands, opened, sink) in enumerate(seen, 1):
        new, before = sink[before:], len(sink)
        rows.append(
            {
                "batch": count,
                "read": ", ".join(f"{o}: {labels[o]}" for o in range(began, stands)) or "–",
                "open": ", ".join(opened) or "–",
                "emitted": ", ".join(visit for visit, *_ in new) or "–",
                "the sink says": "–" if not sink or sink[-1][2] is None else sink[-1][2],
            }
        )
    return rows

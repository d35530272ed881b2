"""A restart as a picture: a partition of the source, what its sink says, and what is read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbook.views.colours import BLUE, GREEN, RED
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
    now = _found(seen)
    first = max(len(labels) - SHOWN, 0)
    strip = Strip(max(len(labels) - first, min(len(now.sink), SHOWN), 1), widest=52)
    strip.next()
    if now.stands > max(now.began, first):
        what = "a new start" if _begins_anew(seen, len(seen) - 1) else "this batch"
        low, high = max(now.began - first, 0), now.stands - first
        strip.bracket(low, high, f"{what}: {written(now.began, now.stands)}", BLUE)
    _source(strip, labels, now, first)
    _places(strip, now, first, killed)
    _sink(strip, now.sink)
    looks = {"open": Look.HATCHED, "not read yet": Look.DASHED, "✗ lost": Look.CROSSED}
    strip.legend(looks, "✓ emitted, ✓✓ twice", "↻ read again")
    words = _words(len(labels), now, killed)
    return Picture(strip, CAPTION, words, _rows(labels, seen))


class _Found(NamedTuple):
    """What holds after a batch: the moment's own parts, and what became of each offset."""

    began: int
    stands: int
    opened: Mapping[str, Sequence[int]]
    sink: Sequence[Record]
    held: set[int]
    emitted: Counter[int]
    twice: set[int]
    lost: set[int]


def _found(seen: Sequence[Moment]) -> _Found:
    began, stands, opened, sink = seen[-1] if seen else (0, 0, {}, [])
    held = {offset for offsets in opened.values() for offset in offsets}
    emitted = Counter(offset for _, offsets, _ in sink for offset in offsets)
    read = Counter(offset for since, to, *_ in seen for offset in range(since, to))
    twice = {offset for offset, times in read.items() if times > 1}
    lost = {offset for offset in read if offset < stands} - held - set(emitted)
    return _Found(began, stands, opened, sink, held, emitted, twice, lost)


def _begins_anew(moments: Sequence[Moment], number: int) -> bool:
    """Return whether a batch, by its number from 0, begins before the end of the one before it."""
    return number > 0 and moments[number][0] < moments[number - 1][1]


def _source(strip: Strip, labels: Sequence[str], now: _Found, first: int) -> None:
    strip.next("offset")
    for offset in range(first, len(labels)):
        strip.text(offset - first, str(offset))
    strip.next("source")
    for offset in range(first, len(labels)):
        state, look = _state(offset, now)
        title = f"offset {offset}: {labels[offset]}, {state}"
        strip.cell(offset - first, labels[offset], look, title=title)
    strip.next()
    for offset in range(first, len(labels)):
        times = now.emitted[offset]
        ticks = "✓" * times if times < 3 else f"{times}✓"
        strip.text(offset - first, ticks + "↻" * (offset in now.twice), colour=GREEN)


def _state(offset: int, now: _Found) -> tuple[str, Look]:
    if offset in now.lost:
        return "lost", Look.CROSSED
    if offset in now.held:
        return "open", Look.HATCHED
    if offset >= now.stands:
        return "not read", Look.DASHED
    return "emitted" if now.emitted[offset] else "read", Look.PLAIN


def _places(strip: Strip, now: _Found, first: int, killed: bool) -> None:
    """Draw where the reader stands or was killed, and where the sink says to begin."""
    top, column = strip.row + 1, max(now.stands - first, 0)
    if killed:
        strip.cut(column, f"killed at {now.stands}", 1)
    else:
        strip.arrow(column, f"reading goes on at {now.stands}", top)
    said = now.sink[-1][2] if now.sink else None
    if said is not None:
        words = f"a restart begins at {said}, says the last record of the sink"
        strip.arrow(max(said - first, 0), words, top, RED)


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


def _words(records: int, now: _Found, killed: bool) -> str:
    if not now.stands:
        return f"{number(records, 'record')}, none of them read yet."
    again = sum(times > 1 for times in now.emitted.values())
    parts = [
        f"{'Killed' if killed else 'Reading goes on'} at {now.stands} of {records}",
        f"{', '.join(now.opened) or 'nothing'} open",
        f"{number(len(now.sink), 'record')} in the sink, {_says(now.sink)}",
        f"{number(len(now.twice), 'record')} read more than once",
        f"{number(again, 'message')} emitted more than once",
        *([f"{number(len(now.lost), 'message')} lost"] if now.lost else []),
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

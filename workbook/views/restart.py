"""A restart as a picture: a partition of the source, what its sink says, and what is read twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

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


def restart(labels: Sequence[str], moments: Sequence[Moment], until: int | None = None) -> Picture:
    """Draw a loop after its first ``until`` batches, by default all of them.

    ``labels`` name the visit of each record of the source, by offset. A batch that begins before
    the end of the one before it is a new start, and the loop before it was killed: what lies
    between is read again. Lost is what was read, and is neither open nor in the sink.
    """
    seen = moments[:until]
    killed = len(seen) < len(moments) and _begins_anew(moments, len(seen))
    began, stands, opened, sink = seen[-1] if seen else (0, 0, {}, [])
    held = {offset for offsets in opened.values() for offset in offsets}
    emitted = Counter(offset for _, offsets, _ in sink for offset in offsets)
    read = Counter(offset for since, to, *_ in seen for offset in range(since, to))
    twice = {offset for offset, times in read.items() if times > 1}
    lost = {offset for offset in read if offset < stands} - held - set(emitted)
    first = max(len(labels) - SHOWN, 0)
    strip = Strip(max(len(labels) - first, min(len(sink), SHOWN), 1), widest=52)
    strip.next()
    if stands > max(began, first):
        what = "a new start" if _begins_anew(moments, len(seen) - 1) else "this batch"
        low, high = max(began - first, 0), stands - first
        strip.bracket(low, high, f"{what}: {written(began, stands)}", BLUE)
    offsets = range(first, len(labels))
    states = [_state(o, stands, lost=o in lost, open_=o in held, sent=emitted[o]) for o in offsets]
    _draw_source(strip, labels, first, states)
    strip.next()
    for column, offset in enumerate(offsets):
        strip.text(column, "✓" * emitted[offset] + "↻" * (offset in twice), colour=GREEN)
    says = sink[-1][2] if sink else None
    top, column = strip.row + 1, max(stands - first, 0)
    if killed:
        strip.cut(column, f"killed at {stands}", 1)
    else:
        strip.arrow(column, f"reading goes on at {stands}", top)
    if says is not None:
        words = f"a restart begins at {says}, says the last record of the sink"
        strip.arrow(max(says - first, 0), words, top, RED)
    _draw_sink(strip, sink)
    looks = {"open": Look.HATCHED, "not read yet": Look.DASHED, "✗ lost": Look.CROSSED}
    strip.legend(looks, "✓ emitted, ✓✓ twice", "↻ read again")
    again = sum(times > 1 for times in emitted.values())
    said = (
        f"{'Killed' if killed else 'Reading goes on'} at {stands} of {len(labels)}; read twice: "
        f"{len(twice):,}; emitted twice: {again:,}; lost: {number(len(lost), 'message')}."
    )
    return Picture(strip, CAPTION, said, _rows(labels, seen))


def _begins_anew(moments: Sequence[Moment], number: int) -> bool:
    """Return whether a batch, by its number from 0, begins before the end of the one before it."""
    return number > 0 and moments[number][0] < moments[number - 1][1]


def _state(offset: int, stands: int, *, lost: bool, open_: bool, sent: int) -> tuple[str, Look]:
    """Return what has become of a record of the source, and how it's drawn."""
    if lost:
        return "lost", Look.CROSSED
    if open_:
        return "open", Look.HATCHED
    if offset >= stands:
        return "not read", Look.DASHED
    return "emitted" if sent else "read", Look.PLAIN


def _draw_source(
    strip: Strip, labels: Sequence[str], first: int, states: Sequence[tuple[str, Look]]
) -> None:
    """Draw the source's records with their offsets, from offset ``first`` on."""
    strip.next("offset")
    for column in range(len(states)):
        strip.text(column, str(first + column))
    strip.next("source")
    for column, (state, look) in enumerate(states):
        label = labels[first + column]
        strip.cell(column, label, look, title=f"offset {first + column}: {label}, {state}")


def _draw_sink(strip: Strip, sink: Sequence[Record]) -> None:
    """Draw the sink's records, each with what it says."""
    strip.next("sink")
    for column, (visit, offsets, _) in enumerate(sink[-SHOWN:]):
        strip.cell(column, visit, title=f"{visit}: offsets {', '.join(map(str, offsets))}")
    if not sink:
        strip.text(0, "empty")
    strip.next("says")
    for column, (*_, says) in enumerate(sink[-SHOWN:]):
        strip.text(column, "–" if says is None else str(says))
    if len(sink) > SHOWN:
        strip.note(f"the last {SHOWN} of {len(sink)} records")


def _rows(labels: Sequence[str], seen: Sequence[Moment]) -> list[dict[str, Any]]:
    rows, before = [], 0
    for count, (began, stands, opened, sink) in enumerate(seen, 1):
        new, before = sink[before:], len(sink)
        rows.append({
            "batch": count,
            "read": ", ".join(f"{o}: {labels[o]}" for o in range(began, stands)) or "–",
            "open": ", ".join(opened) or "–",
            "emitted": ", ".join(visit for visit, *_ in new) or "–",
            "the sink says": "–" if not sink or sink[-1][2] is None else sink[-1][2],
        })  # fmt: skip
    return rows

"""A restart as a picture: a partition of the source, what its sink says, and what is read twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from workbook.views.drawing import BLUE, GREEN, INK, ORANGE, PAPER, RED, Drawing, wide
from workbook.views.picture import Picture, number
from workbook.views.words import cut

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
"""So many records are drawn of either partition: the last ones."""

LEFT, BOX, WIDEST, HEIGHT, WIDTH = 70, 34, 52, 30, 880
TOP, SINK = 62, 178
"""Where the boxes of both partitions begin."""


def restart(
    labels: Sequence[str],
    moments: Sequence[Moment],
    until: int | None = None,
    caption: str = CAPTION,
) -> Picture:
    """Draw a loop after its first ``until`` batches, by default all of them.

    ``labels`` name the visit of each record of the source, by offset. A batch that begins before
    the end of the one before it is a new start, and the loop before it was killed: what lies
    between is read again. Lost is what was read, and is neither open nor in the sink.
    """
    seen = list(moments if until is None else moments[:until])
    killed = len(seen) < len(moments) and _begins_anew(moments, len(seen))
    began, stands, opened, sink = seen[-1] if seen else (0, 0, {}, [])
    twice, lost = _twice(seen), _lost(seen)
    sheet = _Sheet(len(labels), len(sink))
    anew = bool(seen) and _begins_anew(moments, len(seen) - 1)
    sheet.batch("a new start" if anew else "this batch", began, stands)
    sheet.source(labels, stands, _held(opened), _emitted(sink), twice, lost)
    sheet.sink(sink)
    sheet.places("killed" if killed else "reading goes on", stands, sink)
    sheet.legend()
    words = _words(labels, seen, twice, lost, killed)
    return Picture(sheet.drawing, caption, words, _rows(labels, seen))


class _Sheet:
    """Both partitions as boxes; offset 0 is on the left as long as all records fit."""

    def __init__(self, records: int, written: int) -> None:
        self.first, self.first_written = max(records - SHOWN, 0), max(written - SHOWN, 0)
        self.end, most = records, max(min(max(records, written), SHOWN), 1)
        self.box = min(WIDEST, SHOWN * BOX / most)
        self.drawing = Drawing(WIDTH, SINK + HEIGHT + 66)

    def at(self, offset: int) -> float:
        inside = min(max(offset, self.first), self.end)
        return LEFT + self.box * (inside - self.first)

    def batch(self, what: str, began: int, stands: int) -> None:
        """Draw a bracket over the batch that was read last."""
        if stands <= max(began, self.first):
            return
        left, right = self.at(began) + 2, self.at(stands) - 2
        self.drawing.line([(left, 26), (left, 20), (right, 20), (right, 26)], colour=BLUE)
        self.drawing.text(max(left, LEFT), 14, f"{what}: {_range(began, stands)}", bold=True)

    def source(
        self,
        labels: Sequence[str],
        stands: int,
        held: set[int],
        emitted: Counter[int],
        twice: set[int],
        lost: set[int],
    ) -> None:
        """Draw the source's records: dashed unless read, hatched if open, ticks if emitted."""
        self.drawing.text(LEFT - 8, TOP + 19, "source", anchor="end", bold=True)
        for offset in range(self.first, len(labels)):
            x, read = self.at(offset), offset < stands
            is_open, times = offset in held, emitted[offset]
            state = "open" if is_open else "emitted" if times else "read" if read else "not read"
            state = "lost" if offset in lost else state
            self.drawing.text(x + self.box / 2, TOP - 6, str(offset), anchor="middle", size=11)
            self.drawing.box(
                x + 1, TOP, self.box - 2, HEIGHT, edge=ORANGE if is_open else INK, hatched=is_open,
                dashed=not read, title=f"offset {offset}: {labels[offset]}, {state}",
            )  # fmt: skip
            self._label(x + self.box / 2, TOP + 19, labels[offset], is_open)
            ticks = "✓" * times if times < 3 else f"{times}✓"
            marks = "✗" if offset in lost else ticks + ("↻" if offset in twice else "")
            colour = RED if offset in lost else GREEN
            self.drawing.text(
                x + self.box / 2, TOP + HEIGHT + 14, marks, anchor="middle", colour=colour
            )

    def sink(self, written: Sequence[Record]) -> None:
        """Draw the sink's records, each with what it says."""
        self.drawing.text(LEFT - 8, SINK + 19, "sink", anchor="end", bold=True)
        self.drawing.text(LEFT - 8, SINK + HEIGHT + 14, "says", anchor="end", size=11)
        if not written:
            self.drawing.text(LEFT, SINK + 19, "empty")
        elif self.first_written:
            note = f"the last {SHOWN} of {len(written)} records"
            self.drawing.text(LEFT, SINK + HEIGHT + 30, note, size=11)
        for place, (visit, offsets, said) in enumerate(written[self.first_written :]):
            x = LEFT + self.box * place
            its = ", ".join(map(str, offsets))
            self.drawing.box(x + 1, SINK, self.box - 2, HEIGHT, title=f"{visit}: offsets {its}")
            self._label(x + self.box / 2, SINK + 19, visit, False)
            says = "–" if said is None else str(said)
            self.drawing.text(x + self.box / 2, SINK + HEIGHT + 14, says, anchor="middle", size=11)

    def places(self, what: str, stands: int, written: Sequence[Record]) -> None:
        """Draw where the reader stands, and an arrow from the last record to what it says."""
        x, y = self.at(stands), TOP + HEIGHT
        self.drawing.line([(x, y + 34), (x, y + 3)], colour=BLUE, thick=2, arrow=True)
        self._beside(x, y + 40, f"{what} at {stands}")
        if not written or written[-1][2] is None:
            return
        last = LEFT + self.box * (len(written) - self.first_written - 0.5)
        to, elbow = self.at(written[-1][2]), SINK - 20
        self.drawing.line(
            [(last, SINK - 2), (last, elbow), (to, elbow), (to, y + 3)],
            colour=RED, thick=2, arrow=True,
        )  # fmt: skip
        self._beside(to, elbow - 6, f"a restart begins at {written[-1][2]}")

    def legend(self) -> None:
        """Explain the looks of the boxes and the marks below them."""
        x, y = float(LEFT), self.drawing.height - 22
        for words, hatched, dashed in (("open", True, False), ("not read yet", False, True)):
            edge = ORANGE if hatched else INK
            self.drawing.box(x, y, 18, 14, edge=edge, hatched=hatched, dashed=dashed)
            self.drawing.text(x + 24, y + 11, words, size=11)
            x += wide(words, 11) + 46
        for words in ("✓ emitted, ✓✓ twice", "↻ read again", "✗ lost"):
            self.drawing.text(x, y + 11, words, size=11)
            x += wide(words, 11) + 24

    def _label(self, x: float, y: float, label: str, hatched: bool) -> None:
        label = cut(label, self.box - 6, 11)
        if hatched and label:
            room = wide(label, 11) + 2
            self.drawing.box(x - room / 2, y - 11, room, 14, fill=PAPER, edge="none", corner=0)
        self.drawing.text(x, y, label, anchor="middle", size=11)

    def _beside(self, x: float, y: float, words: str) -> None:
        """Write words to the right of a line or, where they don't fit, to its left."""
        length = wide(words)
        fits = x + 6 + length <= WIDTH
        start, anchor = (x + 6, "start") if fits else (x - 6, "end")
        room = start if fits else start - length
        self.drawing.box(room, y - 11, length, 14, fill=PAPER, edge="none", corner=0)
        self.drawing.text(start, y, words, anchor=anchor)


def _held(opened: Mapping[str, Sequence[int]]) -> set[int]:
    return {offset for offsets in opened.values() for offset in offsets}


def _emitted(sink: Sequence[Record]) -> Counter[int]:
    return Counter(offset for _, offsets, _ in sink for offset in offsets)


def _twice(seen: Sequence[Moment]) -> set[int]:
    """Return the offsets that more than one batch has read."""
    read = Counter(offset for began, stands, *_ in seen for offset in range(began, stands))
    return {offset for offset, times in read.items() if times > 1}


def _begins_anew(moments: Sequence[Moment], number: int) -> bool:
    """Return whether a batch, by its number from 0, begins before the end of the one before it."""
    return number > 0 and moments[number][0] < moments[number - 1][1]


def _lost(seen: Sequence[Moment]) -> set[int]:
    """Return the offsets that were read, and are neither open nor in the sink."""
    if not seen:
        return set()
    _, stands, opened, sink = seen[-1]
    read = set(range(min(began for began, *_ in seen), stands))
    return read - _held(opened) - set(_emitted(sink))


def _range(began: int, end: int) -> str:
    return f"{began}" if end - began == 1 else f"{began} to {end - 1}"


def _words(
    labels: Sequence[str], seen: Sequence[Moment], twice: set[int], lost: set[int], killed: bool
) -> str:
    if not seen:
        return f"{number(len(labels), 'record')}, none of them read yet."
    _, stands, opened, sink = seen[-1]
    again = [offset for offset, times in _emitted(sink).items() if times > 1]
    parts = [
        f"{'Killed' if killed else 'Reading goes on'} at {stands} of {len(labels)}",
        f"{', '.join(opened) or 'nothing'} open",
        f"{number(len(sink), 'record')} in the sink, {_says(sink)}",
        f"{number(len(twice), 'record')} read more than once",
        f"{number(len(again), 'message')} emitted more than once",
        f"{number(len(lost), 'message')} lost",
    ]
    return "; ".join(parts if lost else parts[:-1]) + "."


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

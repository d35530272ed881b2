"""A windowed store as a grid: a row per key, a column per window, and what a question returns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbook.views.axis import moment
from workbook.views.drawing import FAINT, INK, ORANGE, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import cut

CAPTION = (
    "A line per group, a column per window. A dashed cell is no row: nothing of the group changed "
    "in that window, or one micro-batch read that change together with a later one."
)

Cell = tuple[int, str, str]
"""Of the store: the start of a window (ms), the key, and its row in a few words."""

Asked = tuple[str | None, int, int]
"""A key, or None for all of them, and the first and the last start of a window (ms), inclusive."""

SHOWN, LINES = 10, 12
"""At most so many windows, the newest, and so many keys are drawn."""

LEFT, TOP, WIDE, HIGH, WIDTH = 130, 46, 74, 30, 880


def windowed_store(
    cells: Iterable[Cell],
    window_ms: int,
    asked: Asked | None = None,
    since: int | None = None,
    caption: str = CAPTION,
) -> Picture:
    """Draw the rows of a windowed store, and a frame around those that ``asked`` returns.

    Columns go from ``since``, the start of a window, by default the oldest one that has a row, to
    the newest one. Where ``since`` is older than every row, its windows are gone: forgotten, or
    never written.
    """
    found = {(start, key): words for start, key, words in cells}
    starts = _starts(found, window_ms, since)
    keys = sorted({key for _, key in found})
    sheet = _Sheet(starts[-SHOWN:], keys[:LINES])
    sheet.head(len(starts), len(keys))
    sheet.cells(found)
    if asked is not None:
        sheet.frame(asked)
    words = _words(found, starts, keys, window_ms, asked)
    return Picture(sheet.drawing, caption, words, _rows(found, starts, keys))


Found = dict[tuple[int, str], str]


def _starts(found: Found, window_ms: int, since: int | None) -> list[int]:
    """Return the starts of all windows, also of those without a row."""
    known = [start for start, _ in found]
    if since is not None:
        known.append(since // window_ms * window_ms)
    return list(range(min(known), max(known) + 1, window_ms)) if known else []


class _Sheet:
    """The cells of some windows and keys, at their places."""

    def __init__(self, starts: Sequence[int], keys: Sequence[str]) -> None:
        self.starts, self.keys = starts, keys
        self.drawing = Drawing(WIDTH, TOP + HIGH * max(len(keys), 1) + 34)

    def head(self, windows: int, keys: int) -> None:
        """Draw the names of windows and keys, and what is left out."""
        for place, start in enumerate(self.starts):
            x = LEFT + WIDE * (place + 0.5)
            self.drawing.text(x, TOP - 10, moment(start)[:8], anchor="middle", size=11)
        for place, key in enumerate(self.keys):
            label = cut(key, LEFT - 20, 12)
            self.drawing.text(LEFT - 10, TOP + HIGH * place + 20, label, anchor="end", bold=True)
        if not self.starts:
            self.drawing.text(LEFT, TOP + 20, "empty")
        left_out = [
            f"{number(count - shown, noun)} {where}"
            for count, shown, noun, where in (
                (windows, len(self.starts), "window", "before"),
                (keys, len(self.keys), "group", "more"),
            )
            if count > shown
        ]
        self.drawing.text(LEFT, self.drawing.height - 10, ", ".join(left_out), size=11)
        self.drawing.text(LEFT - 10, TOP - 10, "window from", anchor="end", size=11)

    def cells(self, found: Found) -> None:
        """Draw a cell for each key and window: dashed where the store has no row."""
        for line, key in enumerate(self.keys):
            for place, start in enumerate(self.starts):
                words = found.get((start, key))
                x, y = LEFT + WIDE * place + 2, TOP + HIGH * line + 2
                title = f"{key}, window from {moment(start)[:8]}: {words or 'no row'}"
                edge = FAINT if words is None else INK
                self.drawing.box(
                    x, y, WIDE - 4, HIGH - 4, edge=edge, dashed=words is None, title=title
                )
                label = "–" if words is None else cut(words, WIDE - 8, 11)
                self.drawing.text(x + (WIDE - 4) / 2, y + 17, label, anchor="middle", size=11)

    def frame(self, asked: Asked) -> None:
        """Draw a frame around what a question asks for, as far as it's on the sheet."""
        key, first, last = asked
        places = [place for place, start in enumerate(self.starts) if first <= start <= last]
        lines = [line for line, each in enumerate(self.keys) if key in (None, each)]
        if not places or not lines:
            return
        x, y = LEFT + WIDE * places[0] - 1, TOP + HIGH * lines[0] - 1
        across, down = WIDE * len(places) + 2, HIGH * len(lines) + 2
        self.drawing.line(
            [(x, y), (x + across, y), (x + across, y + down), (x, y + down), (x, y)],
            colour=ORANGE, thick=3,
        )  # fmt: skip
        self.drawing.text(x, TOP - 28, _question(asked), size=11, bold=True)


def _question(asked: Asked) -> str:
    """Write a question as the store's method."""
    key, first, last = asked
    times = f"{moment(first)[:8]}, {moment(last)[:8]}"
    return f"fetch_all({times})" if key is None else f"fetch({key}, {times})"


def _words(
    found: Found, starts: Sequence[int], keys: Sequence[str], window_ms: int, asked: Asked | None
) -> str:
    if not starts:
        return "The store has no row yet."
    words = (
        f"{number(len(keys), 'group')} in {number(len(starts), 'window')} of {window_ms / 1000:g} s"
        f": {number(len(found), 'row')}, {number(len(keys) * len(starts) - len(found), 'cell')} "
        "without one."
    )
    if asked is None:
        return words
    key, first, last = asked
    rows = sum(first <= start <= last and key in (None, each) for start, each in found)
    return f"{words} {_question(asked)} returns {number(rows, 'row')}."


def _rows(found: Found, starts: Sequence[int], keys: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"window from": moment(start)[:8], **{key: found.get((start, key), "–") for key in keys}}
        for start in starts
    ]

"""A windowed store as a grid: a row per key, a column per window, and what a question returns."""

from collections.abc import Iterable
from typing import Any

from workbook.views.picture import Picture, moment, number
from workbook.views.strip import Look, Strip

CAPTION = (
    "A line per group, a column per window. A dashed cell is no row: nothing of the group changed "
    "in that window, or one micro-batch read that change together with a later one."
)
FRAME = " A double frame: what the question returns."

Stored = tuple[int, str, str]
"""Of the store: the start of a window (ms), the key, and its row in a few words."""

Asked = tuple[str | None, int, int]
"""A key, or None for all of them, and the first and the last start of a window (ms), inclusive."""

SHOWN, LINES = 7, 12
"""Windows (the newest) and keys that are drawn at most: seven columns fit in a notebook."""


def windowed_store(
    cells: Iterable[Stored],
    window_ms: int,
    asked: Asked | None = None,
) -> Picture:
    """Draw the rows of a windowed store, with a double frame around those that ``asked`` returns.

    Columns go from the oldest window that has a row to the newest one.
    """
    found = {(start, key): words for start, key, words in cells}
    known = [start for start, _ in found]
    starts = list(range(min(known), max(known) + 1, window_ms)) if known else []
    keys = sorted({key for _, key in found})
    strip = Strip(len(starts[-SHOWN:]), widest=110)
    strip.next("window from")
    for column, start in enumerate(starts[-SHOWN:]):
        strip.text(column, moment(start)[:8])
    for key in keys[:LINES]:
        strip.next(key)
        for column, start in enumerate(starts[-SHOWN:]):
            row = found.get((start, key))
            returned = row is not None and asked is not None and _returns(asked, start, key)
            look = Look.DASHED if row is None else Look.DOUBLE if returned else Look.PLAIN
            title = f"{key}, {moment(start)[:8]}{', returned' * returned}"
            strip.cell(column, row or "–", look, title=title)
    words = f"{number(len(found), 'row')} in {number(len(starts), 'window')}."
    if asked is not None:
        rows = sum(_returns(asked, start, key) for start, key in found)
        words += f" The question returns {number(rows, 'row')}."
    if len(starts) > SHOWN:
        words += f" Drawn: the newest {SHOWN} windows."
    if len(keys) > LINES:
        words += f" Drawn: the first {LINES} groups."
    rows_below: list[dict[str, Any]] = [
        {"window from": moment(start)[:8], **{key: found.get((start, key), "–") for key in keys}}
        for start in starts
    ]
    return Picture(strip, CAPTION + FRAME * bool(asked), words if starts else "", rows_below)


def _returns(asked: Asked, start: int, key: str) -> bool:
    wanted, first, last = asked
    return first <= start <= last and wanted in (None, key)

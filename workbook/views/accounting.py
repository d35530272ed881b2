"""An account of records: a bar of five parts that must add up, expected beside found."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbook.streams.events.ad_actions import Fate
from workbook.views.drawing import BLUE, GREEN, GREY, ORANGE, PAPER, RED, Drawing
from workbook.views.picture import Picture, number

CAPTION = "What became of every record? The lower bar must become the upper one, part by part."
LEFT, LONG, HIGH, HEAD, LINE = 84, 560, 34, 8, 26
COLUMNS = (150, 290, 390, 420)
"""Where a line below the bars has its part, its two numbers, and the difference."""

Box = tuple[float, float, float, float]


def accounting(
    expected: Mapping[str, int], found: Mapping[str, int], caption: str = CAPTION
) -> Picture:
    """Draw how many records have each fate: ``expected``, as a ledger knows it, and ``found``."""
    total = max(sum(expected.values()), sum(found.values()), 1)
    drawing = Drawing(LEFT + LONG + 8, HEAD + 2 * (HIGH + 8) + LINE * (len(Fate) + 2))
    for row, (name, counts) in enumerate((("expected", expected), ("found", found))):
        y = HEAD + row * (HIGH + 8)
        drawing.text(LEFT - 10, y + HIGH / 2 + 4, name, anchor="end", bold=True)
        x = float(LEFT)
        for fate in Fate:
            wide = LONG * counts.get(fate, 0) / total
            if wide:
                title = f"{name}, {fate}: {counts[fate]:,}"
                _part(drawing, fate, (x, y, wide, HIGH), title)
            x += wide
    _lines(drawing, expected, found)
    rows = [{"fate": f.value, "expected": e, "found": n} for f, e, n in _counts(expected, found)]
    return Picture(drawing, caption, _words(expected, found), rows)


def _counts(expected: Mapping[str, int], found: Mapping[str, int]) -> list[tuple[Fate, int, int]]:
    return [(fate, expected.get(fate, 0), found.get(fate, 0)) for fate in Fate]


def _lines(drawing: Drawing, expected: Mapping[str, int], found: Mapping[str, int]) -> None:
    """Write the key of the hatches, with both numbers of each part, and their sums."""
    y = HEAD + 2 * (HIGH + 8) + LINE / 2 + 4
    named, here, there, last = COLUMNS
    for x, word in ((here, "expected"), (there, "found")):
        drawing.text(x, y, word, anchor="end", bold=True)
    sums = ("together", sum(expected.values()), sum(found.values()))
    for part, due, count in [*_counts(expected, found), sums]:
        y += LINE
        if isinstance(part, Fate):
            _part(drawing, part, (LEFT, y - 13, 50, 18), part)
        drawing.text(named, y, part, bold=part == "together")
        drawing.text(here, y, f"{due:,}", anchor="end")
        drawing.text(there, y, f"{count:,}", anchor="end")
        drawing.text(last, y, _difference(due, count))


def _difference(due: int, count: int) -> str:
    if due == count:
        return "✓"
    return f"✗ {abs(due - count):,} too {'few' if count < due else 'many'}"


def _words(expected: Mapping[str, int], found: Mapping[str, int]) -> str:
    due, count = sum(expected.values()), sum(found.values())
    parts = ", ".join(f"{n:,} {fate}" for fate, _, n in _counts(expected, found) if n)
    wrong = [f"{fate} {_difference(e, n)[2:]}" for fate, e, n in _counts(expected, found) if e != n]
    verdict = "; ".join(wrong) + "." if wrong else "It adds up, part by part."
    return f"{count:,} of {number(due, 'record')} found: {parts or 'none'}. {verdict}"


# --- hatches ------------------------------------------------------------------------------------


def _part(drawing: Drawing, fate: Fate, box: Box, title: str) -> None:
    colour, hatch = _LOOKS[fate]
    drawing.box(*box, fill=PAPER, edge=colour, corner=0, title=title)
    hatch(drawing, box, colour)


def _plain(drawing: Drawing, box: Box, colour: str) -> None:
    """Leave it empty."""


def _slanted(drawing: Drawing, box: Box, colour: str) -> None:
    drawing.box(*box, edge=colour, corner=0, hatched=True)


def _upright(drawing: Drawing, box: Box, colour: str) -> None:
    x, y, wide, high = box
    for place in range(4, int(wide), 5):
        drawing.line([(x + place, y), (x + place, y + high)], colour=colour, thick=1)


def _level(drawing: Drawing, box: Box, colour: str) -> None:
    x, y, wide, high = box
    for place in range(4, int(high), 5):
        drawing.line([(x, y + place), (x + wide, y + place)], colour=colour, thick=1)


def _full(drawing: Drawing, box: Box, colour: str) -> None:
    drawing.box(*box, fill=colour, edge=colour, corner=0)


_LOOKS: Mapping[Fate, tuple[str, Callable[[Drawing, Box, str], None]]] = {
    Fate.ACCEPTED: (BLUE, _plain),
    Fate.DUPLICATE: (ORANGE, _slanted),
    Fate.FILTERED: (GREEN, _upright),
    Fate.REJECTED: (RED, _level),
    Fate.TOO_OLD: (GREY, _full),
}
"""The colour of each part, and what tells it from the others without its colour."""

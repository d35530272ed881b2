"""The square of a filter on a table: did a row match before, and does it match now?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.drawing import FAINT, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import ARROW, cut

CAPTION = "A filter on a table: in which corner does only the old row know what to emit?"
SHOWN = 3
"""So many updates are written into a corner."""

SIDE, HEAD, CELL, HEIGHT = 106, 30, 364, 104
GAP = 6
PLACES = {
    (False, False): "neither before nor now",
    (False, True): "only now",
    (True, False): "only before",
    (True, True): "before and now",
}
"""Whether a row matched before, and whether it matches now."""


@dataclass(frozen=True)
class Met:
    """An update that met the filter: the row before and after (None: no row), and what came out.

    ``before`` and ``now`` are whether the condition held and holds; ``emitted`` is a word for what
    the filter emitted: row, delete, nothing.
    """

    key: str
    old: str | None
    new: str | None
    before: bool
    now: bool
    emitted: str


def filter_square(updates: Sequence[Met], caption: str = CAPTION) -> Picture:
    """Draw the four corners, in each its first three updates and what the filter emitted."""
    inside: dict[tuple[bool, bool], list[Met]] = {corner: [] for corner in PLACES}
    for update in updates:
        inside[update.before, update.now].append(update)
    drawing = Drawing(SIDE + 2 * CELL + 8, HEAD + 2 * HEIGHT + 4)
    for now in (False, True):
        head = "matches now" if now else "doesn't match now"
        drawing.text(SIDE + CELL * (now + 0.5), 18, head, anchor="middle", bold=True)
    for before in (False, True):
        y = HEAD + HEIGHT * before + HEIGHT / 2
        drawing.text(
            SIDE - 10, y - 4, "matched" if before else "didn't match", anchor="end", bold=True
        )
        drawing.text(SIDE - 10, y + 12, "before", anchor="end", bold=True)
    for corner, met in inside.items():
        _corner(drawing, corner, met)
    return Picture(drawing, caption, _words(inside), _rows(inside))


def _corner(drawing: Drawing, corner: tuple[bool, bool], met: Sequence[Met]) -> None:
    before, now = corner
    x, y = SIDE + CELL * now, HEAD + HEIGHT * before
    title = f"{PLACES[corner]}: {_sum(met)}"
    drawing.box(x, y, CELL - GAP, HEIGHT - GAP, edge=FAINT, corner=4, title=title)
    drawing.text(x + 10, y + 19, _sum(met), bold=True)
    for line, update in enumerate(met[:SHOWN]):
        drawing.text(x + 10, y + 38 + 17 * line, cut(_line(update), CELL - 16, 11), size=11)
    if len(met) > SHOWN:
        more = f"… and {len(met) - SHOWN:,} more"
        drawing.text(x + 10, y + 38 + 17 * SHOWN, more, size=11)


def _sum(met: Sequence[Met]) -> str:
    """Return what came out of a corner: "emitted: 2 rows, nothing for 1"."""
    if not met:
        return "no update came here"
    if all(update.emitted == "nothing" for update in met):
        return "emitted: nothing"
    found = Counter(update.emitted for update in met)
    said = [
        f"nothing for {count:,}" if what == "nothing" else number(count, what)
        for what, count in sorted(found.items())
    ]
    return "emitted: " + ", ".join(said)


def _line(update: Met) -> str:
    return f"{update.key}: {update.old or 'no row'} {ARROW} {update.new or 'no row'}"


def _words(inside: Mapping[tuple[bool, bool], Sequence[Met]]) -> str:
    count = sum(len(met) for met in inside.values())
    if not count:
        return "No update has met the filter yet."
    said = [
        f"{PLACES[corner].capitalize()}: {len(met):,} ({_sum(met)})."
        for corner, met in inside.items()
        if met
    ]
    return " ".join([f"{number(count, 'update')} met the filter.", *said])


def _rows(inside: Mapping[tuple[bool, bool], Sequence[Met]]) -> list[dict[str, Any]]:
    return [
        {
            "corner": PLACES[corner],
            "key": update.key,
            "old row": update.old or "no row",
            "new row": update.new or "no row",
            "emitted": update.emitted,
        }
        for corner, met in inside.items()
        for update in met[:SHOWN]
    ]

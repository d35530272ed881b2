"""The square of a filter on a table: did a row match before, and does it match now?"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.picture import ARROW, Picture, number
from workbook.views.tables import Cell, Grid

CAPTION = "A filter on a table: in which corner does only the old row know what to emit?"
SHOWN = 3
"""Updates that are written into a corner."""

PLACES = {
    (False, False): "neither before nor now",
    (False, True): "only now",
    (True, False): "only before",
    (True, True): "before and now",
}
"""Whether a row matched before, and whether it matches now."""


@dataclass(frozen=True)
class Met:
    """An update that met the filter: the row before and after (None: no row), and the emitted row.

    ``before`` and ``now`` are whether the condition held and holds; ``emitted`` is a word for what
    the filter emitted: row, delete, nothing.
    """

    key: str
    old: str | None
    new: str | None
    before: bool
    now: bool
    emitted: str


def filter_square(updates: Sequence[Met]) -> Picture:
    """Draw the four corners, in each its first three updates and what the filter emitted."""
    inside: dict[tuple[bool, bool], list[Met]] = {corner: [] for corner in PLACES}
    for update in updates:
        inside[update.before, update.now].append(update)
    lines = [
        (name, [Cell(_corner(inside[before, now])) for now in (False, True)])
        for before, name in ((False, "didn't match before"), (True, "matched before"))
    ]
    grid = Grid(["", "doesn't match now", "matches now"], lines)
    return Picture(grid, CAPTION, _words(inside), _rows(inside))


def _corner(met: Sequence[Met]) -> str:
    lines = [_sum(met), *map(_line, met[:SHOWN])]
    return "\n".join(lines + [f"… and {len(met) - SHOWN:,} more"] * (len(met) > SHOWN))


def _sum(met: Sequence[Met]) -> str:
    """Return what was emitted in a corner: "emitted: 2 rows, nothing for 1"."""
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

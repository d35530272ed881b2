"""An account of records: a bar of five parts that must add up, expected beside found."""

from collections.abc import Mapping

from workbook.streams.events.ad_actions import Fate
from workbook.views.colours import BLUE, GREEN, GREY, ORANGE, RED
from workbook.views.picture import Picture, number
from workbook.views.plane import Plane

CAPTION = "What became of every record? The lower bar must become the upper one, part by part."
LOOKS = {
    Fate.ACCEPTED: (BLUE, ""),
    Fate.DUPLICATE: (ORANGE, "///"),
    Fate.FILTERED: (GREEN, "|||"),
    Fate.REJECTED: (RED, "---"),
    Fate.TOO_OLD: (GREY, "xxx"),
}
"""The colour of each part, and what tells it from the others without its colour."""


def accounting(
    expected: Mapping[str, int], found: Mapping[str, int], caption: str = CAPTION
) -> Picture:
    """Draw how many records have each fate: ``expected``, as a ledger knows it, and ``found``."""
    plane = Plane("records", "", height=190, right=0.05)
    plane.lanes(["expected", "found"])
    for lane, counts in enumerate((expected, found)):
        begin = 0
        for fate, (colour, hatch) in LOOKS.items():
            count = counts.get(fate, 0)
            plane.axes.barh(
                lane, count, 0.7, left=begin, label=fate.value, facecolor="none", edgecolor=colour,
                hatch=hatch,
            )  # fmt: skip
            begin += count
    plane.axes.set_xlim(0, max(sum(expected.values()), sum(found.values()), 1))
    plane.counts(x=True)
    plane.legend()
    rows = [
        {"fate": name, "expected": due, "found": count, "difference": _difference(due, count)}
        for name, due, count in [
            *((fate.value, due, count) for fate, due, count in _counts(expected, found)),
            ("together", sum(expected.values()), sum(found.values())),
        ]
    ]
    return Picture(plane, caption, _words(expected, found), rows)


def _counts(expected: Mapping[str, int], found: Mapping[str, int]) -> list[tuple[Fate, int, int]]:
    return [(fate, expected.get(fate, 0), found.get(fate, 0)) for fate in Fate]


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

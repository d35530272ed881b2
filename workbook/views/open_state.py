"""How many visits are open against how much was read: the state of two runs on one axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbook.views.picture import Picture, number
from workbook.views.plane import LINES, Plane

CAPTION = (
    "The same messages, read twice. Upwards: open visits, which are the state. To the right: "
    "messages read so far. Look for the point at which each run waits until orders continue."
)
SHOWN = 16
"""Points of a run in the table, at most."""


@dataclass(frozen=True)
class Curve:
    """A run by name: messages read and visits open then, in the order of reading.

    After ``came`` messages the stream that was stuck went on; None where it never was.
    """

    name: str
    points: Sequence[tuple[int, int]]
    came: int | None = None

    @property
    def peak(self) -> tuple[int, int]:
        """Return where most visits were open; (0, 0) without a point."""
        return max(self.points, key=lambda point: point[1], default=(0, 0))


def open_state(curves: Sequence[Curve], caption: str = CAPTION) -> Picture:
    """Draw runs as lines. Points are pairs of counts: messages read, and visits open."""
    plane = Plane("messages read", "visits open")
    for curve, (colour, dashes, mark) in zip(curves, LINES, strict=False):
        x, y = zip(*curve.points, strict=True) if curve.points else ((), ())
        few = mark if len(x) <= 40 else ""
        label = f"{curve.name}: up to {curve.peak[1]:,}"
        plane.axes.plot(x, y, dashes, color=colour, marker=few, markersize=5, label=label)
        if curve.came is not None:
            plane.axes.plot(
                [curve.came], [0], color=colour, marker="^", markersize=11, clip_on=False,
                linestyle="none", label=f"{curve.name}: orders continue here",
            )  # fmt: skip
    plane.axes.set(xlim=(0, None), ylim=(0, None))
    plane.counts(x=True, y=True)
    plane.legend(2)
    return Picture(plane, caption, _words(curves), _rows(curves))


def _words(curves: Sequence[Curve]) -> str:
    said = []
    for curve in curves:
        if not curve.points:
            said.append(f"{curve.name}: nothing read yet")
            continue
        read, most = curve.peak
        end = curve.points[-1]
        text = f"{curve.name}: up to {number(most, 'visit')} open, after {number(read, 'message')}"
        if curve.came is not None:
            text += f"; it waited for orders after {curve.came:,}"
        said.append(f"{text}; {end[1]:,} open in the end, after {end[0]:,}")
    return ". ".join(said or ["Nothing was read yet"]) + "."


def _rows(curves: Sequence[Curve]) -> list[dict[str, Any]]:
    rows = []
    for curve in curves:
        step = -(-len(curve.points) // SHOWN) or 1
        kept = {*curve.points[::step], *curve.points[-1:], *([curve.peak] if curve.points else [])}
        for read, still in sorted(kept):
            rows.append({"run": curve.name, "messages read": f"{read:,}", "open": f"{still:,}"})
    return rows

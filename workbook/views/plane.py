"""The plane of all pictures that have axes: matplotlib's, in one style, with one legend."""

import base64
import html
import io
from collections.abc import Sequence
from datetime import UTC
from threading import RLock
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.dates import AutoDateLocator, ConciseDateFormatter
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator, StrMethodFormatter
from numpy.typing import ArrayLike

from workbook.views.colours import BLUE, GREEN, GREY, INK_ON_PAPER, ORANGE, RED

STYLE: Any = {
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "workbook",
    "hatch.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 9,
    "legend.fontsize": 9,
    "text.color": INK_ON_PAPER,
    "text.parse_math": False,  # a group may be called team$x{$y
}
LINES = (
    (BLUE, "-", "o"),
    (ORANGE, "--", "s"),
    (GREEN, "-.", "^"),
    (RED, ":", "x"),
    (GREY, "-", "D"),
)
"""Colour, dashes and mark of a line by its place: each is told from the others without colour."""

INCH = 96
"""Pixels."""


_STYLED = RLock()
"""Held while the style is set: it's the whole process's, and two views may draw at once."""


class Plane:
    """A plane with titled axes; draw on ``axes``, a matplotlib ``Axes``.

    ``right`` is the share of the width that is left to words beside the plane.
    """

    def __init__(
        self, across: str, upwards: str, *, width: int = 860, height: int = 360, right: float = 0.02
    ) -> None:
        with _STYLED, rc_context(STYLE):
            self.figure = Figure(figsize=(width / INCH, height / INCH))
            below, left = 46 / height, 86 / width
            self.axes: Axes = self.figure.add_axes(
                (left, below, 1 - left - right, 1 - below - 44 / height)
            )
            self.axes.set(xlabel=across, ylabel=upwards)
            self.axes.grid(alpha=0.25)
            self.axes.set_axisbelow(True)
        self.width = width

    def counts(self, *, x: bool = False, y: bool = False) -> None:
        """Write an axis in whole numbers with thousands separators."""
        for wanted, axis in ((x, self.axes.xaxis), (y, self.axes.yaxis)):
            if wanted:
                axis.set_major_locator(MaxNLocator(6, integer=True))
                axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))

    def times(self, *, x: bool = False, y: bool = False) -> None:
        """Write an axis whose places are ``moments`` as times of day in UTC."""
        for wanted, axis in ((x, self.axes.xaxis), (y, self.axes.yaxis)):
            if wanted:
                locator = AutoDateLocator(minticks=3, maxticks=8, tz=UTC)
                axis.set_major_locator(locator)
                formats = ["%Y", "%b %d", "%b %d", "%H:%M", "%H:%M", "%H:%M:%S"]
                formatter = ConciseDateFormatter(
                    locator, tz=UTC, formats=formats, show_offset=False
                )
                formatter.zero_formats = ["", "%b %d", "%b %d", "%b %d", "%H:%M", "%H:%M:%S"]
                axis.set_major_formatter(formatter)

    def lanes(self, names: Sequence[str]) -> None:
        """Make the axis upwards one lane per name, the first one on top."""
        names = [_printable(name[:22]) for name in names]
        self.axes.set_yticks(range(len(names)), names)
        box = self.axes.get_position()
        left = max(box.x0, (40 + 7 * max(map(len, names), default=0)) / self.width)
        self.axes.set_position((left, box.y0, box.x1 - left, box.height))
        self.axes.set_ylim(len(names) - 0.4, -0.6)
        self.axes.grid(visible=False)

    def marks(self, lane: float, places: ArrayLike, mark: str, **look: Any) -> None:
        """Draw a mark at each of these places in a lane."""
        there = np.atleast_1d(places)
        self.axes.plot(there, [lane] * len(there), mark, **{"linestyle": "none", **look})

    def beside(self, place: Any, words: str, colour: str = INK_ON_PAPER) -> None:
        """Write words to the right of the plane, beside a lane or a place of the axis upwards."""
        right = self.axes.get_yaxis_transform()
        self.axes.text(1.01, place, words, transform=right, va="center", color=colour)

    def legend(self, columns: int = 6) -> None:
        """Explain every labelled mark, once, above the plane."""
        handles, labels = self.axes.get_legend_handles_labels()
        named = dict(zip(labels, handles, strict=True))
        self.axes.legend(
            named.values(), named.keys(), loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False,
            ncols=columns, borderaxespad=0.2, handletextpad=0.5, columnspacing=1.4,
        )  # fmt: skip

    def svg(self, words: str) -> str:
        """Return the plane as an image in HTML; ``words`` are for who can't see it."""
        image = io.BytesIO()
        with _STYLED, rc_context(STYLE):
            for text in self.figure.findobj(Text):  # made outside of this style
                text.set(text=_printable(text.get_text()), parse_math=False)
            FigureCanvasSVG(self.figure).print_svg(image, metadata={"Date": None})
        data = base64.b64encode(image.getvalue()).decode()
        return (
            f'<img alt="{html.escape(words)}" src="data:image/svg+xml;base64,{data}" '
            f'style="width:{self.width}px; max-width:100%; min-width:560px; height:auto">'
        )


def _printable(text: str) -> str:
    """Replace what an image can't hold, such as a control character in a name."""
    return "".join(each if each.isprintable() or each == "\n" else "·" for each in text)


_DRAWABLE = (-62_104_060_800_000, 253_370_764_799_999)


def moments(ms: ArrayLike) -> Any:
    """Return times in ms since 1970 as places on an axis of times: it has the years 2 to 9998."""
    return np.clip(np.asarray(ms, np.int64), *_DRAWABLE).astype("datetime64[ms]")

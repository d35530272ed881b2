"""Charts of counts per second: a picture, what to look for, and the same as numbers."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Mapping

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from workbook.views.tables import table

Series = Mapping[int, int]
"""Epoch second to count."""

STYLES = ("o-", "s--", "^:", "x-.")
"""Marker and line of each series: told apart without colour."""

SHOWN_S = 60
NUMBERS = 8


def per_second(series: Mapping[str, Series], caption: str, shown: int = SHOWN_S) -> str:
    """Draw counts per second by name as HTML: the last ``shown`` seconds, newest at the right.

    Seconds without a count are drawn as 0, up to the last one of each series. A series that has
    no count yet is named all the same.
    """
    last = max((max(counts, default=0) for counts in series.values()), default=0)
    picture = base64.b64encode(_png(series, last, shown)).decode()
    words = html.escape(in_words(series, last - shown))
    return (
        f'<figure><img alt="{words}" src="data:image/png;base64,{picture}">'
        f"<figcaption>{html.escape(caption)}<br>{words}</figcaption></figure>"
        f"{table(_rows(series, last), 'The same as numbers')}"
    )


def in_words(series: Mapping[str, Series], after: int = 0) -> str:
    """Describe each series: its newest count, and its mean over the seconds past ``after``."""
    lines = []
    for name, counts in series.items():
        if not counts:
            lines.append(f"{name}: nothing yet")
            continue
        recent = {second: count for second, count in counts.items() if second > after}
        mean = sum(recent.values()) / (max(counts) - min(recent) + 1) if recent else 0.0
        newest = counts[max(counts)]
        lines.append(f"{name}: {newest:,} in the newest second, {mean:,.1f} on average")
    return "; ".join(lines) + "."


def _png(series: Mapping[str, Series], last: int, shown: int) -> bytes:
    figure = Figure(figsize=(7.2, 2.8), dpi=96)
    # Fixed margins: laying them out anew costs as much as the drawing.
    axes = figure.add_axes((0.09, 0.18, 0.89, 0.70))
    for (name, counts), style in zip(series.items(), STYLES, strict=False):
        first = max(last - shown + 1, min(counts, default=0))
        drawn = range(first, max(counts, default=-1) + 1)
        axes.plot(
            [second - last for second in drawn],
            [counts.get(second, 0) for second in drawn],
            style,
            label=name,
            markersize=5,
            markerfacecolor="none",
        )
    axes.set(xlabel="seconds before the newest one", ylabel="per second", xlim=(-shown, 1))
    axes.set_ylim(0, 1.15 * max(axes.get_ylim()[1], 1))
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=len(STYLES), frameon=False)
    image = io.BytesIO()
    FigureCanvasAgg(figure).print_png(image, pil_kwargs={"compress_level": 1})
    return image.getvalue()


def _rows(series: Mapping[str, Series], last: int) -> list[dict[str, int | str]]:
    """Return a row for each series, a column for each of the last seconds."""
    seconds = range(last - NUMBERS + 1, last + 1)
    return [
        {"per second": name, **{f"{second % 10_000}": counts.get(second, "") for second in seconds}}
        for name, counts in series.items()
    ]

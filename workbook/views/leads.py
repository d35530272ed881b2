"""Two topics by event time: what was read, what waits, and how far each may be read."""

from collections.abc import Mapping, Sequence

from workbook.views.colours import GREEN, GREY, INK_ON_PAPER
from workbook.views.picture import Picture
from workbook.views.plane import LINES, Plane

CAPTION = (
    "Each topic's records by their time. Full: read. Hollow: unread. A topic may be read up to the "
    "bar in its lane, which is the other topic's top plus maxLead. A topic beyond its bar waits."
)

Times = Mapping[str, Sequence[int]]
"""Topic to the times of its records (s), in the order of their offsets."""


def leads(there: Times, read: Mapping[str, int], max_lead: int) -> Picture:
    """Draw two topics; ``read`` records of each have been read, ``max_lead`` is in seconds."""
    topics, rows = list(there), []
    tops = {topic: max(there[topic][: read[topic]], default=None) for topic in topics}
    plane = Plane("event time, in seconds", "", height=220, right=0.2)
    plane.lanes(topics)
    for lane, topic in enumerate(topics):
        own, other = tops[topic], tops[topics[1 - lane]]
        done, left = there[topic][: read[topic]], there[topic][read[topic] :]
        colour, _, mark = LINES[lane]
        for some, fill in ((done, colour), (left, "none")):
            plane.marks(lane, some, mark, color=colour, mfc=fill, markersize=8)
        if other is not None:
            end = other + max_lead
            plane.axes.vlines(end, lane - 0.32, lane + 0.32, color=INK_ON_PAPER, lw=3)
            plane.axes.text(end, lane - 0.36, "may read up to here", ha="center", va="bottom")
        waits = own is not None and (other is None or own - other > max_lead)
        state = "waits" if waits else "may go on"
        unread = f"{len(left):,} unread" if left else "all read"
        plane.beside(lane, f"{state}, {unread}", INK_ON_PAPER if waits else GREEN)
        plane.axes.axhline(lane, color=GREY, lw=0.5, zorder=0)
        rows.append({
            "topic": topic,
            "top": "none yet" if own is None else f"second {own:,}",
            "state": state,
            "read": ", ".join(map(str, done[-20:])) or "–",
            "waiting": ", ".join(map(str, left[:20])) or "–",
        })  # fmt: skip
    plane.counts(x=True)
    return Picture(plane, CAPTION, rows=rows)

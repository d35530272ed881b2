"""Two topics by event time: what was read, what waits, and how far each may be read."""

from collections.abc import Mapping, Sequence
from typing import Any

from workbook.views.colours import GREEN, GREY, INK_ON_PAPER
from workbook.views.picture import Picture, number
from workbook.views.plane import LINES, Plane

CAPTION = (
    "Each topic's records by their time. Full: read. Hollow: unread. A topic may be read up to the "
    "bar in its lane, which is the other topic's top plus maxLead. A topic beyond its bar waits."
)

Times = Mapping[str, Sequence[int]]
"""Topic to the times of its records (s), in the order of their offsets."""


def leads(there: Times, read: Mapping[str, int], max_lead: int) -> Picture:
    """Draw two topics; ``read`` records of each have been read, ``max_lead`` is in seconds."""
    topics = list(there)
    tops = {t: max(there[t][: read[t]], default=None) for t in topics}
    plane = Plane("event time, in seconds", "", height=220, right=0.2)
    plane.lanes(topics)
    for lane, topic in enumerate(topics):
        other, times, done = tops[topics[1 - lane]], there[topic], read[topic]
        colour, _, mark = LINES[lane]
        for some, fill in ((times[:done], colour), (times[done:], "none")):
            plane.axes.plot(some, [lane] * len(some), mark, color=colour, mfc=fill, markersize=8)
        if other is not None:
            end = other + max_lead
            plane.axes.plot([end, end], [lane - 0.32, lane + 0.32], color=INK_ON_PAPER, lw=3)
            plane.axes.text(end, lane - 0.36, "may read up to here", ha="center", va="bottom")
        state = _state(tops[topic], other, max_lead, len(times) - done)
        plane.axes.text(
            1.02, lane, state, transform=plane.axes.get_yaxis_transform(), va="center",
            color=INK_ON_PAPER if "waits" in state else GREEN,
        )  # fmt: skip
        plane.axes.axhline(lane, color=GREY, lw=0.5, zorder=0)
    plane.counts(x=True)
    return Picture(plane, CAPTION, _words(there, read, tops, max_lead), _rows(there, read))


def _state(own: int | None, other: int | None, max_lead: int, left: int) -> str:
    rest = f"{left:,} unread" if left else "all read"
    if own is not None and (other is None or own - other > max_lead):
        return f"waits, {rest}"
    return f"may go on, {rest}"


def _words(
    there: Times, read: Mapping[str, int], tops: Mapping[str, int | None], max_lead: int
) -> str:
    one, other = there
    said = []
    for topic, rival in ((one, other), (other, one)):
        own, its = tops[topic], tops[rival]
        at = "has no top yet" if own is None else f"is at second {own:,}"
        state = _state(own, its, max_lead, 0).partition(",")[0]
        count = number(len(there[topic]), "record")
        said.append(f"{topic} {at}, {read[topic]:,} of {count} read, {state}")
    return "; ".join(said) + "."


def _rows(there: Times, read: Mapping[str, int]) -> list[dict[str, Any]]:
    return [
        {
            "topic": topic,
            "read": ", ".join(map(str, times[: read[topic]][-20:])) or "–",
            "waiting": ", ".join(map(str, times[read[topic] :][:20])) or "–",
        }
        for topic, times in there.items()
    ]

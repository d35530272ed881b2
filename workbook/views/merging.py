"""Two topics by event time: how far each may be read, and their merge into visits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbook.views.colours import GREEN, GREY, INK_ON_PAPER, RED
from workbook.views.picture import Picture, moment
from workbook.views.plane import LINES, Plane, moments

CAPTION = (
    "Each visit on its line, by event time. Dashed: its time-out, up to the tick. Once the clock "
    "of both topics has passed that, the visit is complete. A ring on a topic's line: a heartbeat."
)
DRAWN = 9
"""Visits that are drawn: those that changed last."""

RING: Any = {"mark": "o", "ms": 13, "mfc": "none", "color": INK_ON_PAPER}
"""The newest message of a visit, and a heartbeat of a topic."""

Moment = tuple[str, str | None, int, Mapping[str, int], Mapping[str, int], Sequence[str]]
"""A message and what held after it: its topic, its ssid (None: a heartbeat), its event time (ms),
each topic's newest event time, of each open visit when it's due (ms), and the visits emitted."""


@dataclass
class _Visit:
    """A visit so far: its messages as topic and time, when it's due or was, how often emitted."""

    name: str
    messages: list[tuple[str, int]] = field(default_factory=list)
    due: int | None = None
    open: bool = True
    parts: int = 0
    last: int = 0

    @property
    def state(self) -> str:
        times = f" {self.parts} times" if self.parts > 1 else ""
        said = [f"✓ emitted{times}"] * (self.parts > 0) + ["open"] * self.open
        return ", ".join(said)


def merging(recorded: Sequence[Moment], topics: Sequence[str], until: int | None = None) -> Picture:
    """Draw a recorded merge after its first ``until`` messages, by default all of them.

    ``topics`` are both topics; the messages of the first are dots, those of the second squares.
    The axis is that of the whole run, so that a slider moves only what happens.
    """
    seen = recorded[:until]
    visits = _visits(seen)
    shown = sorted(visits, key=lambda visit: visit.last)[-DRAWN:]
    shown.sort(key=lambda visit: visit.messages[0][1])
    lanes = [*topics, *(visit.name for visit in shown)]
    plane = Plane("event time (UTC)", "topic, visit", height=130 + 28 * len(lanes), right=0.16)
    plane.lanes(lanes)
    _draw_topics(plane, topics, seen)
    for lane, visit in enumerate(shown, len(topics)):
        _draw_visit(plane, lane, visit, topics)
        if seen[-1][1] == visit.name:
            plane.marks(lane, moments([seen[-1][2]]), **RING)
    times = [time for _, _, time, *_ in recorded]
    times += [due for *_, dues, _ in recorded for due in dues.values()]
    first, last = min(times, default=0), max(times, default=1)
    room = max((last - first) // 40, 1)
    plane.axes.set_xlim(*moments([first - room, last + room]))
    plane.times(x=True)
    plane.legend()
    more = f" Drawn: the {DRAWN} of {len(visits):,} visits that changed last."
    return Picture(plane, CAPTION + more * (len(visits) > DRAWN), rows=_rows(seen, topics))


def _clock(newest: Mapping[str, int], topics: Sequence[str]) -> int | None:
    """Return the clock of both topics (ms); None until each has delivered a message."""
    return min(newest.values()) if len(newest) == len(topics) else None


def _visits(seen: Sequence[Moment]) -> list[_Visit]:
    found: dict[str, _Visit] = {}
    for place, (topic, ssid, time, _, dues, emitted) in enumerate(seen):
        if ssid is not None:
            visit = found.setdefault(ssid, _Visit(ssid))
            visit.messages.append((topic, time))
            visit.last = place
        for name in emitted:
            visit = found.setdefault(name, _Visit(name, [(topic, time)]))
            visit.parts, visit.last = visit.parts + 1, place
        for name, visit in found.items():
            visit.open, visit.due = name in dues, dues.get(name, visit.due)
    return list(found.values())


def _draw_topics(plane: Plane, topics: Sequence[str], seen: Sequence[Moment]) -> None:
    """Draw how far each topic has come, its heartbeats, and the clock of both."""
    newest = seen[-1][3] if seen else {}
    for lane, topic in enumerate(topics):
        colour, _, _ = LINES[lane]
        if topic in newest:
            begin, end = moments([0, newest[topic]])
            plane.axes.barh(lane, end - begin, 0.12, left=begin, color=colour)
            plane.axes.plot(end, lane, ">", ms=9, color=colour)
        beats = [time for its, ssid, time, *_ in seen if its == topic and ssid is None]
        plane.marks(lane, moments(beats), **RING)
    clock = _clock(newest, topics)
    if clock is not None:
        label = f"clock {moment(clock)}"
        plane.axes.axvline(moments(clock), color=RED, ls="--", lw=2, label=label)


def _draw_visit(plane: Plane, lane: int, visit: _Visit, topics: Sequence[str]) -> None:
    plane.axes.axhline(lane, color=GREY, lw=0.4, zorder=0)
    if visit.due is not None:
        colour = INK_ON_PAPER if visit.open else GREEN
        ends = moments([max(time for _, time in visit.messages), visit.due])
        plane.axes.plot(ends, [lane, lane], "--", color=colour, lw=1.5, label="time-out")
        plane.axes.plot(ends[1], lane, "|", ms=12, mew=1.5, color=colour)
    for topic, (colour, _, mark) in zip(topics, LINES, strict=False):
        times = [time for its, time in visit.messages if its == topic]
        if times:
            plane.marks(lane, moments(times), mark, ms=7, color=colour, label=f" {topic[:21]}")
    plane.beside(lane, visit.state, GREEN if visit.parts else INK_ON_PAPER)


def _rows(seen: Sequence[Moment], topics: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for place, (topic, ssid, time, newest, dues, emitted) in list(enumerate(seen, 1))[-20:]:
        clock = _clock(newest, topics)
        rows.append({
            "message": place,
            "of": f"{topic}: {ssid or 'heartbeat'}",
            "event time": moment(time),
            "clock": "–" if clock is None else moment(clock),
            "open": ", ".join(list(dues)[:DRAWN]) or "–",
            "emitted": ", ".join(emitted) or "–",
        })  # fmt: skip
    return rows


# --- how far each topic may be read -----------------------------------------------------------

LEADS = (
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
            "unread": ", ".join(map(str, left[:20])) or "–",
        })  # fmt: skip
    plane.counts(x=True)
    return Picture(plane, LEADS, rows=rows)

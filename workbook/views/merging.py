"""A merge of two topics by event time: visits as lines, both topics' clocks, what was emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbook.views.colours import GREEN, GREY, INK_ON_PAPER, RED
from workbook.views.picture import Picture, moment, number
from workbook.views.plane import LINES, Plane, moments

CAPTION = (
    "Each visit on its line, by event time. Dashed: its time-out, up to the tick. Once the clock "
    "of both topics has passed that, the visit is complete. A ring on a topic's line: a heartbeat."
)
DRAWN, NAMED = 9, 6
"""Visits that are drawn, those that changed last; and that are named in the sentence below."""

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
        emitted = {0: "", 1: "✓ emitted", 2: "✓ emitted twice"}
        times = emitted.get(self.parts, f"✓ emitted {self.parts} times")
        return ", ".join(filter(None, [times, "open" if self.open else ""]))


def merging(
    moments: Sequence[Moment],
    topics: Sequence[str],
    until: int | None = None,
    caption: str = CAPTION,
) -> Picture:
    """Draw a recorded merge after its first ``until`` messages, by default all of them.

    ``topics`` are both topics; the messages of the first are dots, those of the second squares.
    The axis is that of the whole run, so that a slider moves only what happens.
    """
    seen = list(moments if until is None else moments[:until])
    visits = _visits(seen)
    shown = sorted(visits, key=lambda visit: visit.last)[-DRAWN:]
    shown.sort(key=lambda visit: visit.messages[0][1])
    newest = dict(seen[-1][3]) if seen else {}
    clock = min(newest.values()) if len(newest) == len(topics) else None
    lanes = [*topics, *(visit.name for visit in shown)]
    plane = Plane("event time (UTC)", "topic, visit", height=130 + 28 * len(lanes), right=0.16)
    plane.lanes(lanes)
    _topics(plane, topics, seen, newest, clock)
    for lane, visit in enumerate(shown, len(topics)):
        _line(plane, lane, visit, topics)
        if seen[-1][1] == visit.name:
            plane.axes.plot(*_at(seen[-1][2], lane), "o", ms=14, mfc="none", color=INK_ON_PAPER)
    times = [time for _, _, time, *_ in moments]
    times += [due for *_, dues, _ in moments for due in dues.values()]
    _span(plane, times)
    words = _words(seen, visits, shown, topics, clock)
    return Picture(plane, caption, words, _rows(seen, topics))


def _at(time: int, lane: float) -> tuple[Any, list[float]]:
    return moments([time]), [lane]


def _span(plane: Plane, times: Sequence[int]) -> None:
    first, last = min(times, default=0), max(times, default=1)
    room = max((last - first) // 40, 1)
    plane.axes.set_xlim(*moments([first - room, last + room]))
    plane.times(x=True)
    plane.legend()


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


def _topics(
    plane: Plane,
    topics: Sequence[str],
    seen: Sequence[Moment],
    newest: Mapping[str, int],
    clock: int | None,
) -> None:
    """Draw how far each topic has come, its heartbeats, and the clock of both."""
    for lane, topic in enumerate(topics):
        colour, _, _ = LINES[lane]
        if topic in newest:
            plane.axes.plot(*_at(newest[topic], lane), ">", ms=9, color=colour)
            plane.axes.barh(
                lane, moments(newest[topic]) - moments(0), 0.12, left=moments(0), color=colour
            )
        beats = [time for its, ssid, time, *_ in seen if its == topic and ssid is None]
        at = moments(beats), [lane] * len(beats)
        plane.axes.plot(*at, "o", ms=12, mfc="none", color=INK_ON_PAPER)
    if clock is not None:
        label = f"clock {moment(clock)}"
        plane.axes.axvline(moments(clock), color=RED, ls="--", lw=2, label=label)


def _line(plane: Plane, lane: int, visit: _Visit, topics: Sequence[str]) -> None:
    plane.axes.axhline(lane, color=GREY, lw=0.4, zorder=0)
    if visit.due is not None:
        begin = max(time for _, time in visit.messages)
        colour = INK_ON_PAPER if visit.open else GREEN
        ends = moments([begin, visit.due])
        plane.axes.plot(ends, [lane, lane], "--", color=colour, lw=1.5, label="time-out")
        plane.axes.plot(*_at(visit.due, lane), "|", ms=12, mew=1.5, color=colour)
    for place, topic in enumerate(topics):
        times = [time for its, time in visit.messages if its == topic]
        colour, _, mark = LINES[place]
        if times:
            xs = moments(times)
            plane.axes.plot(xs, [lane] * len(times), mark, ms=7, color=colour, label=topic[:22])
    plane.axes.text(
        1.01, lane, visit.state, transform=plane.axes.get_yaxis_transform(), va="center",
        color=GREEN if visit.parts else INK_ON_PAPER,
    )  # fmt: skip


def _words(
    seen: Sequence[Moment],
    visits: Sequence[_Visit],
    shown: Sequence[_Visit],
    topics: Sequence[str],
    clock: int | None,
) -> str:
    if not seen:
        return "No message has come yet."
    newest = seen[-1][3]
    stands = [f"{t} is at {moment(newest[t])}" for t in topics if t in newest]
    silent = [f"{t} has given nothing" for t in topics if t not in newest]
    said = [f"After {number(len(seen), 'message')}: {', '.join([*stands, *silent])}"]
    said.append("there's no clock yet" if clock is None else f"the clock is {moment(clock)}")
    opened = [visit.name for visit in visits if visit.open]
    emitted = list(dict.fromkeys(name for *_, names in seen for name in names))
    before = " (in this order)" if 1 < len(emitted) <= NAMED else ""
    said += [f"{_named(opened)} open", f"{_named(emitted)} emitted{before}"]
    text = "; ".join(said) + "."
    if len(visits) > len(shown):
        text += f" Of {len(visits):,} visits the {DRAWN} that changed last are drawn."
    return text


def _named(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return f"{len(names):,} visits"
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]])) or "none"


def _rows(seen: Sequence[Moment], topics: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for place, (topic, ssid, time, newest, dues, emitted) in list(enumerate(seen, 1))[-20:]:
        clock = min(newest.values()) if len(newest) == len(topics) else None
        rows.append(
            {
                "message": place,
                "of": f"{topic}: {ssid or 'heartbeat'}",
                "event time": moment(time),
                "clock": "–" if clock is None else moment(clock),
                "open": ", ".join(list(dues)[:DRAWN]) or "–",
                "emitted": ", ".join(emitted) or "–",
            }
        )
    return rows

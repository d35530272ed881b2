"""A merge of two topics by event time: visits as lines, both topics' clocks, what was emitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbook.views.axis import moment
from workbook.views.drawing import BLUE, FAINT, GREEN, INK, ORANGE, RED, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import cut

CAPTION = (
    "Each visit on its line, by event time. Dashed: its time-out, up to the tick. Once the clock "
    "of both topics has passed that, the visit is complete. A ring on a topic's line: a heartbeat."
)
LINES = 9
"""So many visits are drawn, those that got a message or were emitted last."""

FEW = 6
"""So many visits are named in the sentence below the picture; more are counted."""

LEFT, RIGHT, HEAD, LANE, FOOT = 96, 660, 46, 34, 34
WIDTH = 820

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
    shown = sorted(visits, key=lambda visit: visit.last)[-LINES:]
    shown.sort(key=lambda visit: visit.messages[0][1])
    newest = dict(seen[-1][3]) if seen else {}
    clock = min(newest.values()) if len(newest) == len(topics) else None
    axis = _Axis(moments)
    drawing = Drawing(WIDTH, HEAD + LANE * max(len(shown), 1) + FOOT)
    _clocks(drawing, axis, topics, newest, clock, len(shown))
    _heartbeats(drawing, axis, topics, seen)
    for lane, visit in enumerate(shown):
        _line(drawing, axis, HEAD + LANE * lane + LANE / 2, visit, topics, seen[-1])
    if not shown:
        drawing.text(LEFT, HEAD + LANE / 2 + 4, "no visit yet")
    _foot(drawing, axis, topics)
    return Picture(
        drawing, caption, _words(seen, visits, shown, topics, clock), _rows(seen, topics)
    )


class _Axis:
    """Event times from left to right."""

    def __init__(self, moments: Sequence[Moment]) -> None:
        times = [time for _, _, time, *_ in moments]
        times += [due for *_, dues, _ in moments for due in dues.values()]
        self.start, self.end = min(times, default=0), max(times, default=1)

    def __call__(self, time: int) -> float:
        span = max(self.end - self.start, 1)
        return LEFT + (RIGHT - LEFT) * (time - self.start) / span


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


def _clocks(
    drawing: Drawing,
    axis: _Axis,
    topics: Sequence[str],
    newest: Mapping[str, int],
    clock: int | None,
    lines: int,
) -> None:
    bottom = HEAD + LANE * max(lines, 1)
    for place, topic in enumerate(topics):
        y = 12 + 16 * place
        drawing.text(LEFT - 8, y + 4, cut(topic, LEFT - 14, 11), anchor="end", size=11)
        drawing.line([(LEFT, y), (RIGHT, y)], colour=FAINT, thick=1)
        if topic in newest:
            x = axis(newest[topic])
            drawing.line([(LEFT, y), (x, y)], colour=(BLUE, ORANGE)[place], thick=3, arrow=True)
    if clock is not None:
        x = axis(clock)
        drawing.line([(x, 2), (x, bottom)], colour=RED, thick=2, dashed=True)
        drawing.text(x, bottom + 14, f"clock {moment(clock)}", anchor="middle", size=11, bold=True)


def _heartbeats(
    drawing: Drawing, axis: _Axis, topics: Sequence[str], seen: Sequence[Moment]
) -> None:
    for topic, ssid, time, *_ in seen:
        if ssid is None:
            y, said = 12 + 16 * list(topics).index(topic), f"{topic}: heartbeat {moment(time)}"
            drawing.dot(axis(time), y, radius=5, hollow=True, title=said)


def _line(
    drawing: Drawing, axis: _Axis, y: float, visit: _Visit, topics: Sequence[str], now: Moment
) -> None:
    drawing.text(LEFT - 8, y + 4, cut(visit.name, LEFT - 14), anchor="end", bold=True)
    drawing.line([(LEFT, y), (RIGHT, y)], colour=FAINT, thick=0.5)
    if visit.due is not None:
        begin, end = axis(max(time for _, time in visit.messages)), axis(visit.due)
        colour = INK if visit.open else GREEN
        drawing.line([(begin, y), (end, y)], colour=colour, thick=1.5, dashed=True)
        drawing.line([(end, y - 7), (end, y + 7)], colour=colour, thick=1.5)
    for topic, time in visit.messages:
        x, said = axis(time), f"{topic} {moment(time)}"
        if topic == topics[0]:
            drawing.dot(x, y, radius=5, colour=BLUE, title=said)
        else:
            drawing.box(x - 5, y - 5, 10, 10, fill=ORANGE, edge=ORANGE, title=said)
    if now[1] == visit.name:
        drawing.dot(axis(now[2]), y, radius=9, hollow=True)
    drawing.text(RIGHT + 14, y + 4, _state(visit), colour=GREEN if visit.parts else INK)


def _state(visit: _Visit) -> str:
    times = {0: "", 1: "✓ emitted", 2: "✓ emitted twice"}.get(
        visit.parts, f"✓ emitted {visit.parts} times"
    )
    still = "open" if visit.open else ""
    return ", ".join(filter(None, [times, still]))


def _foot(drawing: Drawing, axis: _Axis, topics: Sequence[str]) -> None:
    y = drawing.height - 6
    drawing.text(LEFT, y, moment(axis.start), size=11)
    drawing.text(RIGHT, y, moment(axis.end), anchor="end", size=11)
    drawing.dot(RIGHT + 20, y - 4, radius=4, colour=BLUE)
    drawing.text(RIGHT + 28, y, cut(topics[0], 62, 11), size=11)
    drawing.box(RIGHT + 92, y - 8, 8, 8, fill=ORANGE, edge=ORANGE)
    drawing.text(RIGHT + 104, y, cut(topics[1], 54, 11), size=11)


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
    stands = [f"{t} stands at {moment(newest[t])}" for t in topics if t in newest]
    silent = [f"{t} has given nothing" for t in topics if t not in newest]
    said = [f"After {number(len(seen), 'message')}: {', '.join([*stands, *silent])}"]
    said.append("there's no clock yet" if clock is None else f"the clock is {moment(clock)}")
    opened = [visit.name for visit in visits if visit.open]
    emitted = list(dict.fromkeys(name for *_, names in seen for name in names))
    before = " (in this order)" if 1 < len(emitted) <= FEW else ""
    said += [f"{_named(opened)} open", f"{_named(emitted)} emitted{before}"]
    text = "; ".join(said) + "."
    if len(visits) > len(shown):
        text += f" Of {len(visits):,} visits the {LINES} that changed last are drawn."
    return text


def _named(names: Sequence[str]) -> str:
    if len(names) > FEW:
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
                "open": ", ".join(list(dues)[:LINES]) or "–",
                "emitted": ", ".join(emitted) or "–",
            }
        )
    return rows

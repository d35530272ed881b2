"""Two topics by event time: what was read, what waits, and how far each may be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbook.views.drawing import BLUE, FAINT, GREEN, GREY, INK, ORANGE, Drawing
from workbook.views.picture import Picture, number
from workbook.views.words import cut

CAPTION = (
    "Each topic's records by their time. Full: read. Hollow: unread. The hatched bar begins at "
    "the other topic's top and is as long as maxLead: who stands beyond its end waits."
)
WIDTH, LEFT, RIGHT = 820, 96, 660
HEAD, LANE, FOOT = 14, 62, 30

Times = Mapping[str, Sequence[int]]
"""Topic to the times of its records (s), in the order of their offsets."""


def leads(there: Times, read: Mapping[str, int], max_lead: int, caption: str = CAPTION) -> Picture:
    """Draw two topics, of which so many records are ``read``; ``max_lead`` is in seconds."""
    topics = list(there)
    tops = {t: max(there[t][: read[t]], default=None) for t in topics}
    axis = _Axis(there, max_lead)
    drawing = Drawing(WIDTH, HEAD + LANE * len(topics) + FOOT)
    for place, topic in enumerate(topics):
        other = tops[topics[1 - place]]
        middle = HEAD + LANE * place + LANE / 2
        _allowed(drawing, axis, middle, other, max_lead)
        _records(drawing, axis, middle, place, topic, there[topic], read[topic])
        state = _state(tops[topic], other, max_lead, len(there[topic]) - read[topic])
        drawing.text(RIGHT + 14, middle + 4, state, colour=INK if "waits" in state else GREEN)
    _foot(drawing, axis)
    return Picture(drawing, caption, _words(there, read, tops, max_lead), _rows(there, read))


class _Axis:
    """Seconds from left to right."""

    def __init__(self, there: Times, max_lead: int) -> None:
        times = [time for some in there.values() for time in some] or [0]
        self.start, self.end = min(times), max(times) + max_lead

    def __call__(self, second: int) -> float:
        return LEFT + (RIGHT - LEFT) * (second - self.start) / max(self.end - self.start, 1)


def _allowed(
    drawing: Drawing, axis: _Axis, middle: float, other: int | None, max_lead: int
) -> None:
    if other is not None:
        x, end = axis(other), axis(other + max_lead)
        drawing.box(x, middle - 16, end - x, 32, edge=GREY, hatched=True)


def _records(
    drawing: Drawing, axis: _Axis, middle: float, place: int, topic: str,
    times: Sequence[int], read: int,
) -> None:  # fmt: skip
    drawing.text(LEFT - 12, middle + 4, cut(topic, LEFT - 16, 12), anchor="end", bold=True)
    drawing.line([(LEFT, middle), (RIGHT, middle)], colour=FAINT, thick=1)
    colour = (BLUE, ORANGE)[place]
    for offset, time in enumerate(times):
        done = offset < read
        said = f"{topic}, offset {offset}, second {time}: {'read' if done else 'waiting'}"
        drawing.dot(axis(time), middle, radius=6, colour=colour, hollow=not done, title=said)


def _state(own: int | None, other: int | None, max_lead: int, left: int) -> str:
    rest = f"{left:,} unread" if left else "all read"
    if own is not None and (other is None or own - other > max_lead):
        return f"waits, {rest}"
    return f"may go on, {rest}"


def _foot(drawing: Drawing, axis: _Axis) -> None:
    y = drawing.height - 8
    step = max((axis.end - axis.start) // 80 * 10, 10)
    for second in range(axis.start, axis.end + 1, step):
        words = f"second {second:,}" if second == axis.start else f"{second:,}"
        drawing.line([(axis(second), y - 22), (axis(second), y - 17)], colour=GREY, thick=1)
        drawing.text(axis(second), y - 4, words, anchor="middle", size=11)


def _words(
    there: Times, read: Mapping[str, int], tops: Mapping[str, int | None], max_lead: int
) -> str:
    one, other = there
    said = []
    for topic, rival in ((one, other), (other, one)):
        own, its = tops[topic], tops[rival]
        at = "has no top yet" if own is None else f"stands at second {own:,}"
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

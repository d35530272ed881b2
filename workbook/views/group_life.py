"""Consumer groups over time: who had members, when they committed, and how they ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from workbook.streams.events.group_health import ACTIVE, EMPTY, IDLE, LEFT, UNKNOWN
from workbook.views.drawing import BLUE, GREY, INK, ORANGE, PAPER, RED, Drawing, wide
from workbook.views.picture import Picture, cut, number
from workbook.views.time_axis import TimeAxis

CAPTION = (
    "Groups over time. Full: a member that commits. Hatched: one that's idle. Dashed: no member. "
    "Ticks: commits. A bar begins with the newest record that the query found at its start."
)
SHOWN_S = 240.0
"""The newest seconds are drawn."""

PAUSE_S = 60.0
"""So long without anything new, and the axis is cut."""

WIDTH, EDGE, RIGHT = 900, 110, 780
HEAD, LANE, BAR, FOOT = 12, 58, 22, 56


class Look(NamedTuple):
    """What is known of a group from ``at`` on: its number of members, and its latest commits.

    ``members`` is None where no record describes it. Times are in seconds.
    """

    at: float
    group: str
    members: int | None
    commits: Sequence[float]


Mark = tuple[float, str, str]
"""When something was done to a group, and what: "kill -9"."""


@dataclass(frozen=True)
class Phase:
    """A time in which a group's state was the same."""

    begin: float
    end: float
    state: str


def group_life(
    looks: Sequence[Look],
    marks: Sequence[Mark],
    now: float,
    quiet: float,
    caption: str = CAPTION,
) -> Picture:
    """Draw groups from ``looks``, in the order of their time; idle: no commit for ``quiet`` s."""
    groups = list(dict.fromkeys(look.group for look in looks))
    lives = {name: phases(looks, name, now, quiet) for name in groups}
    zero = min((look.at for look in looks), default=now)
    since = max(zero, now - SHOWN_S)
    moments = [*(t for t in _moments(looks, marks, lives) if since <= t <= now), since, now]
    axis = TimeAxis(moments, EDGE, RIGHT, longest=PAUSE_S, zero=zero)
    drawing = Drawing(WIDTH, HEAD + LANE * max(len(groups), 1) + FOOT)
    for place, name in enumerate(groups):
        lane = _Lane(drawing, axis.at, HEAD + LANE * place, since)
        lane.name(name)
        lane.phases(lives[name])
        lane.commits(_commits(looks, name))
        lane.marks([(at, words) for at, group, words in marks if group == name])
    axis.draw(drawing, drawing.height - FOOT + 8)
    _legend(drawing)
    said = "; ".join(_said(name, lives[name], marks, zero) for name in groups)
    rows = [_row(name, lives[name], looks, marks, zero) for name in groups]
    return Picture(drawing, caption, f"{said or 'No group yet'}.", rows)


def phases(looks: Sequence[Look], group: str, now: float, quiet: float) -> list[Phase]:
    """Return the states that a group went through, up to ``now``."""
    its = [look for look in looks if look.group == group and look.at <= now]
    found: list[Phase] = []
    for look, until in zip(its, [*(each.at for each in its[1:]), now], strict=True):
        for phase in _between(look, max(until, look.at), quiet):
            if found and found[-1].state == phase.state:
                found[-1] = Phase(found[-1].begin, phase.end, phase.state)
            else:
                found.append(phase)
    return found


def _between(look: Look, until: float, quiet: float) -> Iterator[Phase]:
    """Yield what follows from a look until the next one: with time alone, active becomes idle."""
    if not look.members:
        state = EMPTY if look.members == 0 else UNKNOWN if look.commits else LEFT
        yield Phase(look.at, until, state)
        return
    idle_at = max(look.commits, default=look.at) + quiet
    if idle_at > look.at:
        yield Phase(look.at, min(idle_at, until), ACTIVE)
    if idle_at < until or idle_at <= look.at:
        yield Phase(max(idle_at, look.at), until, IDLE)


def _commits(looks: Sequence[Look], group: str) -> list[float]:
    return sorted({at for look in looks if look.group == group for at in look.commits})


def _moments(
    looks: Sequence[Look], marks: Sequence[Mark], lives: dict[str, list[Phase]]
) -> Iterator[float]:
    yield from (look.at for look in looks)
    yield from (at for at, *_ in marks)
    yield from (phase.begin for life in lives.values() for phase in life)


class _Lane:
    """A group's row of the sheet; ``since`` is where it begins."""

    def __init__(
        self, drawing: Drawing, x: Callable[[float], float], top: float, since: float
    ) -> None:
        self._drawing, self._x, self._since = drawing, x, since
        self._top, self._bar = top, top + 20

    def name(self, group: str) -> None:
        words = cut(group, EDGE - 14, 12)
        self._drawing.text(EDGE - 10, self._bar + 15, words, anchor="end", bold=True)

    def phases(self, life: Sequence[Phase]) -> None:
        """Draw a bar per phase, and the state now at the right."""
        for phase in life:
            if phase.end >= self._since and phase.state not in (UNKNOWN, LEFT):
                self._phase(phase)
        if life:
            self._drawing.text(RIGHT + 12, self._bar + 15, life[-1].state, bold=True)

    def _phase(self, phase: Phase) -> None:
        x = self._x(max(phase.begin, self._since))
        width = max(self._x(phase.end) - x, 1)
        idle, empty = phase.state == IDLE, phase.state == EMPTY
        self._drawing.box(
            x, self._bar, width, BAR, fill="none" if idle or empty else BLUE,
            edge=ORANGE if idle else GREY if empty else BLUE, dashed=empty, hatched=idle,
            title=phase.state,
        )  # fmt: skip
        room = wide(phase.state, 11) + 8
        if width > room + 6:
            middle = x + width / 2
            self._drawing.box(
                middle - room / 2, self._bar + 4, room, BAR - 8, fill=PAPER, edge="none"
            )
            self._drawing.text(middle, self._bar + 15, phase.state, anchor="middle", size=11)

    def commits(self, times: Sequence[float]) -> None:
        """Draw a tick below the bar for each commit."""
        y = self._bar + BAR + 2
        for x in {round(self._x(at)) for at in times if at >= self._since}:
            self._drawing.line([(x, y), (x, y + 7)], thick=1.5)

    def marks(self, marks: Sequence[tuple[float, str]]) -> None:
        """Draw what was done to it: a cross with words above the bar."""
        for at, words in marks:
            if at < self._since:
                continue
            x = self._x(at)
            fits = x + 12 + wide(words, 11) < WIDTH
            self._drawing.line([(x, self._bar - 4), (x, self._bar + BAR)], colour=RED, thick=2)
            self._drawing.cross(x, self._bar - 8, title=words)
            self._drawing.text(
                x + 8 if fits else x - 8, self._bar - 4, words, size=11,
                anchor="start" if fits else "end",
            )  # fmt: skip


def _legend(drawing: Drawing) -> None:
    x, y = float(EDGE), drawing.height - 18
    for words, fill, edge, hatched, dashed in (
        ("members, and commits", BLUE, BLUE, False, False),
        ("members, idle", "none", ORANGE, True, False),
        ("no members", "none", GREY, False, True),
    ):
        drawing.box(x, y, 22, 12, fill=fill, edge=edge, hatched=hatched, dashed=dashed)
        drawing.text(x + 28, y + 10, words, size=11)
        x += wide(words, 11) + 50
    drawing.line([(x, y + 2), (x, y + 10)], colour=INK)
    drawing.text(x + 8, y + 10, "a commit", size=11)


def _said(name: str, life: Sequence[Phase], marks: Sequence[Mark], zero: float) -> str:
    done = [f"{words} in second {at - zero:,.0f}, " for at, group, words in marks if group == name]
    since = f" since second {life[-1].begin - zero:,.0f}" if life else ""
    return f"{name}: {''.join(done)}{life[-1].state if life else UNKNOWN}{since}"


def _row(
    name: str, life: Sequence[Phase], looks: Sequence[Look], marks: Sequence[Mark], zero: float
) -> dict[str, Any]:
    last = [look for look in looks if look.group == name][-1]
    commits = _commits(looks, name)
    return {
        "group": name,
        "state": life[-1].state if life else UNKNOWN,
        "members": "–" if last.members is None else last.members,
        "its life": ", ".join(
            f"{p.state} {p.begin - zero:,.0f} to {p.end - zero:,.0f} s" for p in life
        ),
        "commits seen": number(len(commits), "commit"),
        "done to it": ", ".join(f"{w} at {at - zero:,.0f} s" for at, g, w in marks if g == name)
        or "–",
    }

"""Consumer groups over time: who had members, when they committed, and how they ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbook.streams.events.group_health import ACTIVE, EMPTY, IDLE, LEFT, UNKNOWN
from workbook.views.drawing import BLUE, GREY, ORANGE, PAPER, RED, Drawing, wide
from workbook.views.picture import Picture, cut, number
from workbook.views.time_axis import TimeAxis

CAPTION = (
    "Groups over time. Full: a member that commits. Hatched: one that's idle. Dashed: no member. "
    "Ticks: commits. A bar begins with the newest record that the query found at its start."
)
SHOWN_S, PAUSE_S = 240.0, 60.0
"""The newest seconds are drawn; where nothing is new for so long, the axis is cut."""

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


class Phase(NamedTuple):
    """A time in which a group's state was the same."""

    begin: float
    end: float
    state: str


def group_life(
    looks: Sequence[Look],
    marks: Sequence[Mark],
    now: float,
    quiet: float,
) -> Picture:
    """Draw groups from ``looks``, in the order of their time; idle: no commit for ``quiet`` s."""
    groups = list(dict.fromkeys(look.group for look in looks))
    lives = {name: phases(looks, name, now, quiet) for name in groups}
    zero = min((look.at for look in looks), default=now)
    since = max(zero, now - SHOWN_S)
    moments = [*(look.at for look in looks), *(at for at, *_ in marks)]
    moments += [phase.begin for life in lives.values() for phase in life]
    drawn = [*(at for at in moments if since <= at <= now), since, now]
    axis = TimeAxis(drawn, EDGE, RIGHT, longest=PAUSE_S, zero=zero)
    drawing = Drawing(WIDTH, HEAD + LANE * max(len(groups), 1) + FOOT)
    said, rows = [], []
    for place, name in enumerate(groups):
        lane = _Lane(drawing, axis, HEAD + LANE * place + 20, since)
        commits = sorted({at for look in looks if look.group == name for at in look.commits})
        done = [(at, words) for at, group, words in marks if group == name]
        lane.draw(name, lives[name], commits, done)
        members = [look.members for look in looks if look.group == name][-1]
        said.append(_said(name, lives[name], done, zero))
        rows.append(_row(name, lives[name], members, commits, done, zero))
    axis.draw(drawing, drawing.height - FOOT + 8)
    _legend(drawing)
    return Picture(drawing, CAPTION, f"{'; '.join(said) or 'No group yet'}.", rows)


def phases(looks: Sequence[Look], group: str, now: float, quiet: float) -> list[Phase]:
    """Return the states that a group went through, up to ``now``."""
    its = [look for look in looks if look.group == group and look.at <= now]
    found: list[Phase] = []
    for look, until in zip(its, [*(each.at for each in its[1:]), now], strict=True):
        for phase in _between(look, max(until, look.at), quiet):
            if found and found[-1].state == phase.state:
                phase = found.pop()._replace(end=phase.end)
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


class _Lane:
    """A group's row of the sheet; ``since`` is where it begins."""

    def __init__(self, drawing: Drawing, axis: TimeAxis, bar: float, since: float) -> None:
        self._drawing, self._axis, self._bar, self._since = drawing, axis, bar, since

    def draw(
        self, name: str, life: Sequence[Phase], commits: Sequence[float],
        done: Sequence[tuple[float, str]],
    ) -> None:  # fmt: skip
        """Draw a bar per phase, the state now at the right, a tick below for each commit."""
        base = self._bar + 15
        self._drawing.text(EDGE - 10, base, cut(name, EDGE - 14, 12), anchor="end", bold=True)
        for phase in life:
            if phase.end >= self._since and phase.state not in (UNKNOWN, LEFT):
                self._phase(phase)
        if life:
            self._drawing.text(RIGHT + 12, base, life[-1].state, bold=True)
        y = self._bar + BAR + 2
        for x in {round(self._axis.at(at)) for at in commits if at >= self._since}:
            self._drawing.line([(x, y), (x, y + 7)])
        for at, words in done:
            if at >= self._since:
                self._mark(self._axis.at(at), words)

    def _phase(self, phase: Phase) -> None:
        x = self._axis.at(max(phase.begin, self._since))
        width = max(self._axis.at(phase.end) - x, 1)
        _bar(self._drawing, x, self._bar, width, BAR, phase.state)
        room = wide(phase.state, 11) + 8
        if width > room + 6:
            middle = x + width / 2
            self._drawing.box(
                middle - room / 2, self._bar + 4, room, BAR - 8, fill=PAPER, edge="none"
            )
            self._drawing.text(middle, self._bar + 15, phase.state, anchor="middle", size=11)

    def _mark(self, x: float, words: str) -> None:
        """Draw what was done to it: a cross with words above the bar."""
        self._drawing.line([(x, self._bar - 4), (x, self._bar + BAR)], colour=RED, thick=2)
        self._drawing.cross(x, self._bar - 8)
        fits = x + 12 + wide(words, 11) < WIDTH
        at, anchor = (x + 8, "start") if fits else (x - 8, "end")
        self._drawing.text(at, self._bar - 4, words, size=11, anchor=anchor)


def _bar(drawing: Drawing, x: float, y: float, width: float, height: float, state: str) -> None:
    edge = {IDLE: ORANGE, EMPTY: GREY}.get(state, BLUE)
    drawing.box(
        x, y, width, height, fill=BLUE if edge == BLUE else "none", edge=edge, title=state,
        dashed=state == EMPTY, hatched=state == IDLE,
    )  # fmt: skip


def _legend(drawing: Drawing) -> None:
    x, y = float(EDGE), drawing.height - 18
    known = {ACTIVE: "members, and commits", IDLE: "members, idle", EMPTY: "no members"}
    for state, words in known.items():
        _bar(drawing, x, y, 22, 12, state)
        drawing.text(x + 28, y + 10, words, size=11)
        x += wide(words, 11) + 50
    drawing.line([(x, y + 2), (x, y + 10)])
    drawing.text(x + 8, y + 10, "a commit", size=11)


def _said(name: str, life: Sequence[Phase], done: Sequence[tuple[float, str]], zero: float) -> str:
    acts = "".join(f"{words} in second {at - zero:,.0f}, " for at, words in done)
    if not life:
        return f"{name}: {acts}{UNKNOWN}"
    return f"{name}: {acts}{life[-1].state} since second {life[-1].begin - zero:,.0f}"


def _row(
    name: str, life: Sequence[Phase], members: int | None, commits: Sequence[float],
    done: Sequence[tuple[float, str]], zero: float,
) -> dict[str, Any]:  # fmt: skip
    lived = [f"{p.state} {p.begin - zero:,.0f} to {p.end - zero:,.0f} s" for p in life]
    return {
        "group": name,
        "state": life[-1].state if life else UNKNOWN,
        "members": "–" if members is None else members,
        "its life": ", ".join(lived),
        "commits seen": number(len(commits), "commit"),
        "done to it": ", ".join(f"{words} at {at - zero:,.0f} s" for at, words in done) or "–",
    }

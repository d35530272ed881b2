"""Consumer groups over time: who had members, when they committed, and how they ended."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from workbook.streams.events.group_health import ACTIVE, EMPTY, IDLE, LEFT, UNKNOWN
from workbook.views.colours import BLUE, GREY, INK_ON_PAPER, ORANGE, RED
from workbook.views.picture import Picture, number
from workbook.views.plane import Plane

CAPTION = (
    "Groups over time. Full: a member that commits. Hatched: one that's idle. Dashed: no member. "
    "Ticks: commits. A bar begins with the newest record that the query found at its start."
)
SHOWN_S = 240.0
"""The newest seconds are drawn."""

BARS: dict[str, dict[str, Any]] = {
    ACTIVE: {"facecolor": BLUE, "edgecolor": BLUE, "label": "members, and commits"},
    IDLE: {"facecolor": "none", "edgecolor": ORANGE, "hatch": "////", "label": "members, idle"},
    EMPTY: {"facecolor": "none", "edgecolor": GREY, "linestyle": "--", "label": "no members"},
}


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


def group_life(looks: Sequence[Look], marks: Sequence[Mark], now: float, quiet: float) -> Picture:
    """Draw groups from ``looks``, in the order of their time; idle: no commit for ``quiet`` s."""
    groups = list(dict.fromkeys(look.group for look in looks))
    now = max([now, *(look.at for look in looks)])  # the broker's clock may be ahead
    zero = min((look.at for look in looks), default=now)
    since = max(0, now - SHOWN_S - zero)
    plane = Plane("seconds", "", width=900, height=120 + 60 * len(groups), right=0.12)
    plane.lanes(groups)
    rows = []
    for lane, name in enumerate(groups):
        life = [
            Phase(begin - zero, end - zero, state)
            for begin, end, state in phases(looks, name, now, quiet)
        ]
        commits = {at - zero for look in looks if look.group == name for at in look.commits}
        done = [(at - zero, words) for at, group, words in marks if group == name]
        members = [look.members for look in looks if look.group == name][-1]
        _draw(plane, lane, life, sorted(commits), [act for act in done if act[0] >= since])
        rows.append({
            "group": name,
            "state": life[-1].state if life else UNKNOWN,
            "members": "–" if members is None else members,
            "its life": ", ".join(f"{p.state} {p.begin:,.0f} to {p.end:,.0f} s" for p in life),
            "commits seen": number(len(commits), "commit"),
            "done to it": ", ".join(f"{words} at {at:,.0f} s" for at, words in done) or "–",
        })  # fmt: skip
    plane.axes.set_xlim(since, max(now - zero, since + 1))
    plane.counts(x=True)
    plane.legend()
    said = (f"{row['group']}: {row['state']} (done to it: {row['done to it']})" for row in rows)
    return Picture(plane, CAPTION, f"{'; '.join(said)}." if rows else "", rows)


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


def _draw(
    plane: Plane, lane: int, life: Sequence[Phase], commits: Sequence[float],
    done: Sequence[tuple[float, str]],
) -> None:  # fmt: skip
    """Draw a bar per phase, a tick below for each commit, above it what was done to the group."""
    axes = plane.axes
    for phase in life:
        if phase.state in BARS:
            width = phase.end - phase.begin
            axes.barh(lane, width, 0.4, left=phase.begin, **BARS[phase.state])
    if life:
        plane.beside(lane, life[-1].state)
    plane.marks(lane + 0.32, commits, "|", color=INK_ON_PAPER, ms=7, label="a commit")
    for at, words in done:
        axes.vlines(at, lane - 0.28, lane + 0.2, color=RED, lw=2)
        axes.plot(at, lane - 0.34, "x", color=RED)
        axes.annotate(words, (at, lane - 0.34), (6, -3), textcoords="offset points")

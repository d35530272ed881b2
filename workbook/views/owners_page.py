"""What an ad's owner sees: its traffic by day and type, its viewers, and where they came from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import starmap
from typing import Any

import numpy as np

from workbook.streams.events.ad_actions import ActionType
from workbook.streams.events.viewers import UNKNOWN
from workbook.views.colours import BLUE, GREEN, GREY, ORANGE, RED
from workbook.views.picture import Picture, number
from workbook.views.plane import Plane
from workbook.views.tables import HIDDEN, bars, table

CAPTION = "How is my ad doing? Each step is a day in Oslo; look for days that differ from the rest."
LOOKS = {
    ActionType.VIEW: (BLUE, ""),
    ActionType.READ: (BLUE, "///"),
    ActionType.CLICK: (ORANGE, "\\\\\\"),
    ActionType.MESSAGE: (GREEN, "|||"),
    ActionType.FAVOURITE: (RED, "---"),
    ActionType.EMAIL: (GREY, "xxx"),
}
"""The colour of each type, and the hatching that tells it from the others without its colour."""

NAMES = {ActionType.EMAIL: "notified by e-mail"}
"""What isn't called by its type: views come from e-mails, too."""

LEAST = 10
"""The viewers of a group, at least, whose number is shown."""

Groups = Mapping[str, int | None]
"""The viewers by the value of a trait; None: hidden."""

LISTED = 31
"""The rows of the table, at most: the newest days."""


@dataclass(frozen=True)
class Traffic:
    """What the page shows of an ad.

    ``counts`` are the actions by day and type, ``viewers`` the unique viewers of each day, and
    ``unique`` those of all these days together. ``sources`` are the views by traffic source, and
    ``groups`` the viewers by trait and value; None hides a number.
    """

    ad: str
    counts: Mapping[date, Mapping[str, int]] = field(default_factory=dict)
    viewers: Mapping[date, int] = field(default_factory=dict)
    unique: int = 0
    sources: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, Groups] = field(default_factory=dict)

    def total(self, kind: str) -> int:
        """Return the number of actions of a type on all days."""
        return sum(of.get(kind, 0) for of in self.counts.values())

    @property
    def days(self) -> list[date]:
        """Return every day from the first action to the last one."""
        if not self.counts:
            return []
        first, last = min(self.counts), max(self.counts)
        return [first + timedelta(n) for n in range((last - first).days + 1)]


def owners_page(traffic: Traffic) -> Picture:
    """Draw the page of an ad: days as stacked steps, the totals above, the sources below."""
    days = traffic.days
    plane = Plane("", "actions", height=330)
    edges = np.array([*days, *(day + timedelta(1) for day in days[-1:])], "datetime64[D]")
    begin = np.zeros(len(edges))
    for kind, (colour, hatch) in LOOKS.items():
        counts = [traffic.counts.get(day, {}).get(kind, 0) for day in [*days, *days[-1:]]]
        plane.axes.fill_between(  # one shape for all days: a bar for each takes ten times as long
            edges, begin, begin + counts, step="post", label=NAMES.get(kind, kind.value),
            facecolor=colour if not hatch else "none", edgecolor=colour, hatch=hatch, lw=0.5,
        )  # fmt: skip
        begin = begin + counts
    plane.axes.set_ylim(0)
    plane.counts(y=True)
    if days:
        plane.times(x=True)
    plane.legend()
    below = bars(traffic.sources, "Views by where the viewer came from")
    for trait, groups in traffic.groups.items():
        below += bars(groups, f"Viewers by {trait.replace('_', ' ')}")
    return Picture(plane, CAPTION, _words(traffic), _rows(traffic), _totals(traffic), below)


def _totals(traffic: Traffic) -> str:
    """Return the large numbers above the bars."""
    row = {
        "views": traffic.total(ActionType.VIEW),
        "unique viewers": traffic.unique,
        NAMES[ActionType.EMAIL]: traffic.total(ActionType.EMAIL),
        "favourites": traffic.total(ActionType.FAVOURITE),
        "messages": traffic.total(ActionType.MESSAGE),
    }
    return table([row], f"The ad {traffic.ad}")


def _words(traffic: Traffic) -> str:
    if not traffic.counts:
        return f"The ad {traffic.ad} has no actions yet."
    days, views = traffic.days, traffic.total(ActionType.VIEW)
    best = max(days, key=lambda day: sum(traffic.counts.get(day, {}).values()))
    traits = (
        f"Viewers by {trait.replace('_', ' ')}: {', '.join(starmap(_counted, of.items()))}."
        for trait, of in traffic.groups.items()
    )
    whole = (
        f"{number(views, 'view')} by {number(traffic.unique, 'viewer')} on "
        f"{number(len(days), 'day')}, from {days[0]} to {days[-1]}; most actions on {best}."
    )
    return " ".join([whole, *traits])


def _counted(group: str, viewers: int | None) -> str:
    return f"{group} {HIDDEN if viewers is None else f'{viewers:,}'}"


def _rows(traffic: Traffic) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "day": str(day),
            **{kind.value: traffic.counts.get(day, {}).get(kind, 0) for kind in LOOKS},
            "viewers": traffic.viewers.get(day, 0),
        }
        for day in traffic.days[-LISTED:]
    ]


def shown_groups(counts: Mapping[str, int], least: int = LEAST) -> dict[str, int | None]:
    """Return the groups with their numbers of viewers, and None for those that are hidden.

    Hidden are all with fewer than ``least`` viewers. If these have fewer than ``least`` together,
    a reader who knows the sum could compute that number, so the next smallest group is hidden, too:
    UNKNOWN only if it's the only one, because its number is also shown under other traits.
    Statistical offices call that primary and secondary suppression (Willenborg and de Waal,
    "Elements of statistical disclosure control", 2001).
    """
    small = {name for name, count in counts.items() if count < least}
    if small and sum(counts[name] for name in small) < least:
        others = sorted(
            counts.keys() - small, key=lambda name: (name == UNKNOWN, counts[name], name)
        )
        small.update(others[:1])
    return {name: None if name in small else count for name, count in counts.items()}

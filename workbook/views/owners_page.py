"""What an ad's owner sees: its traffic by day and type, its viewers, and where they came from.

The page is asked from PostgreSQL alone, again and again.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import psycopg
from psycopg import IsolationLevel, sql

from workbook.sinks.postgres import Limited
from workbook.sinks.viewers import estimate, groups_of, merged, sketches_by_day
from workbook.streams.events.ad_actions import ActionType
from workbook.streams.events.viewers import UNKNOWN
from workbook.views.colours import BLUE, GREEN, GREY, ORANGE, RED
from workbook.views.picture import Picture, moment, number
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

Shown = Callable[[dict[str, int], int], Groups]
"""Hides numbers: from the viewers by group, and the least that are shown, to what is shown."""

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
    words = (
        f"{number(views, 'view')} by {number(traffic.unique, 'viewer')} on "
        f"{number(len(days), 'day')}, from {days[0]} to {days[-1]}."
    )
    words += f" The table has the newest {LISTED} days." * (len(days) > LISTED)
    for trait, groups in traffic.groups.items():
        each = (f"{name} {HIDDEN if n is None else f'{n:,}'}" for name, n in groups.items())
        words += f" Viewers by {trait.replace('_', ' ')}: {', '.join(each)}."
    return words


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


# --- from the tables --------------------------------------------------------------------------

DAYS = 92
"""The newest days of an ad that its page shows: an ad lives for three months."""

WAIT_S = 2
"""Seconds that a look waits for a database that doesn't answer."""


class OwnersPage:
    """Draws the page of an ad, each time it's called; hand it to ``Live``.

    ``url`` and ``schema`` say where ``run ad_statistics`` counts. While the tables are missing the
    page is empty; while the database is away it shows the last numbers, and says how old they are.
    Of the viewers of each trait, by value, it shows what ``shown`` returns.
    """

    def __init__(self, url: str, schema: str, ad: str, shown: Shown = shown_groups) -> None:
        self.ad, self._shown = ad, shown
        self._url, self._schema = url, schema
        self._open: Limited | None = None
        self._last, self._asked = Traffic(ad), 0.0
        self._page = owners_page(self._last)

    def __call__(self) -> Picture:
        """Ask for the numbers, and draw them if they have changed."""
        try:
            traffic, self._asked = self._look(), time.time()
        except psycopg.errors.UndefinedTable:
            return self._noted("The tables don't exist yet: start `run ad_statistics`.")
        except psycopg.OperationalError:
            self._open = None
            at = moment(round(self._asked) * 1000) + " UTC" if self._asked else "nowhere yet"
            return self._noted(f"PostgreSQL doesn't answer: these numbers are from {at}.")
        if traffic != self._last:
            self._last, self._page = traffic, owners_page(traffic)
        return self._page

    def _noted(self, words: str) -> Picture:
        return replace(self._page, words=f"{words} {self._page.words}")

    def _look(self) -> Traffic:
        connection = self._open
        if connection is None or connection.closed:
            connection = self._open = Limited.connect(self._url, connect_timeout=WAIT_S)
            connection.limit = WAIT_S
            connection.isolation_level = IsolationLevel.REPEATABLE_READ  # one moment for all parts
            connection.read_only = True
        with connection.transaction():
            name = sql.Identifier(self._schema)
            connection.execute(sql.SQL("SET LOCAL search_path = {}").format(name))
            connection.execute(f"SET LOCAL statement_timeout = '{WAIT_S}s'")
            return traffic_of(connection, self.ad, self._shown)


def traffic_of(
    connection: psycopg.Connection[Any], ad: str, shown: Shown = shown_groups
) -> Traffic:
    """Return what the database knows of the newest ``DAYS`` of an ad, the groups as ``shown``."""
    counts: dict[date, dict[str, int]] = {}
    sources: dict[str, int] = {}
    rows = connection.execute(
        "SELECT day, type, source, count FROM counts WHERE ad = %s AND day > "
        "(SELECT least(max(day), current_date + 1) FROM counts WHERE ad = %s) - %s",
        (ad, ad, DAYS),
    )
    for day, kind, source, count in rows:
        of = counts.setdefault(day, {})
        of[kind] = of.get(kind, 0) + count
        if kind == ActionType.VIEW:
            sources[source] = sources.get(source, 0) + count
    first = min(counts, default=date.max - timedelta(1))
    sketches = sketches_by_day(connection, ad, first)
    viewers = {day: estimate(sketch) for day, sketch in sketches.items()}
    unique = estimate(merged(sketches.values()))
    groups = {trait: shown(of, LEAST) for trait, of in groups_of(connection, ad, first).items()}
    return Traffic(ad, counts, viewers, unique, sources, groups)

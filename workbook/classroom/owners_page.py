"""The owner's page of an ad, asked from PostgreSQL alone, again and again."""

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import psycopg
from psycopg import IsolationLevel, sql

from workbook.sinks.postgres import Limited
from workbook.sinks.viewers import estimate, groups_of, merged, sketches_by_day
from workbook.streams.events.ad_actions import ActionType
from workbook.views.owners_page import LEAST, Groups, Traffic, owners_page, shown_groups
from workbook.views.picture import Picture, moment

DAYS = 92
"""The newest days of an ad that its page shows: an ad lives for three months."""

Shown = Callable[[dict[str, int], int], Groups]
"""Hides numbers: from the viewers by group, and the least that are shown, to what is shown."""

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

"""The dashboard's model: each group with its lag, worst first, and what has left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from workbook.events import group_health
from workbook.events.group_health import EMPTY, IDLE, named
from workbook.kafka.lag import EndSamples, Lag
from workbook.kafka.samples import Samples

EVERY_S = 1.0
HISTORY_EVERY_S, HISTORY_MS, HISTORY_MOST = 5.0, 600_000, 150
"""Each group's lag is noted every five seconds and kept for ten minutes."""

LEFT_MS = 600_000
"""What has left is shown for ten minutes, and at most the last hundred of them."""

MOST_LEFT = 100

DELETED, LAST_MEMBER = "deleted", "lost its last member"

Row = Mapping[str, Any]
"""A row of active_groups: group, details, offsets, changed_at (ms), deleted."""


class Sampler(Protocol):
    """Keeps the end offsets of partitions up to date; see ``EndSampler``."""

    samples: EndSamples
    silent: bool

    def look(self, committed: Iterable[tuple[str, int]]) -> None: ...


@dataclass(frozen=True, slots=True)
class Gone:
    """A group that has left at ``at`` (ms), ``how``: deleted, or without its last member."""

    group: str
    how: str
    at: int
    client_ids: tuple[str, ...]
    lag: int | None


def from_json(details: Any) -> dict[str, Any] | None:
    """Return ClientDetails from compact JSON; a dictionary or None as it is."""
    return json.loads(details) if isinstance(details, str | bytes) else details


class Dashboard:
    """Combines the latest row per group with sampled end offsets.

    ``read`` returns the rows, as a store's ``all`` does; ``deserialise`` makes a dictionary of
    their details. ``look`` may be called as often as one likes: it waits for nobody. ``clock``
    gives seconds since 1970.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Row]],
        sampler: Sampler,
        deserialise: Callable[[Any], Mapping[str, Any] | None] = from_json,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._read, self._sampler, self._deserialise = read, sampler, deserialise
        self._clock, self._due, self._noted = clock, 0.0, 0.0
        self._groups: dict[str, Row] = {}
        self._committed: set[tuple[str, int]] = set()
        self._rows: list[dict[str, Any]] = []
        self._history: dict[str, Samples] = {}
        self._gone: dict[str, Gone] = {}

    def look(self) -> None:
        """Bring rows, history and what has left up to date, once a second."""
        self._sampler.look(self._committed)
        now = self._clock()
        if self._due - EVERY_S <= now < self._due:
            return
        self._due = now + EVERY_S
        at = int(now * 1000)
        found: dict[str, Row] = {
            row["group"]: self._opened(row) for row in self._read() if not row.get("deleted")
        }
        self._note_gone(found, at)
        self._groups = found
        self._committed = {
            (c["topic"], c["partition"]) for r in found.values() for c in r["offsets"]
        }
        self._rows = sorted((self._row(row, at) for row in found.values()), key=_worst_first)
        self._note_history(now)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per group, worst first.

        group, state, members (a number), client_ids, topics, lag (messages; None if unknown),
        seconds (behind), at_least (seconds are a lower bound), commit_age (s; None without
        commits), remarks (sentences).
        """
        return self._rows

    def partitions(self, group: str) -> list[dict[str, Any]]:
        """Return a group's partitions: topic, partition, committed, end, lag, seconds, at_least."""
        now = int(self._clock() * 1000)
        offsets = self._groups[group]["offsets"] if group in self._groups else ()
        return [self._partition(commit, now) for commit in offsets]

    def history(self) -> dict[str, list[tuple[int, int]]]:
        """Return each group's lag of the last ten minutes: (ms, messages)."""
        since = int(self._clock() * 1000) - HISTORY_MS
        return {group: samples.since(since) for group, samples in self._history.items()}

    def gone(self) -> list[dict[str, Any]]:
        """Return what has left in the last ten minutes, the latest first.

        group, how (deleted, or without its last member), at (ms), ago (s), client_ids and lag as
        they were.
        """
        now = self._clock()
        return [{**asdict(gone), "ago": max(now - gone.at / 1000, 0)} for gone in self._latest()]

    @property
    def silent(self) -> bool:
        """Return whether the broker doesn't answer, so that every lag is an old one."""
        return self._sampler.silent

    def __str__(self) -> str:
        states = [row["state"] for row in self._rows]
        counts = [f"{states.count(s):,} {s}" for s in group_health.STATES if s in states]
        parts = [f"{len(states):,} group{'' if len(states) == 1 else 's'}", *counts]
        if self._rows and self._rows[0]["lag"]:
            parts.append(f"most behind: {self._rows[0]['group']}, {self._rows[0]['lag']:,}")
        return ", ".join(parts) + (" (the broker doesn't answer)" if self.silent else "")

    # --- a row --------------------------------------------------------------------------------

    def _opened(self, row: Row) -> dict[str, Any]:
        return {**row, "details": self._deserialise(row["details"])}

    def _row(self, row: Row, now: int) -> dict[str, Any]:
        details, offsets = row["details"], row["offsets"]
        lags = [self._lag(commit, now) for commit in offsets]
        known = [lag for lag in lags if lag is not None]
        oldest = max(known, key=lambda lag: lag.seconds, default=None)
        state = group_health.state(details, offsets, now, row.get("changed_at"))
        messages = sum(lag.messages for lag in known) if known else None
        committed = group_health.last_commit(offsets)
        return {
            "group": row["group"],
            "state": state,
            "members": len(details["members"]) if details is not None else 0,
            "client_ids": group_health.client_ids(details),
            "topics": group_health.topics(details, offsets),
            "lag": messages,
            "seconds": None if oldest is None else oldest.seconds,
            "at_least": any(lag.at_least for lag in known),
            "commit_age": None if committed is None else max(now - committed, 0) / 1000,
            "remarks": [
                *_of_lag(state, messages),
                *group_health.findings(row["group"], details, offsets),
                *self._of_unknown_ends(offsets, lags),
            ],
        }

    def _lag(self, commit: Row, now: int) -> Lag | None:
        return self._sampler.samples.lag(
            commit["topic"], commit["partition"], commit["offset"], now
        )

    def _partition(self, commit: Row, now: int) -> dict[str, Any]:
        lag = self._lag(commit, now)
        return {
            "topic": commit["topic"],
            "partition": commit["partition"],
            "committed": commit["offset"],
            "end": self._sampler.samples.end(commit["topic"], commit["partition"]),
            "lag": None if lag is None else lag.messages,
            "seconds": None if lag is None else lag.seconds,
            "at_least": lag is not None and lag.at_least,
        }

    def _of_unknown_ends(self, offsets: Iterable[Row], lags: Iterable[Lag | None]) -> list[str]:
        topics = {c["topic"] for c, lag in zip(offsets, lags, strict=True) if lag is None}
        if not topics or not self._sampler.samples.ends:  # nothing was answered yet
            return []
        return [
            f"The end of {named(sorted(topics))} is unknown: deleted, or DESCRIBE on the topic is "
            "missing."
        ]

    # --- what was -----------------------------------------------------------------------------

    def _note_gone(self, found: Mapping[str, Row], now: int) -> None:
        lags = {row["group"]: row["lag"] for row in self._rows}
        for group, row in self._groups.items():
            how = _how_it_left(row, found.get(group))
            if how:
                ids = tuple(group_health.client_ids(row["details"]))
                before = self._gone.get(group)
                ids = ids or (before.client_ids if before else ())
                self._gone[group] = Gone(group, how, now, ids, lags.get(group))
        kept = [g for g in self._latest() if now - g.at < LEFT_MS and not _is_back(g, found)]
        self._gone = {gone.group: gone for gone in kept[:MOST_LEFT]}

    def _latest(self) -> list[Gone]:
        return sorted(self._gone.values(), key=lambda gone: -gone.at)

    def _note_history(self, now: float) -> None:
        if self._noted <= now < self._noted + HISTORY_EVERY_S:
            return
        self._noted = now
        self._history = {g: s for g, s in self._history.items() if g in self._groups}
        for row in self._rows:
            if row["lag"] is not None:
                samples = self._history.setdefault(row["group"], Samples(HISTORY_MS, HISTORY_MOST))
                samples.add(int(now * 1000), row["lag"])


def _worst_first(row: Row) -> tuple[float, int, str]:
    return -(row["seconds"] or 0.0), -(row["lag"] or 0), row["group"]


def _of_lag(state: str, messages: int | None) -> list[str]:
    """Return what the lag of a group says that doesn't commit."""
    if state == IDLE and messages:
        return [f"It has members and {messages:,} messages to read, but commits nothing: stuck?"]
    if state == EMPTY and messages:
        return ["Nobody reads it: its lag only grows."]
    return []


def _has_members(row: Row) -> bool:
    return row["details"] is not None and bool(row["details"]["members"])


def _how_it_left(before: Row, after: Row | None) -> str:
    if after is None:
        return DELETED
    return LAST_MEMBER if _has_members(before) and not _has_members(after) else ""


def _is_back(gone: Gone, found: Mapping[str, Row]) -> bool:
    row = found.get(gone.group)
    return row is not None and (gone.how == DELETED or _has_members(row))

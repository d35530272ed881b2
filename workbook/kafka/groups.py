"""The dashboard's model: each group with its lag, worst first, and what has left."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from workbook.kafka.lag import EndSamples
from workbook.kafka.offsets import Offsets
from workbook.kafka.samples import Samples
from workbook.streams.events import group_health
from workbook.streams.group_rows import Deserialise, GroupRows, Row, from_json

EVERY_S = 1.0
HISTORY_EVERY_S, HISTORY_MS, HISTORY_MOST = 5.0, 600_000, 150
"""Each group's lag is noted every five seconds and kept for ten minutes."""

LEFT_MS = 600_000
"""What has left is shown for ten minutes, and at most the last hundred of them."""

MOST_LEFT = 100

SETTLED_S = 7.0
"""The end waits for the broker so long at most: two answers of three seconds."""

DELETED, LAST_MEMBER = "deleted", "lost its last member"


class Sampler(Protocol):
    """Keeps the end offsets of partitions up to date; see ``EndSampler``."""

    samples: EndSamples
    silent: bool

    def take(self) -> bool: ...

    def ask(self, committed: Mapping[tuple[str, int], int]) -> None: ...

    def wait(self, seconds: float) -> bool: ...

    @property
    def unanswered(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Gone:
    """A group that has left at ``at`` (ms), ``how``: deleted, or without its last member."""

    group: str
    how: str
    at: int
    client_ids: tuple[str, ...]
    lag: int | None


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
        deserialise: Deserialise = from_json,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._read, self._sampler = read, sampler
        self._made = GroupRows(sampler.samples, deserialise)
        self._clock, self._due, self._noted = clock, 0.0, 0.0
        self._groups: dict[str, Row] = {}
        self._committed: Offsets = {}
        self._rows: list[dict[str, Any]] = []
        self._history: dict[str, Samples] = {}
        self._gone: dict[str, Gone] = {}

    def look(self) -> None:
        """Bring rows, history and what has left up to date, once a second.

        At once where the broker has answered about a partition for the first time.
        """
        answered, now = self._sampler.take(), self._clock()
        if answered or not self._due - EVERY_S <= now < self._due:
            self._bring_up_to_date(now)
        self._sampler.ask(self._committed)

    def settle(self, within: float = SETTLED_S) -> None:
        """Look once more, and wait until the broker has answered about every partition.

        At most ``within`` seconds: it may be away.
        """
        deadline = time.monotonic() + within
        self._sampler.wait(within)  # a question under way may be an older one
        self._due = 0.0
        self.look()
        while self._sampler.unanswered and self._sampler.wait(deadline - time.monotonic()):
            self.look()

    def _bring_up_to_date(self, now: float) -> None:
        self._due = now + EVERY_S
        at = int(now * 1000)
        found = {row["group"]: row for row in self._read() if not row.get("deleted")}
        for group in self._groups.keys() - found.keys():
            self._made.forget(group)
        if found != self._groups:
            self._groups, self._committed = found, _highest(found.values())
        rows = sorted((self._made.row(row, at) for row in found.values()), key=_worst_first)
        self._note_gone(rows, at)
        self._rows = rows
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

    def _partition(self, commit: Row, now: int) -> dict[str, Any]:
        lag = self._sampler.samples.lag([commit], now)
        return {
            "topic": commit["topic"],
            "partition": commit["partition"],
            "committed": commit["offset"],
            "end": self._sampler.samples.end(commit["topic"], commit["partition"]),
            "lag": None if lag is None else lag.messages,
            "seconds": None if lag is None else lag.seconds,
            "at_least": lag is not None and lag.at_least,
        }

    # --- what was -----------------------------------------------------------------------------

    def _note_gone(self, rows: Iterable[Row], now: int) -> None:
        found = {row["group"]: row for row in rows}
        for row in self._rows:
            how = _how_it_left(row, found.get(row["group"]))
            if how:
                before = self._gone.get(row["group"])
                ids = tuple(row["client_ids"]) or (before.client_ids if before else ())
                at = self._left_at(row["group"], now)
                self._gone[row["group"]] = Gone(row["group"], how, at, ids, row["lag"])
        kept = [g for g in self._latest() if now - g.at < LEFT_MS and not _is_back(g, found)]
        self._gone = {gone.group: gone for gone in kept[:MOST_LEFT]}

    def _left_at(self, group: str, now: int) -> int:
        """Return when a group's row last changed, where it's there and not ahead of us."""
        at = self._groups.get(group, {}).get("changed_at")
        return now if at is None else min(at, now)

    def _latest(self) -> list[Gone]:
        return sorted(self._gone.values(), key=lambda gone: (-gone.at, gone.group))

    def _note_history(self, now: float) -> None:
        if self._noted <= now < self._noted + HISTORY_EVERY_S:
            return
        self._noted = now
        self._history = {g: s for g, s in self._history.items() if g in self._groups}
        for row in self._rows:
            if row["lag"] is not None:
                samples = self._history.setdefault(row["group"], Samples(HISTORY_MS, HISTORY_MOST))
                samples.add(int(now * 1000), row["lag"])


def _highest(rows: Iterable[Row]) -> Offsets:
    """Return the highest offset that anybody has committed in each partition."""
    found: Offsets = {}
    for row in rows:
        for commit in row["offsets"]:
            place, offset = (commit["topic"], commit["partition"]), commit["offset"]
            if offset > found.setdefault(place, offset):
                found[place] = offset
    return found


def _worst_first(row: Row) -> tuple[float, int, str]:
    return -(row["seconds"] or 0.0), -(row["lag"] or 0), row["group"]


def _how_it_left(before: Row, after: Row | None) -> str:
    if after is None:
        return DELETED
    return LAST_MEMBER if before["members"] and not after["members"] else ""


def _is_back(gone: Gone, found: Mapping[str, Row]) -> bool:
    row = found.get(gone.group)
    return row is not None and (gone.how == DELETED or row["members"] > 0)

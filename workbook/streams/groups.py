"""The dashboard's model: each group with its state and its lag, worst first."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from workbook.kafka.lag import EndSamples
from workbook.kafka.offsets import EndOffsets, Offsets
from workbook.streams.events import group_health
from workbook.streams.events.group_health import named

STALE_S = 2.0
"""Without an answer the rows are read after so long."""

SETTLED_S = 7.0
"""The end waits for the broker so long at most: two answers of three seconds."""

Row = Mapping[str, Any]
"""A row of active_groups: group, details (JSON), offsets, changed_at (ms), deleted."""


class Dashboard:
    """Combines the latest row per group with sampled end offsets.

    ``read`` returns the rows, as a store's ``all`` does. ``look`` may be called as often as one
    likes: it waits for nobody. ``clock`` gives seconds since 1970, as that of ``ends`` does.
    """

    def __init__(
        self,
        read: Callable[[], Iterable[Row]],
        ends: EndOffsets,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._read, self._ends, self._clock = read, ends, clock
        self._samples, self._asked, self._committed = EndSamples(), Offsets(), Offsets()
        self._made = 0.0
        self._known: dict[str, tuple[Any, About]] = {}
        """By group: its details and topics, and what they say: saves parsing them each second."""

        self._rows: list[dict[str, Any]] = []

    def look(self) -> None:
        """Ask the broker once a second; bring the rows up to date with each answer."""
        answered = self._ends.take()
        if answered and not self._ends.silent:
            at = int(self._ends.asked * 1000)
            self._samples.note(at, self._ends.ends, self._asked, self._ends.denied)
        if answered or not self._made <= self._clock() < self._made + STALE_S:
            self._refresh()
        if self._ends.ask(self._committed):
            self._asked = self._committed

    def settle(self, within: float = SETTLED_S) -> None:
        """Read the rows once more, and wait until the broker has told the end of each partition.

        At most ``within`` seconds: it may be away.
        """
        deadline = time.monotonic() + within
        self._refresh()
        while time.monotonic() < deadline and any(p not in self._samples for p in self._committed):
            self.look()
            time.sleep(0.05)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per group, worst first: another list once anything has changed.

        group, state, members (a number), client_ids, topics, lag (messages; None if unknown),
        seconds (behind), at_least (seconds are a lower bound), commit_age (s; None without
        commits), changed_at (ms), remarks (sentences).
        """
        return self._rows

    @property
    def silent(self) -> bool:
        """Return whether the broker doesn't answer, so that every lag is an old one."""
        return self._ends.silent

    def __str__(self) -> str:
        states = [row["state"] for row in self._rows]
        counts = [f"{states.count(s):,} {s}" for s in group_health.STATES if s in states]
        parts = [f"{len(states):,} group{'' if len(states) == 1 else 's'}", *counts]
        if self._rows and self._rows[0]["lag"]:
            parts.append(f"most behind: {self._rows[0]['group']}, {self._rows[0]['lag']:,}")
        return ", ".join(parts) + (" (the broker doesn't answer)" if self.silent else "")

    def _refresh(self) -> None:
        self._made = self._clock()
        now = int(self._made * 1000)
        found = [row for row in self._read() if not row.get("deleted")]
        self._committed = _highest(found)
        self._rows = sorted((self._row(row, now) for row in found), key=_worst_first)
        self._known = {row["group"]: self._known[row["group"]] for row in found}

    def _row(self, row: Row, now: int) -> dict[str, Any]:
        group, offsets = row["group"], row["offsets"]
        topics = tuple({commit["topic"]: None for commit in offsets})
        if group not in self._known or self._known[group][0] != (row["details"], topics):
            self._known[group] = (row["details"], topics), _about(group, row["details"], topics)
        about, lag = self._known[group][1], self._samples.lag(offsets, now)
        committed_at = max((commit["committed_at"] for commit in offsets), default=None)
        unknown = self._samples.unknown(offsets) if lag is None or lag.partly else ()
        return {
            "group": group,
            "state": group_health.state(about.members, committed_at, now, row["changed_at"]),
            "members": about.members or 0,
            "client_ids": about.client_ids,
            "topics": about.topics,
            "lag": None if lag is None else lag.messages,
            "seconds": None if lag is None else lag.seconds,
            "at_least": lag is not None and lag.at_least,
            "commit_age": None if committed_at is None else max(now - committed_at, 0) / 1000,
            "changed_at": row["changed_at"],
            "remarks": [*about.findings, *_unknown(sorted(unknown))],
        }


class About(NamedTuple):
    """What a group's details say; ``members`` is None where no record describes it."""

    members: int | None
    client_ids: list[str]
    topics: list[str]
    findings: list[str]


def _about(group: str, details: str | None, topics: tuple[str, ...]) -> About:
    read = None if details is None else json.loads(details)
    return About(
        None if read is None else len(read["members"]),
        group_health.client_ids(read),
        group_health.topics(read, topics),
        group_health.findings(group, read),
    )


def _unknown(topics: list[str]) -> list[str]:
    why = "deleted, recreated or truncated, or the right to DESCRIBE is missing"
    return [f"The lag on {named(topics)} is unknown: {why}."] if topics else []


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

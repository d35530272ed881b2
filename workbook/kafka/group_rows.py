"""A group's row on the dashboard: what it is, how far behind, and what should be looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbook.events import group_health
from workbook.events.group_health import EMPTY, IDLE, named
from workbook.kafka.lag import EndSamples, Lag

Row = Mapping[str, Any]
"""A row of active_groups: group, details, offsets, changed_at (ms), deleted."""

Deserialise = Callable[[Any], Mapping[str, Any] | None]


def from_json(details: Any) -> dict[str, Any] | None:
    """Return ClientDetails from compact JSON; a dictionary or None as it is."""
    return json.loads(details) if isinstance(details, str | bytes) else details


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a group for as long as its ``raw`` details and its topics stay."""

    raw: Any
    committed: frozenset[str]
    details: Mapping[str, Any] | None
    client_ids: list[str]
    topics: list[str]
    findings: list[str]

    @property
    def members(self) -> int:
        return len(self.details["members"]) if self.details is not None else 0


class GroupRows:
    """Makes a group's row; what changes seldom is kept, since ten thousand groups are looked at."""

    def __init__(self, samples: EndSamples, deserialise: Deserialise = from_json) -> None:
        self._samples, self._deserialise = samples, deserialise
        self._known: dict[str, About] = {}

    def about(self, row: Row) -> About:
        """Return what a row's details say."""
        raw, offsets = row["details"], row["offsets"]
        committed = frozenset(commit["topic"] for commit in offsets)
        known = self._known.get(row["group"])
        if known is None or known.raw != raw or known.committed != committed:
            details = self._deserialise(raw)
            known = self._known[row["group"]] = About(
                raw,
                committed,
                details,
                group_health.client_ids(details),
                group_health.topics(details, offsets),
                group_health.findings(row["group"], details, offsets),
            )
        return known

    def forget(self, group: str) -> None:
        self._known.pop(group, None)

    def row(self, row: Row, now: int) -> dict[str, Any]:
        """Return a row as ``Dashboard.rows`` has it; ``now`` in ms."""
        about, offsets = self.about(row), row["offsets"]
        lags = [self.lag(commit, now) for commit in offsets]
        known = [lag for lag in lags if lag is not None]
        changed_at = row.get("changed_at")
        state = group_health.state(about.details, offsets, now, changed_at)
        alone = group_health.unexpected_commits(about.details, offsets, now, changed_at)
        messages = sum(lag.messages for lag in known) if known else None
        committed = group_health.last_commit(offsets)
        return {
            "group": row["group"],
            "state": state,
            "members": about.members,
            "client_ids": about.client_ids,
            "topics": about.topics,
            "lag": messages,
            "seconds": max((lag.seconds for lag in known), default=None),
            "at_least": any(lag.at_least for lag in known),
            "commit_age": None if committed is None else max(now - committed, 0) / 1000,
            "remarks": [
                *([alone] if alone else _of_lag(state, messages)),
                *about.findings,
                *self._of_unknown_ends(offsets, lags),
            ],
        }

    def lag(self, commit: Row, now: int) -> Lag | None:
        """Return the lag of one partition."""
        return self._samples.lag(commit["topic"], commit["partition"], commit["offset"], now)

    def _of_unknown_ends(self, offsets: Iterable[Row], lags: Iterable[Lag | None]) -> list[str]:
        topics = {c["topic"] for c, lag in zip(offsets, lags, strict=True) if lag is None}
        if not topics or not self._samples.answered:  # nothing was answered yet
            return []
        return [
            f"The end of {named(sorted(topics))} is unknown: deleted, or DESCRIBE on the topic is "
            "missing."
        ]


def _of_lag(state: str, messages: int | None) -> list[str]:
    """Return what the lag of a group says that doesn't commit."""
    if state == IDLE and messages:
        return [f"It has members and {messages:,} messages to read, but commits nothing: stuck?"]
    if state == EMPTY and messages:
        return ["Nobody reads it: its lag only grows."]
    return []

"""A group's row on the dashboard: what it is, how far behind, and what should be looked at."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from workbook.kafka.lag import EndSamples, Lag
from workbook.streams.events import group_health
from workbook.streams.events.group_health import EMPTY, IDLE, named

Row = Mapping[str, Any]
"""A row of active_groups: group, details, offsets, described_at and changed_at (ms), deleted."""

LOST = "deleted, or DESCRIBE on the topic is missing."
BEYOND = "probably made anew or truncated since, and a consumer will be reset by auto.offset.reset."

Deserialise = Callable[[Any], Mapping[str, Any] | None]


def from_json(details: Any) -> dict[str, Any] | None:
    """Return ClientDetails from compact JSON; a dictionary or None as it is."""
    return json.loads(details) if isinstance(details, str | bytes) else details


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a group for as long as its ``row`` stays.

    ``members`` is None where no record describes it, ``committed_at`` (ms) where it never has.
    """

    row: Row
    members: int | None
    client_ids: list[str]
    topics: list[str]
    findings: list[str]
    committed_at: int | None


class GroupRows:
    """Makes a group's row; what changes seldom is kept, since ten thousand groups are looked at."""

    def __init__(self, samples: EndSamples, deserialise: Deserialise = from_json) -> None:
        self._samples, self._deserialise = samples, deserialise
        self._known: dict[str, About] = {}

    def about(self, row: Row) -> About:
        """Return what a row says."""
        known = self._known.get(row["group"])
        if known is not None and known.row is row:
            return known
        committed_at = group_health.last_commit(row["offsets"])
        if known is not None and _describes(known.row, row):
            known = replace(known, row=row, committed_at=committed_at)
        else:
            details = self._deserialise(row["details"])
            known = About(
                row,
                None if details is None else len(details["members"]),
                group_health.client_ids(details),
                group_health.topics(details, row["offsets"]),
                group_health.findings(row["group"], details),
                committed_at,
            )
        self._known[row["group"]] = known
        return known

    def forget(self, group: str) -> None:
        self._known.pop(group, None)

    def row(self, row: Row, now: int) -> dict[str, Any]:
        """Return a row as ``Dashboard.rows`` has it; ``now`` in ms."""
        about, lag = self.about(row), self._samples.lag(row["offsets"], now)
        state = group_health.state(about.members, about.committed_at, now, row.get("changed_at"))
        age = None if about.committed_at is None else max(now - about.committed_at, 0) / 1000
        return {
            "group": row["group"],
            "state": state,
            "members": about.members or 0,
            "client_ids": about.client_ids,
            "topics": about.topics,
            "lag": None if lag is None else lag.messages,
            "seconds": None if lag is None else lag.seconds,
            "at_least": lag is not None and lag.at_least,
            "commit_age": age,
            "remarks": self._remarks(about, state, lag, now),
        }

    def _remarks(self, about: About, state: str, lag: Lag | None, now: int) -> list[str]:
        of_lag = _of_lag(about, state, 0 if lag is None else lag.messages, now)
        unknown = self._of_unknown(about.row["offsets"]) if lag is None or lag.partly else []
        return [*of_lag, *about.findings, *unknown] if of_lag or unknown else about.findings

    def _of_unknown(self, offsets: Iterable[Row]) -> list[str]:
        """Say why a lag is unknown, unless the broker has merely not answered yet."""
        places = {(c["topic"], c["partition"], c["offset"]) for c in offsets}
        lost = sorted({place[0] for place in places if self._samples.is_lost(*place[:2])})
        beyond = sorted({place[0] for place in places if self._samples.is_beyond(*place)})
        found = []
        if lost:
            found.append(f"The end of {named(lost)} is unknown: {LOST}")
        if beyond:
            found.append(f"What it has committed of {named(beyond)} lies beyond the end: {BEYOND}")
        return found


def _of_lag(about: About, state: str, left: int, now: int) -> list[str]:
    """Return what lag and commits say of a group that should commit, or shouldn't."""
    if state == IDLE and left:
        return [f"It has members and {left:,} messages to read, but commits nothing: stuck?"]
    if state != EMPTY:
        return []
    alone = group_health.commits_alone(about.committed_at, now, about.row.get("described_at"))
    return [alone] if alone else ["Nobody reads it: its lag can only grow."] if left else []


def _describes(former: Row, row: Row) -> bool:
    """Return whether a group's former row has the same details, and commits of the same topics."""
    topics = [{commit["topic"] for commit in each["offsets"]} for each in (former, row)]
    return bool(former["details"] == row["details"]) and topics[0] == topics[1]

"""What is to be said about a consumer group: its state, and what in it should be looked at.

``details`` are ClientDetails: a dictionary with group, protocol, generation, assignor, members;
``offsets`` are dictionaries with topic, partition, offset, committed_at (ms). ``now`` is in ms.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbook.streams.events.client_ids import application, default_of

ACTIVE, IDLE, EMPTY, UNKNOWN, LEFT = "active", "idle", "empty", "unknown", "left"
STATES = {
    ACTIVE: "members, and a commit in the last ten minutes",
    IDLE: "members, but no commit for ten minutes: alive, with nothing to read or stuck",
    EMPTY: "no members; its offsets remain",
    UNKNOWN: "commits, but no record of the group itself",
    LEFT: "it was there, and was deleted",
}
"""The states and their meaning."""

QUIET_MS = 600_000
BY_HAND = (
    "maybe its partitions are assigned by hand (assign, not subscribe), or a tool set its offsets."
)
NAMED = 3
"""Of more names than these only the number is given."""

Details = Mapping[str, Any]
Commits = Sequence[Mapping[str, Any]]


def state(
    members: int | None,
    committed_at: int | None,
    now: int,
    changed_at: int | None = None,
    deleted: bool = False,
) -> str:
    """Return one of ``STATES``.

    ``members`` is None where no record describes the group, ``committed_at`` where it has never
    committed: then ``changed_at`` counts, its newest record. Times are in ms.
    """
    if deleted:
        return LEFT
    if members is None:
        return UNKNOWN
    if not members:
        return EMPTY
    newest = changed_at if committed_at is None else committed_at
    return ACTIVE if newest is not None and _is_recent(newest, now) else IDLE


def last_commit(offsets: Commits) -> int | None:
    """Return when (ms) the group last committed; None if it never has."""
    return max((commit["committed_at"] for commit in offsets), default=None)


def commits_alone(committed_at: int | None, now: int, described_at: int | None) -> str:
    """Say that a group without members commits: recently, and after it was last described.

    A member's last commit comes before the record that it has left: then it's "".
    """
    if committed_at is None or not _is_recent(committed_at, now):
        return ""
    if described_at is not None and committed_at <= described_at:
        return ""
    return f"Commits within the last ten minutes by nobody who is a member: {BY_HAND}"


def _is_recent(time: int, now: int) -> bool:
    return -QUIET_MS < now - time < QUIET_MS


def client_ids(details: Details | None) -> list[str]:
    """Return the members' client ids, each once, in order."""
    return sorted({member["client_id"] for member in _members(details)})


def topics(details: Details | None, offsets: Commits) -> list[str]:
    """Return the topics that the group subscribes to, has been assigned or has committed."""
    found = {commit["topic"] for commit in offsets}
    for member in _members(details):
        found.update(member["topics"])
        if details and details.get("protocol") != "consumer":  # whose assignments have topic ids
            found.update(each["topic"] for each in member["assigned"])
    return sorted(found)


def findings(group: str, details: Details | None) -> list[str]:
    """Return what should be looked at, each as a sentence; [] for a group that is in order."""
    found = [_without_details(details), _defaults(group, details), _applications(details)]
    return [sentence for sentence in found if sentence]


def _without_details(details: Details | None) -> str:
    return "" if details is not None else f"Commits without members: {BY_HAND}"


def _defaults(group: str, details: Details | None) -> str:
    members = _members(details)
    found = [default_of(m["client_id"], group, m.get("instance_id")) for m in members]
    defaults = [client for client in found if client is not None]
    if not defaults:
        return ""
    clients, count = sorted(set(defaults)), len(defaults)
    who = f"{count:,} of {len(members):,} members" if len(members) > 1 else "Its member"
    verb = "have" if count > 1 else "has"
    whose = f"the default client id of {named(clients)}"
    if clients == ["no client"]:
        whose = "no client id"
    return f"{who} {verb} {whose}: set client.id to the application's name."


def _applications(details: Details | None) -> str:
    """Find client ids that differ in more than an instance."""
    example: dict[str, str] = {}
    for client_id in client_ids(details):
        name = application(client_id)
        example.setdefault(name, name or client_id or "(none)")
    if len(example) < 2:
        return ""
    return (
        f"Maybe {len(example):,} applications share this group id: client ids "
        f"{named(list(example.values()))}. A rolling deployment has both for a while."
    )


def named(names: Sequence[str]) -> str:
    """Write names as "a", "a and b", "a, b and c"; of more than three the number of the rest."""
    shown = list(names[:NAMED])
    if len(names) > NAMED:
        shown.append(f"{len(names) - NAMED:,} more")
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _members(details: Details | None) -> Sequence[Mapping[str, Any]]:
    return details["members"] if details is not None else ()

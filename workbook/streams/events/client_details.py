"""Who reads: a group with its members, put together from the records that describe it."""

from collections.abc import Iterable, Mapping
from typing import Any, Self

import msgspec


class Assignment(msgspec.Struct, frozen=True):
    """Partitions of a topic. The new protocol's records name a topic by its id."""

    topic: str
    partitions: tuple[int, ...]


class ClientMember(msgspec.Struct, frozen=True):
    """A member of a group: one consumer, with its time-outs in ms (-1: unknown)."""

    member_id: str
    client_id: str
    host: str
    instance_id: str | None
    session_timeout: int
    rebalance_timeout: int
    topics: tuple[str, ...]
    assigned: tuple[Assignment, ...]


class Group(msgspec.Struct, frozen=True):
    """A record of a classic group, with its members; ``assignor`` is None while it's empty."""

    protocol_type: str
    generation: int
    assignor: str | None
    members: tuple[ClientMember, ...]


class NewGroup(msgspec.Struct, frozen=True):
    """A record of a group of a new protocol: "consumer" (KIP-848) or "streams" (KIP-1071)."""

    epoch: int
    protocol: str = "consumer"


class Assigned(msgspec.Struct, frozen=True):
    """A record of what a member of the new protocol has."""

    partitions: tuple[Assignment, ...]


class ClientDetails(msgspec.Struct, frozen=True):
    """A group: its protocol, its generation (or epoch, in the new protocol), its members.

    ``protocol`` is "classic", "consumer" (the new one, KIP-848), "streams" (Kafka Streams' own,
    KIP-1071) or, of a group that isn't one of consumers, its type. ``assignor`` is None where the
    members don't choose it, or there are none.
    """

    group: str
    protocol: str
    generation: int
    assignor: str | None
    members: tuple[ClientMember, ...]

    @classmethod
    def of(cls, group: str, parts: Iterable[Mapping[str, Any]]) -> Self | None:
        """Put a group together from its records; None if nothing but members' records are there.

        Each part has ``kind``, ``member`` and ``details`` (JSON), as ``consumer_offsets.decode``
        gives them.
        """
        kinds: dict[str, dict[str, str]] = {}
        for part in parts:
            kinds.setdefault(part["kind"], {})[part["member"]] = part["details"]
        if "group" in kinds:
            new = msgspec.json.decode(kinds["group"][""], type=NewGroup)
            return cls(group, new.protocol, new.epoch, None, tuple(_members(kinds)))
        if "classic" not in kinds:
            return None
        found = msgspec.json.decode(kinds["classic"][""], type=Group)
        protocol = "classic" if found.protocol_type in ("consumer", "") else found.protocol_type
        return cls(group, protocol, found.generation, found.assignor, found.members)


def _members(kinds: Mapping[str, Mapping[str, str]]) -> Iterable[ClientMember]:
    """Yield the members of a new group, each with what it has, in the order of their ids."""
    has = kinds.get("assignment", {})
    for name, details in sorted(kinds.get("member", {}).items()):
        member = msgspec.json.decode(details, type=ClientMember)
        if name in has:
            assigned = msgspec.json.decode(has[name], type=Assigned).partitions
            member = msgspec.structs.replace(member, assigned=assigned)
        yield member

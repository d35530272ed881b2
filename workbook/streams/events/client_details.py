"""Who reads: a group with its members, put together from the records that describe it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from workbook.errors import Rejected
from workbook.streams.events.group_records import Assigned, Group, Member, NewGroup


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
    def of(cls, group: str, parts: Iterable[Mapping[str, Any]]) -> ClientDetails | None:
        """Put a group together from its records; None if nothing but members' records are there.

        Each part has ``kind``, ``member`` and ``details`` (JSON), as ``consumer_offsets.decode``
        gives them.
        """
        kinds: dict[str, dict[str, str]] = {}
        for part in parts:
            kinds.setdefault(part["kind"], {})[part["member"]] = part["details"]
        if "group" in kinds:
            return _of_new_group(group, kinds)
        return _of_classic_group(group, kinds["classic"][""]) if "classic" in kinds else None


def _of_classic_group(group: str, details: str) -> ClientDetails:
    found = msgspec.json.decode(details, type=Group)
    protocol = "classic" if found.protocol_type in ("consumer", "") else found.protocol_type
    members = tuple(_member(each, each.assigned) for each in found.members)
    return ClientDetails(group, protocol, found.generation, found.assignor, members)


def _of_new_group(group: str, kinds: Mapping[str, Mapping[str, str]]) -> ClientDetails:
    found = msgspec.json.decode(kinds["group"][""], type=NewGroup)
    has = {
        member: msgspec.json.decode(details, type=Assigned).partitions
        for member, details in kinds.get("assignment", {}).items()
    }
    members = tuple(
        _member(msgspec.json.decode(details, type=Member), has.get(member, ()))
        for member, details in sorted(kinds.get("member", {}).items())
    )
    return ClientDetails(group, found.protocol, found.epoch, None, members)


def _member(found: Member, assigned: Iterable[tuple[str, tuple[int, ...]]]) -> ClientMember:
    return ClientMember(
        *(found.member_id, found.client_id, found.host, found.instance_id),
        *(found.session_timeout, found.rebalance_timeout, found.topics),
        assigned=tuple(Assignment(*each) for each in assigned),
    )


def to_json(details: ClientDetails) -> bytes:
    """Serialize details as JSON."""
    return msgspec.json.encode(details)


def from_json(data: bytes | str) -> ClientDetails:
    """Deserialize what ``to_json`` wrote; raise ``Rejected`` for anything else."""
    try:
        return msgspec.json.decode(data, type=ClientDetails)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Rejected(f"no client details: {error}") from error

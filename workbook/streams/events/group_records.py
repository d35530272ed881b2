"""Kafka's own records in ``__consumer_offsets``: who reads what, and how far it has come.

The formats are those of Apache Kafka's message definitions (group-coordinator, common/message:
OffsetCommitKey and -Value, GroupMetadataKey and -Value, ConsumerGroup*Key and -Value of KIP-848,
StreamsGroup*Key and -Value of KIP-1071, and ConsumerProtocolSubscription and -Assignment of the
clients). A key begins with its kind, two bytes; a value with its version, two bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from workbook.streams.events.binary import Bytes, Cut

OFFSETS = (0, 1)
"""Kinds of keys: an offset commit (0 is an older form of 1)."""

GROUP, NEW_GROUP, NEW_MEMBER, NEW_ASSIGNMENT = 2, 3, 5, 8
"""A group of the classic protocol; of the new one (KIP-848): the group, a member, what it has."""

STREAMS_GROUP, STREAMS_MEMBER = 17, 19
"""Of Kafka Streams' own protocol (KIP-1071): the group, a member."""

SILENT = (4, 6, 7, *range(9, 17), 18, *range(20, 32))
"""Kinds that say nothing about who reads what: targets, hashes, topologies, share groups."""


@dataclass(frozen=True, slots=True)
class OffsetKey:
    """Of an offset commit: a group's, in a partition."""

    group: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class GroupKey:
    """Of a group, by ``kind``; ``member`` where it's about one of its members."""

    kind: int
    group: str
    member: str | None = None


@dataclass(frozen=True, slots=True)
class OtherKey:
    """Of a kind that this module doesn't read."""

    kind: int


Key = OffsetKey | GroupKey | OtherKey


@dataclass(frozen=True, slots=True)
class OffsetCommit:
    """An offset commit: the ``offset`` to read next, and when (ms) it was committed.

    ``leader_epoch`` is -1 where it's unknown.
    """

    offset: int
    committed_at: int
    metadata: str = ""
    leader_epoch: int = -1
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group: one consumer. Time-outs are in ms.

    ``topics`` it subscribes to; ``assigned`` are its partitions by topic (by topic id in the new
    protocol). ``instance_id`` is that of a static member.
    """

    member_id: str
    client_id: str
    host: str
    instance_id: str | None = None
    session_timeout: int = -1
    rebalance_timeout: int = -1
    topics: tuple[str, ...] = ()
    assigned: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A group of the classic protocol, with its members; ``assignor`` is None while it's empty."""

    protocol_type: str
    generation: int
    assignor: str | None
    leader: str | None
    changed_at: int
    members: tuple[Member, ...]


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group of a new protocol, "consumer" (KIP-848) or "streams" (KIP-1071): its epoch."""

    epoch: int
    protocol: str = "consumer"


@dataclass(frozen=True, slots=True)
class Assigned:
    """What a member of the new protocol has: partitions by topic id."""

    epoch: int
    partitions: tuple[tuple[str, tuple[int, ...]], ...] = ()


T = TypeVar("T")

Value = OffsetCommit | Group | NewGroup | Member | Assigned


class UnknownVersion(ValueError):
    """A value of a version that this module doesn't read."""

    newest: ClassVar[dict[int, int]] = {
        **{0: 4, 1: 4, GROUP: 4, NEW_GROUP: 0, NEW_MEMBER: 0, NEW_ASSIGNMENT: 0},
        **{STREAMS_GROUP: 0, STREAMS_MEMBER: 0},
    }
    """By kind of key."""


def read_key(data: bytes) -> Key:
    """Read a record's key; raise ``Cut`` for bytes that are none."""
    of = Bytes(data)
    kind = of.int16()
    if kind in OFFSETS:
        return OffsetKey(of.text(), of.text(), of.int32())
    if kind in (GROUP, NEW_GROUP, STREAMS_GROUP):
        return GroupKey(kind, of.text())
    if kind in (NEW_MEMBER, NEW_ASSIGNMENT, STREAMS_MEMBER):
        return GroupKey(kind, of.text(), of.text())
    return OtherKey(kind)


def read_value(key: Key, data: bytes) -> Value:
    """Read the value of a record with this key.

    Raises ``Cut`` for bytes that are none, and ``UnknownVersion``.
    """
    kind = 1 if isinstance(key, OffsetKey) else key.kind
    of = Bytes(data)
    version = of.int16()
    if kind not in UnknownVersion.newest or not 0 <= version <= UnknownVersion.newest[kind]:
        raise UnknownVersion(f"kind {kind}, version {version}")
    if kind == 1:
        return _offset_commit(of, version)
    if kind == GROUP:
        return _group(of, version)
    of.flexible = True
    if kind == NEW_GROUP:
        return NewGroup(of.int32())
    if kind == STREAMS_GROUP:
        return NewGroup(of.int32(), "streams")
    if isinstance(key, GroupKey) and kind in (NEW_MEMBER, STREAMS_MEMBER):
        return _new_member(of, key.member or "", subscribes=kind == NEW_MEMBER)
    return Assigned(*_assigned(of))


def _offset_commit(of: Bytes, version: int) -> OffsetCommit:
    of.flexible = version >= 4
    offset = of.int64()
    epoch = of.int32() if version >= 3 else -1
    metadata, committed_at = of.text_or_none() or "", of.int64()
    if version == 1:
        of.int64()  # when it expires
    topic_id = of.tags().get(0)
    known = Bytes(topic_id).uuid() if topic_id else None
    return OffsetCommit(offset, committed_at, metadata, epoch, known)


# --- the classic protocol ---------------------------------------------------------------------


def _group(of: Bytes, version: int) -> Group:
    of.flexible = version >= 4
    kind, generation = of.text(), of.int32()
    assignor, leader = of.text_or_none(), of.text_or_none()
    changed_at = of.int64() if version >= 2 else -1
    is_consumer = kind == "consumer"
    members = of.each(lambda: _member(of, version, is_consumer))
    return Group(kind, generation, assignor, leader, changed_at, tuple(members))


def _member(of: Bytes, version: int, is_consumer: bool) -> Member:
    member_id = of.text()
    instance = of.text_or_none() if version >= 3 else None
    client, host = of.text(), of.text()
    rebalance = of.int32() if version >= 1 else -1
    session = of.int32()
    subscription, assignment = of.blob(), of.blob()
    of.tags()
    return Member(
        *(member_id, client, host, instance, session, rebalance),
        topics=_or_none(_subscription, subscription) if is_consumer else (),
        assigned=_or_none(_assignment, assignment) if is_consumer else (),
    )


def _or_none(read: Callable[[bytes], tuple[T, ...]], data: bytes) -> tuple[T, ...]:
    """Read bytes that the client has written; () where they have a form of its own."""
    try:
        return read(data)
    except Cut:
        return ()


def _subscription(data: bytes) -> tuple[str, ...]:
    """Return the topics of a consumer's subscription; other kinds of groups have other bytes."""
    if not data:
        return ()
    of = Bytes(data)
    of.int16()
    return tuple(of.each(of.text))


def _assignment(data: bytes) -> tuple[tuple[str, tuple[int, ...]], ...]:
    if not data:
        return ()
    of = Bytes(data)
    of.int16()
    return tuple(of.each(lambda: (of.text(), tuple(of.each(of.int32)))))


# --- the new ones -----------------------------------------------------------------------------


def _new_member(of: Bytes, member: str, *, subscribes: bool) -> Member:
    """Read a member; one of Kafka Streams has no subscription, but the topology of its group."""
    instance, _rack = of.text_or_none(), of.text_or_none()
    client, host = of.text(), of.text()
    topics = tuple(of.each(of.text)) if subscribes else ()
    _pattern = of.text_or_none() if subscribes else None
    return Member(*(member, client, host, instance), rebalance_timeout=of.int32(), topics=topics)


def _assigned(of: Bytes) -> tuple[int, tuple[tuple[str, tuple[int, ...]], ...]]:
    epoch, _former, _state = of.int32(), of.int32(), of.int8()

    def topic() -> tuple[str, tuple[int, ...]]:
        found = of.uuid(), tuple(of.each(of.int32))
        of.tags()
        return found

    return epoch, tuple(of.each(topic))

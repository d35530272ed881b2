"""Kafka's own records in ``__consumer_offsets``: who reads what, and how far it has come.

The formats are those of Apache Kafka's message definitions (group-coordinator, common/message:
OffsetCommitKey and -Value, GroupMetadataKey and -Value, ConsumerGroup*Key and -Value of KIP-848,
StreamsGroup*Key and -Value of KIP-1071, and ConsumerProtocolSubscription and -Assignment of the
clients). A key begins with its kind, two bytes; a value with its version, two bytes.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple, TypeVar

from workbook.streams.events.binary import Bytes, Cut, Field
from workbook.streams.events.client_details import (
    Assigned,
    Assignment,
    ClientMember,
    Group,
    NewGroup,
)

OFFSETS = (0, 1)
"""Kinds of keys: an offset commit (0 is an older form of 1)."""

GROUP, NEW_GROUP, NEW_MEMBER, NEW_ASSIGNMENT = 2, 3, 5, 8
"""A group of the classic protocol; of the new one (KIP-848): the group, a member, what it has."""

STREAMS_GROUP, STREAMS_MEMBER = 17, 19
"""Of Kafka Streams' own protocol (KIP-1071): the group, a member."""

SILENT = (4, 6, 7, *range(9, 17), 18, *range(20, 32))
"""Kinds that say nothing about who reads what: targets, hashes, topologies, share groups."""

NEWEST = {1: 4, GROUP: 4, NEW_GROUP: 0, NEW_MEMBER: 0, NEW_ASSIGNMENT: 0} | {
    STREAMS_GROUP: 0,
    STREAMS_MEMBER: 0,
}
"""The newest version of values that is read here, by kind of key."""

T = TypeVar("T")


class Key(NamedTuple):
    """A record's key: its kind, and what that kind has; 1 for all offset commits."""

    kind: int
    group: str | None = None
    topic: str | None = None
    partition: int | None = None
    member: str | None = None


class OffsetCommit(NamedTuple):
    """An offset commit: the ``offset`` to read next, and when (ms) it was committed."""

    offset: int
    committed_at: int


Value = OffsetCommit | Group | NewGroup | ClientMember | Assigned


class UnknownVersion(ValueError):
    """A value of a version that this module doesn't read."""


def read_key(data: bytes) -> Key:
    """Read a record's key; raise ``Cut`` for bytes that are none."""
    return _key(Bytes(data))


def _key(of: Bytes) -> Key:
    kind = of.int16("kind")
    if kind in OFFSETS:
        return Key(1, of.text("group"), of.text("topic"), of.int32("partition"))
    if kind in (GROUP, NEW_GROUP, STREAMS_GROUP):
        return Key(kind, of.text("group"))
    if kind in (NEW_MEMBER, NEW_ASSIGNMENT, STREAMS_MEMBER):
        return Key(kind, of.text("group"), member=of.text("member"))
    return Key(kind)


def read_value(key: Key, data: bytes) -> Value:
    """Read the value of a record with this key.

    Raises ``Cut`` for bytes that are none, and ``UnknownVersion``.
    """
    return _value(key, Bytes(data))


def _value(key: Key, of: Bytes) -> Value:
    version = of.int16("version")
    if not 0 <= version <= NEWEST.get(key.kind, -1):
        raise UnknownVersion(f"kind {key.kind}, version {version}")
    if key.kind == 1:
        return _offset_commit(of, version)
    if key.kind == GROUP:
        return _group(of, version)
    of.flexible = True
    if key.kind == NEW_GROUP:
        return NewGroup(of.int32())
    if key.kind == STREAMS_GROUP:
        return NewGroup(of.int32(), "streams")
    if key.kind == NEW_ASSIGNMENT:
        return _assigned(of)
    return _new_member(of, key.member or "", subscribes=key.kind == NEW_MEMBER)


# --- as they're drawn ---------------------------------------------------------------------------

KINDS = {
    **dict.fromkeys(OFFSETS, "a commit"),
    GROUP: "a classic group",
    NEW_GROUP: "a new group",
    NEW_MEMBER: "a new group's member",
}


def key_fields(key: bytes) -> list[Field]:
    """Return the fields of a record's key; what can't be read is one field at the end."""
    of = Bytes(key, noting=True)
    with suppress(Cut):
        _key(of)
    return of.all_fields()


def value_fields(kind: int, value: bytes) -> list[Field]:
    """Return the first fields of a value, by the kind of its key; the rest is one field."""
    of = Bytes(value, noting=True)
    with suppress(Cut, UnknownVersion):
        _value(Key(1 if kind in OFFSETS else kind), of)
    return of.all_fields()


# --- commits ------------------------------------------------------------------------------------


def _offset_commit(of: Bytes, version: int) -> OffsetCommit:
    of.flexible = version >= 4
    offset = of.int64("offset")
    if version >= 3:
        of.int32("leader epoch")
    of.text_or_none("metadata")  # the client's own words
    committed_at = of.int64("committed at")
    if version == 1:
        of.int64()  # when it expires
    of.tags()
    return OffsetCommit(offset, committed_at)


# --- the classic protocol ---------------------------------------------------------------------


def _group(of: Bytes, version: int) -> Group:
    of.flexible = version >= 4
    kind, generation = of.text("type"), of.int32("generation")
    assignor, _leader = of.text_or_none("assignor"), of.text_or_none()
    if version >= 2:
        of.int64()  # when it changed
    is_consumer = kind == "consumer"
    members = of.each(lambda: _member(of, version, is_consumer))
    return Group(kind, generation, assignor, tuple(members))


def _member(of: Bytes, version: int, is_consumer: bool) -> ClientMember:
    member_id = of.text()
    instance = of.text_or_none() if version >= 3 else None
    client, host = of.text(), of.text()
    rebalance = of.int32() if version >= 1 else -1
    session = of.int32()
    subscription, assignment = of.blob(), of.blob()
    of.tags()
    return ClientMember(
        *(member_id, client, host, instance, session, rebalance),
        topics=_of_consumer(Bytes.text, subscription) if is_consumer else (),
        assigned=_of_consumer(_partitions, assignment) if is_consumer else (),
    )


def _of_consumer(read: Callable[[Bytes], T], data: bytes) -> tuple[T, ...]:
    """Read the list behind the version of what a client has written; () for a form of its own."""
    of = Bytes(data)
    try:
        of.int16()
        return tuple(of.each(lambda: read(of)))
    except Cut:
        return ()


def _partitions(of: Bytes) -> Assignment:
    return Assignment(of.text(), tuple(of.each(of.int32)))


# --- the new ones -----------------------------------------------------------------------------


def _new_member(of: Bytes, member: str, *, subscribes: bool) -> ClientMember:
    """Read a member; one of Kafka Streams has no subscription, but the topology of its group."""
    instance, _rack = of.text_or_none("instance"), of.text_or_none("rack")
    client, host = of.text("client id"), of.text("host")
    topics = tuple(of.each(of.text)) if subscribes else ()
    _pattern = of.text_or_none() if subscribes else None
    return ClientMember(member, client, host, instance, -1, of.int32(), topics, ())


def _assigned(of: Bytes) -> Assigned:
    _epoch, _former, _state = of.int32(), of.int32(), of.int8()

    def topic() -> Assignment:
        found = Assignment(of.uuid(), tuple(of.each(of.int32)))
        of.tags()
        return found

    return Assigned(tuple(of.each(topic)))

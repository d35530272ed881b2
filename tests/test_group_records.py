"""Kafka's own records of groups: real bytes, every version, and bytes that are none."""

import random
import struct
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
import pytest

from workbook.sources.consumer_offsets import rows_of
from workbook.streams.events.binary import Cut
from workbook.streams.events.client_details import (
    Assignment,
    ClientDetails,
    ClientMember,
    Group,
)
from workbook.streams.events.group_records import (
    GROUP,
    NEW_ASSIGNMENT,
    NEW_GROUP,
    NEW_MEMBER,
    STREAMS_GROUP,
    STREAMS_MEMBER,
    Key,
    OffsetCommit,
    UnknownVersion,
    read_key,
    read_value,
)

TOPIC_ID = "gLKdVDhGSKCeU2Y9VM9Arw"
ID = b"\x80\xb2\x9dT8FH\xa0\x9eSf=T\xcf@\xaf"


def text(value: str | None, *, flexible: bool = False) -> bytes:
    if flexible:
        return b"\0" if value is None else bytes([len(value) + 1]) + value.encode()
    return b"\xff\xff" if value is None else struct.pack(">h", len(value)) + value.encode()


def blob(value: bytes, *, flexible: bool = False) -> bytes:
    if flexible:
        length, head = len(value) + 1, b""
        while length > 0x7F:
            head, length = head + bytes([length & 0x7F | 0x80]), length >> 7
        return head + bytes([length]) + value
    return struct.pack(">i", len(value)) + value


# --- keys ---------------------------------------------------------------------------------------

OFFSET_KEY = b"\0\1" + text("app") + text("clicks") + b"\0\0\0\7"
NAME = "Grüße".encode()
KEYS = [
    (OFFSET_KEY, Key(1, "app", "clicks", 7)),
    (b"\0\0" + OFFSET_KEY[2:], Key(1, "app", "clicks", 7)),
    (b"\0\2" + text("app"), Key(GROUP, "app")),
    (b"\0\3" + struct.pack(">h", len(NAME)) + NAME, Key(NEW_GROUP, "Grüße")),
    (b"\0\5" + text("app") + text("m-1"), Key(NEW_MEMBER, "app", member="m-1")),
    (b"\0\x08" + text("app") + text("m-1"), Key(NEW_ASSIGNMENT, "app", member="m-1")),
    (b"\0\x11" + text("app"), Key(STREAMS_GROUP, "app")),
    (b"\0\x13" + text("app") + text("m-1"), Key(STREAMS_MEMBER, "app", member="m-1")),
    (b"\0\6" + text("app"), Key(6)),
    (b"\0\x63whatever", Key(99)),
]


@pytest.mark.parametrize(("data", "key"), KEYS)
def test_keys(data: bytes, key: object) -> None:
    assert read_key(data) == key


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\0\1", b"\0\2\0\5app", b"\0\2\xff\xff", b"\0\2\0\1\xff", OFFSET_KEY[:-1]]
)
def test_keys_that_are_cut_off(data: bytes) -> None:
    with pytest.raises(Cut):
        read_key(data)


# --- offset commits -------------------------------------------------------------------------------


def commit(version: int) -> bytes:
    """Offset 42, metadata "me", committed at 1700, in a version."""
    flexible = version >= 4
    epoch = struct.pack(">i", 9) if version >= 3 else b""
    expires = struct.pack(">q", 99) if version == 1 else b""
    tags = b"\1\0\x10" + ID if flexible else b""
    head = struct.pack(">hq", version, 42) + epoch + text("me", flexible=flexible)
    return head + struct.pack(">q", 1700) + expires + tags


@pytest.mark.parametrize("version", range(5))
def test_offset_commits_of_every_version_whole_and_cut_off(version: int) -> None:
    whole = commit(version)
    assert read_value(read_key(OFFSET_KEY), whole) == OffsetCommit(42, 1700)
    for end in range(len(whole)):
        with pytest.raises(Cut):
            read_value(read_key(OFFSET_KEY), whole[:end])


@pytest.mark.parametrize(("kind", "version"), [(1, -1), (1, 5), (6, 0)])
def test_versions_to_come_and_other_kinds_are_unknown(kind: int, version: int) -> None:
    with pytest.raises(UnknownVersion, match=f"kind {kind}, version {version}"):
        read_value(Key(kind), struct.pack(">h", version) + commit(4)[2:])


# --- groups ---------------------------------------------------------------------------------------

SUBSCRIPTION = b"\0\1" + struct.pack(">i", 2) + text("a") + text("b") + blob(b"user data")
ASSIGNMENT = b"\0\1" + struct.pack(">i", 1) + text("a") + struct.pack(">iii", 2, 0, 3) + blob(b"")


def group(version: int, kind: str = "consumer") -> bytes:
    flexible = version >= 4
    many = bytes([2]) if flexible else struct.pack(">i", 1)
    instance = text("i-1", flexible=flexible) if version >= 3 else b""
    member = (
        text("m-1", flexible=flexible) + instance + text("shop", flexible=flexible)
        + text("/10.0.0.1", flexible=flexible)
        + (struct.pack(">i", 300) if version >= 1 else b"") + struct.pack(">i", 45)
        + blob(SUBSCRIPTION, flexible=flexible) + blob(ASSIGNMENT, flexible=flexible)
        + (b"\0" if flexible else b"")
    )  # fmt: skip
    return (
        struct.pack(">h", version) + text(kind, flexible=flexible) + struct.pack(">i", 3)
        + text("range", flexible=flexible) + text("m-1", flexible=flexible)
        + (struct.pack(">q", 1700) if version >= 2 else b"") + many + member
        + (b"\0" if flexible else b"")
    )  # fmt: skip


@pytest.mark.parametrize("version", range(5))
def test_groups_of_every_version(version: int) -> None:
    instance = "i-1" if version >= 3 else None
    rebalance = 300 if version >= 1 else -1
    member = ClientMember(
        *("m-1", "shop", "/10.0.0.1", instance, 45, rebalance),
        topics=("a", "b"),
        assigned=(Assignment("a", (0, 3)),),
    )
    expected = Group("consumer", 3, "range", (member,))
    assert read_value(Key(GROUP, "app"), group(version)) == expected


def test_a_group_that_isn_t_of_consumers_keeps_its_own_bytes() -> None:
    found = read_value(Key(GROUP, "connect"), group(3, "connect"))
    assert isinstance(found, Group)
    assert [(m.client_id, m.topics, m.assigned) for m in found.members] == [("shop", (), ())]


# --- bytes of a 4.3 broker, and of a 4.3 client of Kafka Streams ----------------------------------

EMPTY_GROUP = b"\0\3\0\0\0\0\0\0\xff\xff\xff\xff\0\0\1\xa2\n\xb11.\0\0\0\0"
NEW = b'\0\0\0\0\0\2\1\0\x08\xe4\xfe\xcf"\x1du"G'
MEMBER = b"\0\0\0\0\nnew-app-1\x0b/127.0.0.1\2\x0eclicks.p.a3e7\1\0\4\x93\xe0\0\1\0\1\0"
ASSIGNED = (
    b"\0\0\0\0\0\2\0\0\0\0\0\2" + ID + b"\5" + struct.pack(">iiii", 0, 1, 2, 3)
    + b"\1\0\x11\5" + struct.pack(">iiii", 2, 2, 2, 2) + b"\1\0"
)  # fmt: skip
STREAMS = b"\0\0\0\0\0\x021^Sa\xa0\x04#V\2\0\4\0\0\0\0\1\x19\2\x15num.standby.replicas\x020\0"
STREAMS_CLIENT = "st-app-5070454a-d5a4-4ad4-b3fb-a5c70c406183-StreamThread-1-consumer"
STREAMS_DATA = (
    b"\0\0\0\0D" + STREAMS_CLIENT.encode() + b"\x0b/127.0.0.1"
    b"\0\4\x93\xe0\0\0\0\0%5070454a-d5a4-4ad4-b3fb-a5c70c406183\xff\1\0"
)


# --- __consumer_offsets decoded in columns: the same as record by record ----------------------


Record = tuple[bytes | None, bytes | None]

GROUP_KEY, MEMBER_KEY = b"\0\2" + text("app"), b"\0\5" + text("app") + text("m-1")
HAS_KEY, NEW_KEY = b"\0\x08" + text("app") + text("m-1"), b"\0\3" + text("app")
AT = datetime(2026, 1, 1)


def batch(records: Sequence[Record]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([key for key, _ in records], pa.binary()),
            pa.array([value for _, value in records], pa.binary()),
            pa.array(range(len(records)), pa.int64()),
            pa.array([AT] * len(records), pa.timestamp("us")),
        ],
        names=["key", "value", "offset", "timestamp"],
    )


def rows(*records: Record) -> list[dict[str, Any]]:
    return [dict(row) for row in rows_of(batch(records)).to_pylist()]


def bare_commit(offset: int, at: int, version: int = 3, metadata: str | None = "") -> bytes:
    flexible = version >= 4
    tags = b"\0" if flexible else b""
    head = struct.pack(">hqi", version, offset, 1) + text(metadata, flexible=flexible)
    return head + struct.pack(">q", at) + tags


ANY = [(v, metadata) for v in (3, 4) for metadata in ("", None, "AgAAAZ-i5Lo=", "x" * 126)]


def test_a_tombstone_keeps_what_its_key_says() -> None:
    (row,) = rows((OFFSET_KEY, None))
    assert (row["kind"], row["group"], row["deleted"]) == ("commit", "app", True)
    assert row["committed"] is row["committed_at"] is None


def test_rows_are_marked_whose_records_can_t_be_read() -> None:
    found = rows(
        (None, commit(3)),
        (b"", commit(3)),
        (OFFSET_KEY, commit(3)[:-1]),
        (OFFSET_KEY, b""),
        (OFFSET_KEY, struct.pack(">h", 9) + commit(4)[2:]),
        (b"\0\x63whatever", b"x"),
        (b"\0\6" + text("app"), b"x"),
        (GROUP_KEY, group(3)[:-9]),
        (OFFSET_KEY, commit(3)),
    )
    assert [row["kind"] for row in found] == [
        *("unreadable", "unreadable", "unreadable", "unreadable", "unknown", "unknown", "other"),
        *("unreadable", "commit"),
    ]
    assert [row["offset"] for row in found] == [*range(9)]


def test_an_empty_batch_and_a_slice_of_a_larger_one() -> None:
    assert rows() == []
    both = batch([(GROUP_KEY, None), (OFFSET_KEY, bare_commit(1, 2)), (OFFSET_KEY, None)])
    (row,) = rows_of(both.slice(1, 1)).to_pylist()
    assert (row["committed"], row["committed_at"], row["offset"]) == (1, 2, 1)


def expected(key: bytes, value: bytes) -> tuple[str, Any]:
    """Kind and content of a record, read by itself."""
    try:
        named = read_key(key)
    except Cut:
        return "unreadable", None
    if named.group is None:
        return "other" if named.kind in (4, 6, 7, *range(9, 32)) else "unknown", None
    try:
        found = read_value(named, value)
    except UnknownVersion:
        return "unknown", None
    except Cut:
        return "unreadable", None
    if isinstance(found, OffsetCommit):
        return "commit", (found.offset, found.committed_at)
    return "metadata", msgspec.json.encode(found).decode()


def test_30_000_random_records_read_as_they_are_one_by_one() -> None:
    draw = random.Random(7)
    keys = [OFFSET_KEY, GROUP_KEY, MEMBER_KEY, HAS_KEY, NEW_KEY, b"\0\6" + text("app"), b"\0\1"]
    good = (
        [commit(v) for v in range(5)]
        + [group(v) for v in range(5)]
        + [bare_commit(2**62, -1, v, m) for v, m in [*ANY, (3, "x" * 300)]]
    )
    checked = 0
    for _ in range(30):
        drawn = [(mutated(draw, draw.choice(keys), 0.1), mutated(draw, draw.choice(good), 0.7))
                 for _ in range(1000)]  # fmt: skip
        for (key, value), row in zip(drawn, rows(*drawn), strict=True):
            kind, content = expected(key, value)
            if row["kind"] == "commit" and kind == "unreadable":
                continue  # metadata that isn't UTF-8: in columns nobody looks at it
            kinds = ("classic", "group", "member", "assignment")
            assert row["kind"] in (kinds if kind == "metadata" else (kind,)), (key, value)
            if kind == "commit":
                assert (row["committed"], row["committed_at"]) == content, (key, value)
            assert row["details"] == (content if kind == "metadata" else None)
            checked += 1
    assert checked > 28_500


def mutated(draw: random.Random, data: bytes, share: float) -> bytes:
    """The same bytes, or cut off, or some of them changed."""
    if draw.random() > share:
        return data
    found = bytearray(data if draw.random() < 0.5 else data[: draw.randrange(len(data) + 1)])
    for _ in range(draw.randrange(4) if found else 0):
        found[draw.randrange(len(found))] = draw.randrange(256)
    return bytes(found)


HOST = "/127.0.0.1"
CLASSIC = ClientMember(
    "m-1", "shop", "/10.0.0.1", "i-1", 45, 300, ("a", "b"), (Assignment("a", (0, 3)),)
)
OF_TOPIC = (Assignment(TOPIC_ID, (0, 1, 2, 3)),)
NEW_ONE = ClientMember("m-1", "new-app-1", HOST, None, -1, 300_000, ("clicks.p.a3e7",), OF_TOPIC)
STREAMS_ONE = ClientMember("m-1", STREAMS_CLIENT, HOST, None, -1, 300_000, (), ())
STREAMS_KEYS = b"\0\x13" + text("app") + text("m-1"), b"\0\x11" + text("app")


@pytest.mark.parametrize(
    ("records", "details"),
    [
        ([(GROUP_KEY, group(3))], ClientDetails("app", "classic", 3, "range", (CLASSIC,))),
        ([(GROUP_KEY, EMPTY_GROUP)], ClientDetails("app", "classic", 0, None, ())),
        (
            [(HAS_KEY, ASSIGNED), (MEMBER_KEY, MEMBER), (NEW_KEY, NEW)],
            ClientDetails("app", "consumer", 2, None, (NEW_ONE,)),
        ),
        (
            [(b"\0\x17", b"\0\0"), *zip(STREAMS_KEYS, (STREAMS_DATA, STREAMS), strict=True)],
            ClientDetails("app", "streams", 2, None, (STREAMS_ONE,)),
        ),
    ],
)
def test_a_group_is_put_together_from_its_records(records, details) -> None:
    found = rows(*records)
    assert ClientDetails.of("app", found) == details
    assert msgspec.json.decode(msgspec.json.encode(details), type=ClientDetails) == details
    assert ClientDetails.of("app", found[:-1]) is None  # its own record is missing

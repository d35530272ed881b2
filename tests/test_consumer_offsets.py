"""``__consumer_offsets`` decoded in columns: the same as record by record, whatever comes."""

import random
import struct
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec
import pyarrow as pa
from test_group_records import (
    ASSIGNED,
    MEMBER,
    NEW,
    OFFSET_KEY,
    STREAMS,
    STREAMS_CLIENT,
    STREAMS_DATA,
    TOPIC_ID,
    commit,
    group,
    text,
)

from workbook.sources.consumer_offsets import rows_of
from workbook.streams.events.binary import Cut
from workbook.streams.events.client_details import Assignment, ClientDetails
from workbook.streams.events.group_records import (
    OffsetCommit,
    UnknownVersion,
    read_key,
    read_value,
)

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


# --- commits --------------------------------------------------------------------------------------


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


def test_100_000_random_records_read_as_they_are_one_by_one() -> None:
    draw = random.Random(7)
    keys = [OFFSET_KEY, GROUP_KEY, MEMBER_KEY, HAS_KEY, NEW_KEY, b"\0\6" + text("app"), b"\0\1"]
    good = (
        [commit(v) for v in range(5)]
        + [group(v) for v in range(5)]
        + [bare_commit(2**62, -1, v, m) for v, m in [*ANY, (3, "x" * 300)]]
    )
    checked = 0
    for _ in range(100):
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
    assert checked > 95_000


def mutated(draw: random.Random, data: bytes, share: float) -> bytes:
    """The same bytes, or cut off, or some of them changed."""
    if draw.random() > share:
        return data
    found = bytearray(data if draw.random() < 0.5 else data[: draw.randrange(len(data) + 1)])
    for _ in range(draw.randrange(4) if found else 0):
        found[draw.randrange(len(found))] = draw.randrange(256)
    return bytes(found)


# --- groups ---------------------------------------------------------------------------------------


def parts(*records: Record) -> list[dict[str, Any]]:
    return [row for row in rows(*records) if row["kind"] != "commit"]


def test_a_classic_group_s_details() -> None:
    details = ClientDetails.of("app", parts((GROUP_KEY, group(3))))
    assert details is not None
    assert (details.protocol, details.generation, details.assignor) == ("classic", 3, "range")
    (member,) = details.members
    assert (member.client_id, member.host, member.topics) == ("shop", "/10.0.0.1", ("a", "b"))
    assert member.assigned == (Assignment("a", (0, 3)),)
    assert msgspec.json.decode(msgspec.json.encode(details), type=ClientDetails) == details


def test_a_group_of_the_new_protocol_is_put_together_from_its_records() -> None:
    found = parts((HAS_KEY, ASSIGNED), (MEMBER_KEY, MEMBER), (NEW_KEY, NEW))
    assert ClientDetails.of("app", found[:2]) is None  # its own record is missing
    details = ClientDetails.of("app", found)
    assert details is not None
    assert (details.protocol, details.generation) == ("consumer", 2)
    assert [(m.client_id, m.topics) for m in details.members] == [("new-app-1", ("clicks.p.a3e7",))]
    assert details.members[0].assigned == (Assignment(TOPIC_ID, (0, 1, 2, 3)),)


def test_a_group_of_kafka_streams_is_put_together_from_its_records() -> None:
    member = b"\0\x13" + text("app") + text("m-1")
    group = (b"\0\x11" + text("app"), STREAMS)
    details = ClientDetails.of("app", parts((member, STREAMS_DATA), group, (b"\0\x17", b"\0\0")))
    assert details is not None
    assert (details.protocol, details.generation) == ("streams", 2)
    assert [m.client_id for m in details.members] == [STREAMS_CLIENT]

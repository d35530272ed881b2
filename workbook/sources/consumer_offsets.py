"""Decodes ``__consumer_offsets``, in which a broker keeps what groups have committed.

The formats are those of ``events.group_records``. Keys are decoded once each, since few groups
commit again and again; commits column by column, since nearly all records are commits.
"""

from functools import lru_cache

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.streams.events.binary import Cut
from workbook.streams.events.group_records import (
    GROUP,
    NEW_ASSIGNMENT,
    NEW_GROUP,
    NEW_MEMBER,
    SILENT,
    STREAMS_GROUP,
    STREAMS_MEMBER,
    OffsetCommit,
    UnknownVersion,
    read_key,
    read_value,
)

SCHEMA = (
    "kind STRING, group STRING, topic STRING, partition INT, committed BIGINT, "
    "committed_at BIGINT, member STRING, details STRING, deleted BOOLEAN, offset BIGINT, "
    "timestamp TIMESTAMP"
)

COMMIT, OTHER, UNKNOWN, UNREADABLE = "commit", "other", "unknown", "unreadable"

METADATA = {
    GROUP: "classic",
    NEW_GROUP: "group",
    NEW_MEMBER: "member",
    NEW_ASSIGNMENT: "assignment",
    STREAMS_GROUP: "group",
    STREAMS_MEMBER: "member",
}
"""The kinds of rows that describe a group. One that changes its protocol is deleted first."""

Numbers = npt.NDArray[np.int64]


def decode(raw: DataFrame) -> DataFrame:
    """Read the records of ``__consumer_offsets``; no row is dropped, and none is fatal.

    In: key, value, offset and timestamp, as Spark's Kafka source has them. Out, by ``kind``:

    - ``commit``: group, topic, partition, the offset to read next (``committed``) and when it was
      committed (``committed_at``, ms);
    - ``classic``, or for the new protocols ``group``, ``member``, ``assignment``: group, ``member``
      (empty where it's about the whole group), and the record's fields as JSON (``details``);
    - ``other``: known, but it says nothing about who reads what;
    - ``unknown``: of a kind or a version that ``events.group_records`` doesn't read;
    - ``unreadable``: cut off, or no such record at all.

    ``deleted`` marks tombstones; ``offset`` and ``timestamp`` are the record's own.
    """
    needed = raw.select("key", "value", "offset", "timestamp")
    cores = raw.sparkSession.sparkContext.defaultParallelism
    return needed.coalesce(cores).mapInArrow(lambda batches: map(rows_of, batches), SCHEMA)


def rows_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Decode one batch, as ``decode`` does."""
    keys = batch.column("key").dictionary_encode()
    named = pa.array([_named(key) for key in keys.dictionary.to_pylist()], _NAMED).take(
        keys.indices
    )
    kind, group, topic, partition, member = named.flatten()
    kind = kind.fill_null(UNREADABLE)
    value = batch.column("value")
    commits = pc.and_(pc.equal(kind, COMMIT), value.is_valid())
    known, committed, committed_at = _commits(value, np.flatnonzero(commits))
    details: list[str | None] = [None] * len(batch)
    kinds: list[str] = []
    for row in _others(kind, value, known):
        found = _value(batch.column("key")[row].as_py(), value[row].as_py())
        if isinstance(found, OffsetCommit):
            committed[row], committed_at[row], known[row] = found.offset, found.committed_at, True
        elif found in (UNKNOWN, UNREADABLE):
            kinds = kinds or kind.to_pylist()
            kinds[row] = found
        else:
            details[row] = found
    return pa.RecordBatch.from_arrays(
        [
            pa.array(kinds, pa.string()) if kinds else kind,
            *(group, topic, partition),
            pa.array(committed, mask=~known),
            pa.array(committed_at, mask=~known),
            member,
            pa.array(details, pa.string()),
            value.is_null(),
            *(batch.column("offset"), batch.column("timestamp")),
        ],
        names=[field.split()[0] for field in SCHEMA.split(", ")],
    )


# --- keys ---------------------------------------------------------------------------------------

_NAMED = pa.struct(
    [
        *((name, pa.string()) for name in ("kind", "group", "topic")),
        *(("partition", pa.int32()), ("member", pa.string())),
    ]
)


@lru_cache(maxsize=100_000)
def _named(key: bytes) -> dict[str, object]:
    """Return what a key says: the kind of its row, group, topic, partition and member."""
    try:
        found = read_key(key)
    except Cut:
        return {"kind": UNREADABLE}
    if found.kind in METADATA:
        return {"kind": METADATA[found.kind], "group": found.group, "member": found.member or ""}
    other = OTHER if found.kind in SILENT else UNKNOWN
    return {**found._asdict(), "kind": COMMIT if found.kind == 1 else other}


# --- values -------------------------------------------------------------------------------------


def _others(kind: pa.StringArray, value: pa.BinaryArray, known: npt.NDArray[np.bool_]) -> Numbers:
    """Return the rows whose values are to be read one by one."""
    wanted = pc.is_in(kind, value_set=pa.array([COMMIT, *dict.fromkeys(METADATA.values())]))
    asked = pc.and_(wanted, value.is_valid()).to_numpy(zero_copy_only=False)
    return np.flatnonzero(asked & ~known)


def _value(key: bytes, value: bytes) -> OffsetCommit | str:
    """Read a value: a commit, the JSON of another record, or the kind of what can't be read."""
    try:
        found = read_value(read_key(key), value)
    except UnknownVersion:
        return UNKNOWN
    except Cut:
        return UNREADABLE
    return found if isinstance(found, OffsetCommit) else msgspec.json.encode(found).decode()


def _commits(
    values: pa.BinaryArray, rows: Numbers
) -> tuple[npt.NDArray[np.bool_], Numbers, Numbers]:
    """Read the commits of versions 3 and 4 at once: which rows, their offsets and times.

    Version 3 is: the version (2 bytes), the offset (8), the leader's epoch (4), metadata with its
    length (2), the time (8). In version 4 the length takes one byte (for up to 126), and tags
    follow: none (one byte, 0), or a topic id (1, 0, 16 and 16 bytes). The metadata isn't looked at.
    """
    known = np.zeros(len(values), np.bool_)
    committed, committed_at = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
    bounds = np.frombuffer(values.buffers()[1], np.int32)[values.offset :][: len(values) + 1]
    begins, lengths = bounds[:-1][rows].astype(np.int64), np.diff(bounds)[rows]
    long = lengths >= _SHORTEST
    rows, begins, lengths = rows[long], begins[long], lengths[long].astype(np.int64)
    if not len(rows):
        return known, committed, committed_at
    data = np.frombuffer(values.buffers()[2], np.uint8)
    version, size = _number(data, begins, ">i2"), _number(data, begins + 14, ">i2")
    compact = data[begins + 14].astype(np.int64)
    at = np.where(version == 3, 16 + np.maximum(size, 0), 15 + np.maximum(compact - 1, 0))
    fits = (version == 3) & (size >= -1) & (lengths == at + 8)
    tags = lengths - at - 8
    tag = data[np.minimum(begins + at + 8, begins + lengths - 1)]
    fits |= (version == 4) & (compact < 0x80) & (tags == 1) & (tag == 0)
    with_id = np.flatnonzero((version == 4) & (compact < 0x80) & (tags == _ID_TAG))
    heads = _slices(data, (begins + at + 8)[with_id], 3)
    fits[with_id] = (heads == np.array([1, 0, 16], np.uint8)).all(axis=1)
    rows, begins, at = rows[fits], begins[fits], at[fits]
    known[rows] = True
    committed[rows] = _number(data, begins + 2, ">i8")
    committed_at[rows] = _number(data, begins + at, ">i8")
    return known, committed, committed_at


_SHORTEST, _ID_TAG = 24, 19
"""Bytes of a commit without metadata and tags, and of the tags with a topic id."""


def _number(data: npt.NDArray[np.uint8], begins: Numbers, kind: str) -> Numbers:
    """Return the number that begins at each place."""
    found = _slices(data, begins, np.dtype(kind).itemsize)
    return found.view(kind)[:, 0].astype(np.int64)


def _slices(data: npt.NDArray[np.uint8], begins: Numbers, size: int) -> npt.NDArray[np.uint8]:
    return data[begins[:, None] + np.arange(size)]

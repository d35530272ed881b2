"""A bucket of state as Spark calls it: what it keeps, and when it wants to be woken."""

from __future__ import annotations

from typing import Any

from pyspark.sql import Row

from workbook.tables.processor import WAKE_MS, Bucket, Came, Left


class Value:
    """A value of Spark's state store."""

    def __init__(self) -> None:
        self.kept: tuple[bytes] | None = None
        self.updates = 0

    def get(self) -> tuple[bytes] | None:
        return self.kept

    def update(self, value: tuple[bytes]) -> None:
        self.kept, self.updates = value, self.updates + 1

    def clear(self) -> None:
        self.kept = None


class Map:
    """A map of Spark's state store."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def getValue(self, key: tuple[str]) -> tuple[bytes] | None:  # noqa: N802
        return (self.kept[key[0]],) if key[0] in self.kept else None

    def updateValue(self, key: tuple[str], value: tuple[bytes]) -> None:  # noqa: N802
        self.kept[key[0]] = value[0]

    def removeKey(self, key: tuple[str]) -> None:  # noqa: N802
        del self.kept[key[0]]


class Handle:
    """Spark's side of a bucket, and its clock."""

    def __init__(self) -> None:
        self.value, self.map, self.timers, self.now = Value(), Map(), list[int](), 0

    def getValueState(self, name: str, schema: str) -> Value:  # noqa: N802
        return self.value

    def getMapState(self, name: str, key: str, value: str) -> Map:  # noqa: N802
        return self.map

    def listTimers(self) -> Any:  # noqa: N802
        return iter(list(self.timers))

    def registerTimer(self, at: int) -> None:  # noqa: N802
        self.timers.append(at)

    def getCurrentProcessingTimeInMs(self) -> int:  # noqa: N802
        return self.now


def appended(came: Came) -> Left:
    """Keep what came, until it says that all goes; emit the time of waking."""
    if b"gone" in came.packs:
        return Left(None, {}, ["whole"], [(0, b"")])
    before = came.read("whole") if came.tables else b""
    whole = before + b"".join(came.packs)
    return Left(b"list", {"whole": whole}, [], [(0, b"%d" % came.now)])


def started(handle: Any, *, waking: bool) -> Bucket:
    bucket = Bucket(appended, waking=waking)
    bucket.init(handle)
    return bucket


def came(bucket: Bucket, handle: Handle, *packs: bytes) -> list[Row]:
    return list(bucket.handleInputRows((0,), iter([Row(rows=pack) for pack in packs]), handle))


def test_what_is_gone_is_not_kept() -> None:
    handle = Handle()
    bucket = started(handle, waking=False)
    came(bucket, handle, b"a", b"b")
    came(bucket, handle, b"c")
    assert handle.map.kept == {"whole": b"abc"}
    assert handle.value.kept == (b"list",)
    assert handle.value.updates == 1, "a list that is as before is not written again"
    came(bucket, handle, b"gone")
    assert handle.value.kept is None
    assert handle.map.kept == {}
    assert handle.timers == []


def test_a_waking_bucket_has_one_timer_whatever_comes() -> None:
    handle = Handle()
    bucket = started(handle, waking=True)
    came(bucket, handle, b"a")
    handle.now = 1_000
    came(bucket, handle, b"b")
    assert handle.timers == [WAKE_MS]
    handle.now = WAKE_MS + 7
    handle.timers.clear()  # as Spark does with one that has expired
    assert list(bucket.handleExpiredTimer((0,), handle, None)) == [
        Row(bucket=0, rows=b"%d" % handle.now)
    ]
    assert handle.timers == [handle.now + WAKE_MS]
    assert handle.map.kept == {"whole": b"ab"}

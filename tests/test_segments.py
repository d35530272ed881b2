"""Tables in segments against a plain dictionary: whatever is written, merged, expired, reopened."""

import random
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from workbook.tables import segments, state
from workbook.tables.segments import Keyed, Segments
from workbook.tables.state import closed, opened

SCHEMA = {"key": pl.String, "part": pl.Int64, "due": pl.Int64, "offset": pl.Int64}
KEYED = Keyed(("key",), also=("part",), expires="due", least=("offset",))
ONE_EACH = Keyed(("key",), expires="due", least=("offset",))
Rows = dict[tuple[str | None, int], tuple[int, int]]


def frame(rows: Rows) -> pl.DataFrame:
    data = [(*key, *value) for key, value in rows.items()]
    return pl.DataFrame(data, schema=SCHEMA, orient="row")


def read(found: pl.DataFrame | None) -> Rows:
    rows = [] if found is None else found.select(list(SCHEMA)).rows()
    there = {(key, part): (due, offset) for key, part, due, offset in rows}
    assert len(there) == len(rows), "each row once"
    return there


def another_polars(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """As after an upgrade: the same rows have other hashes."""

    def hashes(frame: pl.DataFrame, by: Sequence[str]) -> Any:
        return frame.select(by).hash_rows(seed=seed).to_numpy()

    monkeypatch.setattr(pl, "__version__", f"9.{seed}")
    monkeypatch.setattr(segments, "_hashes", hashes)
    state._copies.clear()


def one_hash_for_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """As once in 2⁶⁴ times: two keys have the same hash."""
    hashes = segments._hashes
    monkeypatch.setattr(segments, "_hashes", lambda frame, by: hashes(frame, by) % 4)


class Bucket:
    """What a bucket has in Spark's state store."""

    def __init__(self, keyed: Keyed = KEYED) -> None:
        self.keyed = keyed
        self.list: bytes | None = None
        self.store: dict[str, bytes] = {}
        self.written: list[int] = []

    def open(self) -> Segments:
        return opened("bucket", self.list, {"rows": self.keyed}, self.store.__getitem__)["rows"]

    def close(self, table: Segments) -> None:
        self.list, stored, removed = closed("bucket", {"rows": table})
        self.written.append(sum(map(len, stored.values())) + len(self.list or b""))
        self.store |= stored
        for name in removed:
            self.store.pop(name, None)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for module in (segments, state):
        monkeypatch.setattr(module, "YOUNG_ROWS", 3)
    monkeypatch.setattr(state, "LARGE_ROWS", 8)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path))
    monkeypatch.setattr(state, "_copies", state._copies.copy())


@pytest.mark.parametrize("seed", range(100))
def test_it_is_a_dictionary(seed: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    draw = random.Random(seed)
    parts = draw.choice([1, 3])
    bucket, truth, clock = Bucket(KEYED if parts > 1 else ONE_EACH), Rows(), 0
    if draw.random() < 0.4:
        one_hash_for_some(monkeypatch)
    for _ in range(draw.randint(1, 40)):
        if draw.random() < 0.1:
            state._copies.clear()  # as in another worker
        if draw.random() < 0.1:
            monkeypatch.setenv("SPARK_LOCAL_DIRS", draw.choice(["", str(tmp_path / "other")]))
        if draw.random() < 0.05:
            another_polars(monkeypatch, draw.randrange(1000))
        table = bucket.open()
        for _ in range(draw.randint(0, 3)):
            keys = [draw.choice("abcdefghij") if draw.random() < 0.9 else None for _ in range(12)]
            new = {
                (key, draw.randrange(parts)): (clock + draw.randrange(30), draw.randrange(1000))
                for key in keys[: draw.choice([0, 1, 5, 12])]
            }
            gone = draw.sample(sorted(truth, key=str), min(len(truth), draw.choice([0, 0, 1, 6])))
            gone = [key for key in gone if key not in new]
            table.write(frame(new), gone=frame(dict.fromkeys(gone, (0, 0))))
            truth = {key: row for key, row in truth.items() if key not in gone} | new
        asked = {"a", "c", None, draw.choice("defghijkl")}
        wanted = pl.DataFrame({"key": sorted(asked, key=str)}, schema={"key": pl.String})
        assert read(table.of(wanted)) == {k: v for k, v in truth.items() if k[0] in asked}
        if draw.random() < 0.3:
            clock += draw.choice([1, 5, 40])
            due = {key: row for key, row in truth.items() if row[0] < clock}
            assert read(table.expire(clock)) == due
            truth = {key: row for key, row in truth.items() if key not in due}
        if draw.random() < 0.05:
            truth = {("z", 0): (clock, 1)}
            table.replace(frame(truth))
        assert read(table.all()) == truth
        least = table.least("offset")
        assert not truth or (least is not None and least <= min(n for _, n in truth.values()))
        bucket.close(table)
        assert read(bucket.open().all()) == truth
        assert bucket.list is None or set(bucket.store) <= {
            each.name for each in bucket.open().segments
        }


def test_a_batch_costs_what_it_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (segments, state):
        monkeypatch.setattr(module, "YOUNG_ROWS", 256)
    bucket, number, batches = Bucket(), 20_000, 200
    draw = random.Random(1)
    table = bucket.open()
    table.write(frame({(str(n), 0): (draw.randrange(10**9), n) for n in range(number)}))
    bucket.close(table)
    whole = bucket.written.pop()
    for _ in range(batches):
        table = bucket.open()
        some = draw.sample(range(number), 10)
        table.write(frame({(str(n), 0): (draw.randrange(10**9), n) for n in some}))
        bucket.close(table)
        assert len(table.segments) < 12
    assert sorted(bucket.written)[batches // 2] < whole / 50
    assert sum(bucket.written) / batches < whole / 40
    assert read(bucket.open().all()).keys() == {(str(n), 0) for n in range(number)}


def test_what_has_expired_goes_without_being_rewritten() -> None:
    bucket = Bucket()
    for batch in range(60):
        table = bucket.open()
        table.write(frame({(f"{batch}-{n}", 0): (batch, n) for n in range(100)}))
        table.expire(batch - 4)
        bucket.close(table)
        assert len(read(table.all())) == 100 * min(batch + 1, 5)
        assert (
            sum(each.rows for each in table.segments) < 100 * 5 * 5
        )  # what is kept of the dead is bounded


def test_a_bucket_s_copies_are_read_once_and_are_those_that_its_list_names(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def unread(name: str) -> bytes:
        raise AssertionError("expected the copy, not the store")

    bucket, workers = Bucket(), (OrderedDict(), OrderedDict())
    for batch in range(60):
        moved, again = divmod(batch, 7)  # the bucket moves to the other worker, and comes back
        monkeypatch.setattr(state, "_copies", workers[moved % 2])
        monkeypatch.setenv("SPARK_LOCAL_DIRS", str(folder := tmp_path / f"{moved % 2}"))
        if again == 3:
            state._copies.clear()  # as in another process of the worker
        how = unread if again else bucket.store.__getitem__
        table = opened("bucket", bucket.list, {"rows": KEYED}, how)["rows"]
        assert len(read(table.all())) == 20 * batch
        table.write(frame({(f"{batch}-{n}", 0): (0, n) for n in range(20)}))
        if batch == 59:
            table.replace(frame({}))
        bucket.close(table)
        kept = state._copies["bucket"].keys() | {file.stem for file in folder.rglob("*.*")}
        assert kept <= {each.name for each in table.segments}
    assert bucket.list is None


def test_a_copy_that_cannot_be_written_stays_in_memory(monkeypatch, tmp_path) -> None:
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "a-file"))
    monkeypatch.setattr(state, "LARGE_ROWS", 2)
    kept = pl.DataFrame({"key": [1, 2, 3]})
    assert state._keep("bucket", "x", kept).equals(kept)
    assert state._copies["bucket"]["x"].equals(kept)

"""Rows by window in SQLite: what a micro-batch does to them, and what is found later."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.cli.main import main
from workbook.errors import CannotGoOn
from workbook.sinks.store import AHEAD_MS, Store, WindowedStore
from workbook.spark.runner import Batch

NOW = 1_790_000_040_000  # a minute begins
MINUTE = 60_000
Row = tuple[str, int | None, str | None]


def changes(*rows: Row) -> pa.Table:
    """Groups, when they changed, and their details; None where a group is deleted."""
    return pa.table(
        {
            "group": pa.array([group for group, _, _ in rows], pa.string()),
            "changed_at": pa.array([time for _, time, _ in rows], pa.int64()),
            "details": pa.array([details for _, _, details in rows], pa.string()),
            "deleted": pa.array([details is None for _, _, details in rows], pa.bool_()),
        }
    )


def made(path: Path, **more: Any) -> WindowedStore:
    return WindowedStore(path, "group", **{"clock": lambda: NOW, **more})


@pytest.fixture
def store(tmp_path: Path) -> WindowedStore:
    return made(tmp_path / "new" / "windows.db", retention_ms=10 * MINUTE)


def found(store: WindowedStore) -> list[tuple[int, str, str]]:
    """Window (in minutes from NOW), group, details."""
    return [((start - NOW) // MINUTE, row["group"], row["details"]) for start, row in store.all()]


def test_the_steps_of_a_group_are_taken_in_their_order(store: WindowedStore) -> None:
    rows = changes(("a", NOW, "last"), ("a", NOW, "first"))
    store.write(rows.append_column("step", pa.array([1, 0])), Batch("q", 0))
    assert found(store) == [(0, "a", "last")]


def test_each_kind_of_store_wants_a_file_of_its_own(store: WindowedStore) -> None:
    with pytest.raises(CannotGoOn, match=r"to be a Store, but it has the tables windows, w"):
        Store(store.path, "group")
    table = Store(store.path.with_name("store.db"), "group")
    with pytest.raises(CannotGoOn, match="to be a WindowedStore"):
        made(table.path)


@pytest.fixture
def filled(store: WindowedStore) -> WindowedStore:
    store.write(
        changes(*((group, NOW + n * MINUTE, "") for n in range(4) for group in "ba")),
        Batch("q", 0),
    )
    return store


def test_the_command_shows_windows_and_those_of_a_group(filled, capsys) -> None:
    assert main(["store", str(filled.path)]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == {"window": "2026-09-21T14:14:00.000+00:00", "keys": 2}
    assert main(["store", str(filled.path), "a"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line["row"]["changed_at"] for line in lines] == [NOW + n * MINUTE for n in range(4)]
    assert main(["store", str(filled.path), "nobody"]) == 1
    assert "nobody is not in the table (8 rows)" in capsys.readouterr().out


ROWS = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from([None, -1, -(2**63), NOW + AHEAD_MS, NOW + AHEAD_MS + 1])
    | st.integers(NOW - 8 * MINUTE, NOW + 8 * MINUTE),
    st.none() | st.text(max_size=3),
)


def model(batches: list[list[Row]], retention: int) -> dict[tuple[int, str], tuple[int, str]]:
    """The same by a dict, with nothing forgotten before the end of a batch."""
    rows: dict[tuple[int, str], tuple[int, str]] = {}
    for batch in batches:
        for group, time, details in batch:
            if details is None or time is None or not 0 <= time <= NOW + AHEAD_MS:
                continue
            window = (time - time % MINUTE, group)
            if window not in rows or time >= rows[window][0]:
                rows[window] = (time, details)
        newest = max((start for start, _ in rows), default=0)
        rows = {at: row for at, row in rows.items() if at[0] + MINUTE >= newest - retention}
    return rows


@settings(max_examples=60, deadline=None)
@given(
    batches=st.lists(st.lists(ROWS, max_size=6), max_size=5),
    retention=st.integers(0, 6).map(lambda minutes: minutes * MINUTE),
    bounds=st.tuples(*[st.integers(-18, 12).map(lambda n: NOW + n * MINUTE // 2)] * 2),
)
def test_whatever_comes_it_equals_a_dict(batches, retention, bounds) -> None:
    with TemporaryDirectory() as folder:
        store = made(Path(folder) / "windows.db", retention_ms=retention)
        for number, rows in enumerate(batches):
            store.write(changes(*rows), Batch("q", number))
        expected = model(batches, retention)
        rows = [
            (start, row["group"], row["changed_at"], row["details"]) for start, row in store.all()
        ]
        assert rows == [(*at, *expected[at]) for at in sorted(expected)]
        within = [at for at in sorted(expected) if bounds[0] <= at[0] <= bounds[1]]
        assert [(s, row["group"]) for s, row in store.fetch_all(*bounds)] == within
        assert [s for s, _ in store.fetch("a", *bounds)] == [
            s for s, group in within if group == "a"
        ]

"""A table in SQLite, and the same as a compacted topic: what a micro-batch does to them."""

import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest

from workbook.cli.main import main
from workbook.errors import CannotGoOn, NoSuchState
from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_messages
from workbook.sinks.store import Store
from workbook.sinks.topics import TableTopic
from workbook.spark.runner import Batch

Row = tuple[str, list[str] | None]


def changes(*rows: Row) -> pa.Table:
    """Clients and what they hold; None where a client holds nothing any more."""
    return pa.table(
        {
            "client": pa.array([client for client, _ in rows], pa.string()),
            "tickers": pa.array([held for _, held in rows], pa.list_(pa.string())),
            "deleted": pa.array([held is None for _, held in rows], pa.bool_()),
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "new" / "store.db", "client")


def test_rows_come_are_replaced_and_go(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"]), ("Al", ["AAPL", "IBM"])), Batch("query", 0))
    store.write(changes(("Bob", None), ("Al", ["AAPL"]), ("Zoë", ["F"])), Batch("query", 1))
    assert store.get("Al") == {"client": "Al", "tickers": ["AAPL"]}
    assert store.get("Bob") is None
    assert [row["client"] for row in store.all()] == ["Al", "Zoë"]
    assert store.some(1) == [{"client": "Al", "tickers": ["AAPL"]}]
    assert len(store) == 2


def test_a_micro_batch_that_comes_again_is_left_out(store: Store) -> None:
    """Another query empties the table once: not at the repetition of its first micro-batch."""
    store.write(changes(("Al", ["F"])), Batch("query", 0))
    store.write(changes(("Bob", ["IBM"])), Batch("another", 0))
    store.write(changes(("Cy", ["GE"])), Batch("another", 1))
    for number in (0, 1):  # whatever they say this time
        store.write(changes(("Bob", None), ("Di", ["F"])), Batch("another", number))
    assert [row["client"] for row in store.all()] == ["Bob", "Cy"]
    with pytest.raises(CannotGoOn, match="the first 0 only"):
        store.write(changes(("Al", ["F"])), Batch("query", 1))  # its table is not here any more


def test_a_reader_makes_no_file_and_writes_nothing(store: Store) -> None:
    missing = store.path.with_name("missing.db")
    with pytest.raises(NoSuchState, match=r"no file .*missing\.db"):
        Store(missing, "client", reading=True)
    assert not missing.exists()
    reader = Store(store.path, "client", reading=True)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    assert reader.get("Bob") == {"client": "Bob", "tickers": ["IBM"]}


def test_a_store_that_has_missed_a_micro_batch_is_refused(store: Store) -> None:
    with pytest.raises(CannotGoOn, match=r"before 5.*the first 0 only"):
        store.write(changes(("Bob", ["IBM"])), Batch("query", 5))  # as if its file had been deleted
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    with pytest.raises(CannotGoOn, match="fresh checkpoint"):
        store.write(changes(("Bob", None)), Batch("query", 2))
    assert len(store) == 1


def test_a_store_of_another_moment_than_its_checkpoint_is_refused(store: Store) -> None:
    store.resume("", -1, -1)  # nothing has begun
    for number in range(3):
        store.write(changes(("Bob", ["IBM"])), Batch("query", number))
    for committed, planned in ((1, 2), (2, 2), (2, 3)):
        store.resume("query", committed, planned)
    for committed, planned in ((3, 3), (0, 1)):  # one is missing; one would be skipped
        with pytest.raises(CannotGoOn, match="to be of the same run"):
            store.resume("query", committed, planned)
    with pytest.raises(CannotGoOn, match="the store 0"):
        store.resume("another", 2, 3)


def test_a_batch_that_fails_halfway_leaves_nothing(store: Store) -> None:
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    unfit = changes(("Al", ["F"])).append_column("made", pa.array([date(2026, 1, 1)]))
    with pytest.raises(TypeError):
        store.write(unfit, Batch("query", 1))
    assert [row["client"] for row in store.all()] == ["Bob"]
    store.write(changes(("Al", ["F"])), Batch("query", 1))  # was not noted as written
    assert len(store) == 2


def test_a_reader_in_the_middle_keeps_no_writer_waiting(store: Store) -> None:
    with closing(sqlite3.connect(store.path, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM store").fetchone() == (0,)
        store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
        assert reader.execute("SELECT count(*) FROM store").fetchone() == (0,)
    assert len(store) == 1


def test_of_two_writers_of_a_micro_batch_one_waits_and_leaves_it_out(store: Store) -> None:
    """As the former life of a query may still write when the next one begins."""
    store.write(changes(("Bob", ["IBM"])), Batch("query", 0))
    with ThreadPoolExecutor() as pool, closing(sqlite3.connect(store.path)) as former:
        former.execute("BEGIN IMMEDIATE")
        former.execute("UPDATE written SET batch = 1")
        second = pool.submit(store.write, changes(("Al", ["F"])), Batch("query", 1))
        assert not wait([second], timeout=0.3).done
        former.commit()
        second.result(20)
    assert [row["client"] for row in store.all()] == ["Bob"]


def records(broker: Broker, topic: str) -> list[tuple[bytes | None, object]]:
    messages = read_messages(broker.client_config(), topic)
    return [(m.key(), None if m.value() is None else json.loads(m.value())) for m in messages]


def test_the_rows_of_a_micro_batch_are_sent_a_key_s_in_their_order(broker, topic) -> None:
    name = topic("holders").name
    out = TableTopic(broker.client_config(), name, "client")
    rows = changes(("Bob", ["C"]), ("Bob", None), ("Bob", ["B"]), ("Zoë", ["F", "IBM"]))
    out.write(rows.append_column("step", [[2, 0, 1, 0]]), Batch("query", 0))
    assert out.written == 4
    assert records(broker, name) == [
        (b"Bob", None),
        (b"Bob", {"client": "Bob", "tickers": ["B"]}),
        (b"Bob", {"client": "Bob", "tickers": ["C"]}),
        ("Zoë".encode(), {"client": "Zoë", "tickers": ["F", "IBM"]}),
    ]


def test_the_command_shows_a_row_or_all_and_says_what_is_not_there(store, tmp_path, capsys) -> None:
    store.write(changes(("Al", ["F"]), ("Bob", ["IBM"])), Batch("query", 0))
    assert main(["store", str(store.path), "Bob"]) == 0
    assert json.loads(capsys.readouterr().out) == {"client": "Bob", "tickers": ["IBM"]}
    assert main(["store", str(store.path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["client"] for line in lines] == ["Al", "Bob"]
    assert main(["store", str(store.path), "Zoë"]) == 1
    assert "Zoë is not in the table (2 rows)" in capsys.readouterr().out
    (text := tmp_path / "text").write_text("no database at all, but long enough to be looked at")
    for path, why in ((tmp_path / "none.db", "there is no file"), (text, "is no store of a table")):
        assert main(["store", str(path)]) == 1
        assert why in capsys.readouterr().err

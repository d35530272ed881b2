"""``workbook run share_holders`` and ``workbook store``, as a user types them, on real servers."""

import json
import signal
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from confluent_kafka.admin import AdminClient
from labs import end, read_until, until, workbook

from workbook.cli.main import main
from workbook.kafka.broker import Broker
from workbook.sinks.store import Store
from workbook.spark.runner import Batch
from workbook.streams.generators.positions import PositionStream
from workbook.streams.ledgers.tables import TableLedger
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_compacted_topic, new_topic


def judged(expected: pd.DataFrame, rows: list[dict[str, Any]]) -> Any:
    table = pd.DataFrame(rows, columns=["client", "positions", "tickers"])
    return TableLedger(expected).judge(table)


def caught_up(broker: Broker, store: Path, expected: pd.DataFrame) -> None:
    table = Store(store, "client", reading=True)
    until(lambda: judged(expected, table.all()).clean, "the table", 120, every=0.2)


def refused(*words: str) -> str:
    process = workbook("run", "share_holders", *words)
    said, _ = process.communicate(timeout=90)
    assert process.returncode == 1, said
    return said


def test_a_checkpoint_of_another_topic_and_results_of_another_are_refused(
    broker: Broker, tmp_path: Path
) -> None:
    one, two = (new_compacted_topic("positions", "test-run") for _ in range(2))
    broker.create(one, two)
    stream = PositionStream(seed=1, positions=20).ending_by(int(time.time() * 1000), 100)
    for topic in (one, two):
        generate(broker.client_config(), topic.name, stream, 100)
    out, state = f"{one.name}.holders", tmp_path / "state"
    named = ("--in", one.name, "--out", out, "--checkpoint", str(state))
    first = workbook("run", "share_holders", *named)
    read_until(first, "Ask its store meanwhile")
    caught_up(broker, state / "store.db", stream.expected(0, 100))
    end(first, signal.SIGINT)

    before = sorted(path for path in state.rglob("*") if path.is_file())
    said = refused("--in", two.name, "--checkpoint", str(state))
    assert f"reads: made for {one.name} (" in said
    assert f"came {two.name} (" in said
    assert "Starting Spark" not in said
    assert sorted(path for path in state.rglob("*") if path.is_file()) == before
    said = refused("--in", one.name, "--out", out, "--checkpoint", str(tmp_path / "new"))
    assert f"Expected {out} to be empty" in said
    clicks = new_topic("clicks", "test-run")
    broker.create(clicks)
    said = refused("--in", one.name, "--out", clicks.name, "--checkpoint", str(tmp_path / "new"))
    assert f"Expected {clicks.name!r} to be compacted" in said
    remade(broker, one)
    said = refused("--in", one.name, "--checkpoint", str(state))
    assert f"reads: made for {one.name} (" in said
    assert f"came {one.name} (" in said  # its name is the same


def remade(broker: Broker, topic: Topic) -> None:
    """The topic deleted, and created again under its name."""
    admin, name = AdminClient(broker.client_config()), topic.name
    admin.delete_topics([name])[name].result()
    until(lambda: name not in admin.list_topics(timeout=10).topics, "its end", 60)
    broker.create(topic)


# --- the store, asked -------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Path:
    import pyarrow as pa

    rows = {"client": ["Al", "Bob"], "tickers": [["F"], ["IBM"]], "deleted": [False, False]}
    path = tmp_path / "store.db"
    Store(path, "client").write(pa.table(rows), Batch("query", 0))
    return path


def test_a_store_is_asked_for_a_row_and_for_all(store: Path, capsys: Any) -> None:
    assert main(["store", str(store), "Bob"]) == 0
    assert json.loads(capsys.readouterr().out) == {"client": "Bob", "tickers": ["IBM"]}
    assert main(["store", str(store)]) == 0
    assert [json.loads(line)["client"] for line in capsys.readouterr().out.splitlines()] == [
        "Al",
        "Bob",
    ]


def test_what_is_not_there_is_said(store: Path, tmp_path: Path, capsys: Any) -> None:
    assert main(["store", str(store), "Zoë"]) == 1
    assert "Zoë is not in the table (2 rows)" in capsys.readouterr().out
    assert main(["store", str(tmp_path / "none.db")]) == 1
    assert "there is no file" in capsys.readouterr().err
    (tmp_path / "text").write_text("no database at all, but long enough to be looked at")
    assert main(["store", str(tmp_path / "text")]) == 1
    assert "is no store of a table" in capsys.readouterr().err

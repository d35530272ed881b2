"""The judge of the table of groups that was killed sees what is wrong in stores and topic."""

import secrets
import sqlite3
from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from brokers import commit

from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.active_groups import COLUMNS
from workbook.crashlab.crashes.base import Filled, Outputs
from workbook.crashlab.report import Outcome
from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.sinks.store import MINUTE_MS, Store, WindowedStore, row_json
from workbook.sinks.topics import TableTopic
from workbook.spark.runner import Batch
from workbook.streams.ledgers.groups import GroupsVerdict
from workbook.topics import compacted

NOW = 1_700_000_040_000
SCHEMA = pa.schema(
    {
        "group": pa.string(),
        "details": pa.string(),
        "offsets": pa.list_(
            pa.struct({"topic": pa.string(), "partition": pa.int32(), "offset": pa.int64()})
        ),
        "changed_at": pa.int64(),
        "deleted": pa.bool_(),
    }
)


class Run:
    """What a run leaves: ``a`` and ``b`` have committed 3, ``gone`` was there and is deleted."""

    def __init__(self, broker: Broker, checkpoint: Path) -> None:
        self.config, self.checkpoint = broker.client_config(), checkpoint
        self.topic = f"judged-{secrets.token_hex(4)}"
        self.out = f"{self.topic}.results"
        broker.create(compacted(self.topic), compacted(self.out))
        for name in "ab":
            commit(self.config, f"{self.topic}.{name}", self.topic, 3)
        sinks = (
            TableTopic(self.config, self.out, "group"),
            Store(checkpoint / "groups.db", "group"),
            WindowedStore(checkpoint / "windows.db", "group"),
        )
        gone = {"group": f"{self.topic}.gone", "changed_at": NOW, "deleted": True}
        batches = (
            [self.row("a", 1), self.row("b", 2), self.row("gone", 2)],
            [self.row("a", 3, MINUTE_MS), self.row("b", 3), gone, self.row("other", 9, of="not")],
        )
        for number, rows in enumerate(batches):
            for sink in sinks:
                sink.write(pa.Table.from_pylist(rows, SCHEMA), Batch("query", number))

    def row(self, name: str, offset: int, later: int = 0, of: str = "") -> dict[str, Any]:
        """The row of a group that has committed this offset."""
        return {
            "group": f"{of or self.topic}.{name}",
            "details": None,
            "offsets": [{"topic": self.topic, "partition": 0, "offset": offset}],
            "changed_at": NOW + later,
            "deleted": False,
        }

    def judged(self) -> GroupsVerdict:
        rows = [(f"{self.topic}.{name}", self.topic, 0, 3, False) for name in "ab"]
        filled, options = Filled(2, pd.DataFrame(rows, columns=COLUMNS)), Namespace(out=self.out)
        crashes = CRASHES["active_groups"]
        verdict = crashes.judge(filled, Outputs(self.config, options, self.checkpoint))
        assert isinstance(verdict, GroupsVerdict)
        outcome = Outcome("active_groups", crashes.variant(None), 7, (), verdict)
        assert outcome.kept == verdict.clean
        return verdict

    def send(self, name: str, row: dict[str, Any] | None) -> None:
        """One more record into the topic, or a tombstone."""
        value = None if row is None else written(row).encode()
        with DeliveringProducer(self.config, self.out) as producer:
            producer.produce(value, f"{self.topic}.{name}".encode())

    def change(self, file: str, statement: str, *values: object) -> None:
        """Tamper with a file."""
        with closing(sqlite3.connect(self.checkpoint / file)) as connection, connection:
            assert connection.execute(statement, values).rowcount == 1


def written(row: dict[str, Any]) -> str:
    """A row as the sinks write it."""
    return row_json({name: each for name, each in row.items() if name != "deleted"})


def test_what_is_right_passes_and_what_is_wrong_is_found(broker: Broker, tmp_path: Path) -> None:
    run = Run(broker, tmp_path)
    assert list(run.judged().counts) == list(CRASHES["active_groups"].variant(None).promises or ())

    def found() -> dict[str, list[str]]:
        verdict = run.judged()
        anomalies = {name: getattr(verdict, name) for name, n in verdict.counts.items() if n}
        return {n: [g.rpartition(".")[2] for g in of["group"]] for n, of in anomalies.items()}

    assert found() == {}
    run.send("gone", run.row("gone", 2))  # a deleted group is back in the topic
    assert found() == {"unpublished": ["gone"]}
    a_newest = "DELETE FROM windows WHERE start = ? AND key LIKE '%.a'"
    run.change("windows.db", a_newest, NOW + MINUTE_MS)
    assert found() == {"unpublished": ["gone"], "outdated": ["a"]}
    older = written(run.row("b", 2))
    run.change("groups.db", "UPDATE store SET value = ? WHERE key LIKE '%.b'", older)
    assert found() == {
        **{"stale": ["b"], "differing": ["b"]},
        **{"unpublished": ["b", "gone"], "outdated": ["a", "b"]},
    }

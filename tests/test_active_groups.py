"""Who reads what, from the broker's own records: the table equals what the admin client answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pandas as pd
import pytest
from brokers import commit as commit_offset
from confluent_kafka.admin import AdminClient
from labs import until
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from test_group_records import OFFSET_KEY, commit

from workbook.kafka.application import Application, stop_all
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import committed_by
from workbook.kafka.producer import DeliveringProducer
from workbook.pipelines.active_groups import active_groups
from workbook.sinks.store import Store, WindowedStore
from workbook.sources.consumer_offsets import decode
from workbook.sources.kafka import assigned_stream
from workbook.spark.runner import OnPoint, start_query
from workbook.streams.events.client_details import ClientDetails
from workbook.streams.generators.groups import GroupWorkload
from workbook.streams.ledgers.groups import judge
from workbook.systems.active_groups import ActiveGroups
from workbook.systems.base import Job
from workbook.topics import CONSUMER_OFFSETS, Topic

NOTHING = {"topic": "", "partition": -1, "offset": -1}

COLUMNS = ["group", "topic", "partition", "offset", "described"]


class Table:
    """A running table of active groups, and its stores."""

    def __init__(self, spark: SparkSession, broker: Broker, folder: Path) -> None:
        raw = assigned_stream(spark, broker, CONSUMER_OFFSETS)
        groups = active_groups(decode(raw)).withColumn("details", F.col("details").cast("string"))
        self.store = Store(folder / "groups.db", "group")
        self.windows = WindowedStore(folder / "windows.db", "group")
        self.query = start_query(groups, [self.store, self.windows], folder / "checkpoint")

    def rows(self, prefix: str) -> pd.DataFrame:
        """A row per group and partition, as the ledger wants them."""
        return observed_in(self.store, prefix)

    def members(self, group: str) -> list[str] | None:
        """The client ids of a group's members; None for a group that isn't known."""
        row = self.store.get(group)
        if row is None or row["details"] is None:
            return None
        return [
            member.client_id
            for member in msgspec.json.decode(row["details"], type=ClientDetails).members
        ]


def observed_in(store: Store, prefix: str) -> pd.DataFrame:
    """A row per group and partition in a store, of the groups whose names begin with ``prefix``."""
    found = [
        (row["group"], at["topic"], at["partition"], at["offset"], bool(row["details"]))
        for row in store.all()
        if row["group"].startswith(prefix)
        for at in row["offsets"] or [NOTHING]
    ]
    return pd.DataFrame(found, columns=COLUMNS)


@pytest.fixture
def table(spark: SparkSession, broker: Broker, tmp_path: Path) -> Iterator[Table]:
    broker.create(Topic("somebody-reads", 1))
    with Application(broker.client_config(), "somebody", "somebody-reads"):
        until(lambda: _exists(broker), "the topic of committed offsets")
    made = Table(spark, broker, tmp_path)
    yield made
    made.query.stop()
    stop_all()


def _exists(broker: Broker) -> bool:
    return CONSUMER_OFFSETS in AdminClient(broker.client_config()).list_topics(timeout=30).topics


def test_it_equals_the_admin_client_s_answer(broker: Broker, table: Table) -> None:
    topic = Topic("read-by-many", 3)
    broker.create(topic)
    expected = GroupWorkload(broker.client_config(), topic.name, 3, 1, groups=25, rounds=4).run()
    table.query.process_all()
    observed = table.rows(f"{topic.name}.")
    groups = sorted({*expected["group"], *observed["group"]})
    found = judge(expected, observed, committed_by(broker.client_config(), groups))
    assert found.clean, str(found)
    assert expected["group"].nunique() == 20
    assert found.observed > 35


def test_a_group_whose_newest_commit_goes_is_corrected_in_its_windows(broker, table) -> None:
    """Its other commit is older than what stood in the window before."""
    group, config = "corrected", broker.client_config()
    for name in ("early", "late"):
        broker.create(Topic(f"{group}.{name}", 1))
        commit_offset(config, group, f"{group}.{name}", 3)
    until(lambda: read(table.store.get(group)) == ["early", "late"], "both commits")
    before = table.store.get(group)
    assert before is not None
    admin = AdminClient(config)
    admin.delete_topics([f"{group}.late"])[f"{group}.late"].result(60)
    until(lambda: read(table.store.get(group)) == ["early"], "the late one to go")
    table.query.process_all()
    after = table.store.get(group)
    assert after is not None
    assert after["changed_at"] > before["changed_at"]
    assert table.windows.fetch(group, 0, 2**62)[-1][1] == after


def read(row: dict[str, Any] | None) -> list[str]:
    """The ends of the names of what a group has committed."""
    return [each["topic"].rpartition(".")[2] for each in row["offsets"]] if row else []


def test_records_that_nobody_can_read_are_counted_and_left_out(spark, broker, tmp_path) -> None:
    copy = Topic("offsets-with-bad-ones", 2)
    broker.create(copy)
    with DeliveringProducer(broker.client_config(), copy.name) as producer:
        for value, key in (
            (commit(4), OFFSET_KEY), (commit(3)[:-1], OFFSET_KEY), (b"", OFFSET_KEY), (b"x", None),
            (b"\0\x09" + commit(4)[2:], OFFSET_KEY), (b"x", b"\0\x63new"), (None, b"\0\6"),
        ):  # fmt: skip
            producer.produce(value, key)
    system = ActiveGroups()
    options = system.options(["--in", copy.name])
    started = system.start(Job(spark, broker, options, tmp_path / "checkpoint", OnPoint()))
    with started.running:
        started.running.process_all()
        until(lambda: started.running.progress.messages == 7, "the progress of its micro-batches")
    said = str(started.running.progress)
    assert "1 group, 1 unknown" in said
    assert "2 unknown records, 3 unreadable records" in said

"""Who reads what, from the broker's own records: the table equals what the admin client answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from brokers import commit as commit_offset
from confluent_kafka.admin import AdminClient
from labs import until
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from test_consumer_offsets import bare_commit
from test_group_records import OFFSET_KEY, commit, text

from workbook.kafka.application import Application, stop_all
from workbook.kafka.end_sampler import EndSampler
from workbook.kafka.groups import Dashboard
from workbook.kafka.lag import EndSamples
from workbook.kafka.offsets import committed_by
from workbook.kafka.producer import DeliveringProducer
from workbook.pipelines.active_groups import _active, active_groups
from workbook.sinks.store import CachedStore, Store
from workbook.sinks.windowed_store import WindowedStore
from workbook.sources.consumer_offsets import decode
from workbook.sources.kafka import assigned_stream
from workbook.spark.runner import OnPoint, start_query
from workbook.stack import jars
from workbook.stack.broker import Broker
from workbook.stack.kafka_tools import consumer_groups
from workbook.streams.events.client_details import from_json, to_json
from workbook.streams.events.group_health import commits_alone, last_commit
from workbook.streams.generators.groups import GroupWorkload
from workbook.streams.ledgers.groups import GroupsVerdict, judge
from workbook.systems.active_groups import ActiveGroups
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
        found = [
            (row["group"], at["topic"], at["partition"], at["offset"], bool(row["details"]))
            for row in self.store.all()
            if row["group"].startswith(prefix)
            for at in row["offsets"] or [NOTHING]
        ]
        return pd.DataFrame(found, columns=COLUMNS)

    def members(self, group: str) -> list[str] | None:
        """The client ids of a group's members; None for a group that isn't known."""
        row = self.store.get(group)
        if row is None or row["details"] is None:
            return None
        return [member.client_id for member in from_json(row["details"]).members]


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


def verdict(broker: Broker, table: Table, expected: pd.DataFrame, prefix: str) -> GroupsVerdict:
    observed = table.rows(prefix)
    groups = sorted({*expected["group"], *observed["group"]})
    return judge(expected, observed, committed_by(broker.client_config(), groups))


@pytest.mark.parametrize("seed", [1, 2])
def test_it_equals_the_admin_client_s_answer(broker: Broker, table: Table, seed: int) -> None:
    topic = Topic(f"read-by-seventy-{seed}", 3)
    broker.create(topic)
    expected = GroupWorkload(broker.client_config(), topic.name, 3, seed).run()
    table.query.process_all()
    found = verdict(broker, table, expected, f"{topic.name}.")
    assert found.clean, str(found)
    assert expected["group"].nunique() == 56
    assert found.observed > 100


def test_an_application_comes_and_goes(broker: Broker, table: Table) -> None:
    topic = Topic("read-for-a-while", 2)
    broker.create(topic)
    config = broker.client_config()
    for protocol in ("classic", "consumer"):
        group = f"while-{protocol}"
        shop = f"shop-{protocol}"
        with Application(config, group, topic.name, client_id=shop, protocol=protocol):
            until(lambda: table.members(group) == [shop], "its member")  # noqa: B023
        until(lambda: table.members(group) == [], "its end")  # noqa: B023


def test_a_commit_by_no_member_is_told_from_the_last_one_of_a_member(
    broker: Broker, table: Table
) -> None:
    topic = Topic("read-and-left", 1)
    broker.create(topic)
    config = broker.client_config()
    with DeliveringProducer(config, topic.name) as producer:
        producer.produce(b"x")

    def said(group: str) -> str:
        row = table.store.get(group)
        assert row is not None
        return commits_alone(last_commit(row["offsets"]), row["changed_at"], row["described_at"])

    for protocol in ("classic", "consumer"):
        group = f"left-{protocol}"
        with Application(config, group, topic.name, protocol=protocol):
            until(lambda: (table.store.get(group) or {}).get("offsets"), "its commit")  # noqa: B023
        until(lambda: table.members(group) == [], "its end")  # noqa: B023
        assert said(group) == ""
        commit_offset(config, group, topic.name, 0)
        until(lambda: said(group), "the commit by hand")  # noqa: B023


def _offsets_deleted(broker: Broker, group: str, topic: str) -> None:
    jars.prefetch()
    said = consumer_groups(broker, "--delete-offsets", "--group", group, "--topic", topic)
    assert "Successful" in said


def _topic_deleted(broker: Broker, group: str, topic: str) -> None:
    admin = AdminClient(broker.client_config())
    admin.delete_topics([topic])[topic].result(60)


@pytest.mark.parametrize("goes", [_offsets_deleted, _topic_deleted])
def test_a_group_whose_newest_commit_goes_is_corrected_in_its_windows(
    broker: Broker, table: Table, goes: Callable[[Broker, str, str], None]
) -> None:
    """Its other commit is older than what stood in the window before."""
    group = f"corrected-by{goes.__name__}".replace("_", "-")
    for name in ("early", "late"):
        broker.create(Topic(f"{group}.{name}", 1))
        commit_offset(broker.client_config(), group, f"{group}.{name}", 3)
    until(lambda: read(table.store.get(group)) == ["early", "late"], "both commits")
    before = table.store.get(group)
    assert before is not None
    goes(broker, group, f"{group}.late")
    until(lambda: read(table.store.get(group)) == ["early"], "the late one to go")
    table.query.process_all()
    after = table.store.get(group)
    assert after is not None
    assert after["changed_at"] > before["changed_at"]
    assert table.windows.fetch(group, 0, 2**62)[-1][1] == after


def test_a_deleted_group_has_the_time_of_its_last_tombstone() -> None:
    joined = {"group": "a", "recorded_at": 7, "offsets": [], "parts": [], "deleted": True}
    assert _active(joined, to_json) == {"group": "a", "changed_at": 7, "deleted": True}


def read(row: dict[str, Any] | None) -> list[str]:
    """The ends of the names of what a group has committed."""
    return [each["topic"].rpartition(".")[2] for each in row["offsets"]] if row else []


def test_records_that_nobody_can_read_are_counted_and_left_out(
    spark: SparkSession, broker: Broker, tmp_path: Path
) -> None:
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
    started = system.start(spark, broker, options, tmp_path / "checkpoint", OnPoint())
    with started.running:
        started.running.process_all()
        until(lambda: started.running.progress.messages == 7, "the progress of its micro-batches")
    said = str(started.running.progress)
    assert "1 group, 1 unknown" in said
    assert "2 unknown records, 3 unreadable records" in said


def test_ten_thousand_groups(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    copy = Topic("offsets-of-ten-thousand", 4)
    broker.create(copy)
    config = broker.client_config()
    with DeliveringProducer(config, copy.name) as producer:
        for number in range(10_000):
            key = b"\0\1" + text(f"g{number:05}") + text("clicks") + b"\0\0\0\0"
            producer.produce(bare_commit(number, 1_700_000_000_000), key)
    raw = assigned_stream(spark, broker, copy.name)
    store = Store(tmp_path / "groups.db", "group")
    with start_query(active_groups(decode(raw)), [store], tmp_path / "checkpoint") as query:
        query.process_all()
    assert [row["offsets"][0]["offset"] for row in store.all()] == [*range(10_000)]
    dashboard = Dashboard(CachedStore(store), EndSampler(config, EndSamples()))
    dashboard.look()
    assert str(dashboard) == "10,000 groups, 10,000 unknown"


def test_nobody_sees_the_reader_itself(broker: Broker, table: Table) -> None:
    table.query.process_all()
    admin = AdminClient(broker.client_config())
    groups = admin.list_consumer_groups().result(30).valid
    assert not [g.group_id for g in groups if "assigned" in g.group_id or "clamped" in g.group_id]
    assert not [row["group"] for row in table.store.all() if "kafka-" in row["group"]]

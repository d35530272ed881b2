"""Who reads what, from the broker's own records: the table equals what the admin client answers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from brokers import commit as commit_offset
from brokers import produce
from confluent_kafka.admin import AdminClient
from labs import until
from pyspark.sql import SparkSession
from test_group_records import OFFSET_KEY, commit

from workbook.crashlab.crashes.active_groups import COLUMNS, NOTHING
from workbook.kafka.application import Application
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import committed_by
from workbook.spark.runner import OnPoint
from workbook.streams.generators.groups import GroupWorkload
from workbook.streams.ledgers.groups import judge
from workbook.systems import SYSTEMS
from workbook.systems.base import Job, Started
from workbook.topics import CONSUMER_OFFSETS, Topic


def start(spark: SparkSession, broker: Broker, checkpoint: Path, *words: str) -> Started:
    system = SYSTEMS["active_groups"]
    options = system.options([*words, "--every", "0.1"])
    return system.start(Job(spark, broker, options, checkpoint, OnPoint()))


@pytest.fixture(scope="module")
def table(
    spark: SparkSession, broker: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Started]:
    """The running table; its sinks are the stores of the groups and of their windows."""
    broker.create(Topic("somebody-reads", 1))
    admin = AdminClient(broker.client_config())
    with Application(broker.client_config(), "somebody", "somebody-reads"):
        until(lambda: CONSUMER_OFFSETS in admin.list_topics(timeout=30).topics, "its commits")
    started = start(spark, broker, tmp_path_factory.mktemp("table"))
    with started.running:
        yield started


def test_it_equals_the_admin_client_s_answer(broker: Broker, table: Started) -> None:
    topic = Topic("read-by-many", 3)
    broker.create(topic)
    expected = GroupWorkload(broker.client_config(), topic.name, 3, 1, groups=25, rounds=4).run()
    table.running.process_all()
    rows = [
        (row["group"], at["topic"], at["partition"], at["offset"], bool(row["details"]))
        for row in table.sinks[0].all()
        if row["group"].startswith(f"{topic.name}.")
        for at in row["offsets"] or [NOTHING]
    ]
    observed = pd.DataFrame(rows, columns=COLUMNS)
    groups = sorted({*expected["group"], *observed["group"]})
    found = judge(expected, observed, committed_by(broker.client_config(), groups))
    assert found.clean, str(found)
    assert expected["group"].nunique() == 20
    assert found.observed > 35


def test_a_group_whose_newest_commit_goes_is_corrected_in_its_windows(broker, table) -> None:
    """Its other commit is older than what stood in the window before."""
    group, config, (store, windows) = "corrected", broker.client_config(), table.sinks
    for name in ("early", "late"):
        broker.create(Topic(f"{group}.{name}", 1))
        commit_offset(config, group, f"{group}.{name}", 3)
    until(lambda: read(store.get(group)) == ["early", "late"], "both commits")
    before = store.get(group)
    admin = AdminClient(config)
    admin.delete_topics([f"{group}.late"])[f"{group}.late"].result(60)
    until(lambda: read(store.get(group)) == ["early"], "the late one to go")
    table.running.process_all()
    after = store.get(group)
    assert after["changed_at"] > before["changed_at"]
    assert windows.fetch(group, 0, 2**62)[-1][1] == after


def read(row: dict[str, Any] | None) -> list[str]:
    """The ends of the names of what a group has committed."""
    return [each["topic"].rpartition(".")[2] for each in row["offsets"]] if row else []


def test_records_that_nobody_can_read_are_counted_and_left_out(spark, broker, tmp_path) -> None:
    copy = Topic("offsets-with-bad-ones", 2)
    broker.create(copy)
    produce(
        broker.client_config(), copy.name,
        (commit(4), OFFSET_KEY), (commit(3)[:-1], OFFSET_KEY), (b"", OFFSET_KEY), (b"x", None),
        (b"\0\x09" + commit(4)[2:], OFFSET_KEY), (b"x", b"\0\x63new"), (None, b"\0\6"),
    )  # fmt: skip
    started = start(spark, broker, tmp_path, "--in", copy.name)
    with started.running:
        started.running.process_all()
        until(lambda: started.running.progress.messages == 7, "the progress of its micro-batches")
    said = str(started.running.progress)
    assert "1 group, 1 unknown" in said
    assert "2 unknown records, 3 unreadable records" in said

"""The rights that the source by plain assignment needs, on a broker with SCRAM and rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import broker_with_scram, commit, sees
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from labs import until
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable

from workbook.errors import RightMissing, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.require import require_readable, require_topic, topic_ids
from workbook.kafka.start_offsets import look_up
from workbook.sources.assigned import AssignedSettings, Reader
from workbook.sources.kafka import assigned_stream
from workbook.stack import jars
from workbook.topics import CONSUMER_OFFSETS

Users = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Users]:
    """Settings of each user; the group ``app`` has read 17 records of the topic ``clicks``."""
    jars.prefetch()
    with broker_with_scram(tmp_path_factory.mktemp("scram")) as (_, users):
        admin = AdminClient(users["admin"])
        admin.create_topics([NewTopic("clicks", 1)])["clicks"].result(60)
        commit(users["admin"], "app", "clicks", 17)
        until(lambda: sees(users["reader"], "clicks", CONSUMER_OFFSETS), "the rules to hold")
        yield users


def _broker(config: dict[str, str]) -> Broker:
    security = {name: value for name, value in config.items() if name != "bootstrap.servers"}
    return Broker(config["bootstrap.servers"], security)


def test_reader_of_this_one_topic_reads_it_without_a_right_to_any_group(
    spark: SparkSession, users: Users, tmp_path: Path
) -> None:
    keys: list[bytes] = []
    rows = assigned_stream(spark, _broker(users["reader"]), CONSUMER_OFFSETS)
    query = (
        rows.writeStream.foreachBatch(
            lambda batch, _: keys.extend(row.key for row in batch.collect())
        )
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert any(b"app" in key and b"clicks" in key for key in keys)


def test_the_right_to_describe_is_enough_for_where_topics_end(users: Users) -> None:
    assert require_topic(users["reader"], "clicks") == 1
    assert CONSUMER_OFFSETS in topic_ids(users["reader"], [CONSUMER_OFFSETS])
    ends = Consumer({**users["reader"], "group.id": "none"})
    assert ends.get_watermark_offsets(TopicPartition("clicks", 0), 30) == (0, 0)
    ends.close()


def test_a_user_who_may_only_describe_lacks_the_right_to_read(users: Users) -> None:
    with pytest.raises(RightMissing, match=r"right to READ .*__consumer_offsets.*user watcher"):
        require_readable(users["watcher"], CONSUMER_OFFSETS)


def test_a_user_who_may_not_even_describe_lacks_that_right(users: Users) -> None:
    with pytest.raises(RightMissing, match=r"right to DESCRIBE .*__consumer_offsets.*--add"):
        require_readable(users["stranger"], CONSUMER_OFFSETS)


def test_a_merge_that_may_not_read_its_sink_lacks_that_right(users: Users) -> None:
    """It looks there where to begin; without the right it waited for a minute, for a broker."""
    with pytest.raises(RightMissing, match=r"right to READ .*clicks.*user watcher"):
        look_up(users["watcher"], "clicks", ["clicks"])


def test_a_topic_that_is_missing_is_no_question_of_rights(users: Users) -> None:
    with pytest.raises(TopicMissing, match="'nowhere'"):
        require_readable(users["reader"], "nowhere")


@pytest.mark.parametrize("user", ["watcher", "stranger"])
def test_the_source_by_itself_names_the_right_and_the_topic(users: Users, user: str) -> None:
    config = {f"kafka.{name}": value for name, value in users[user].items()}
    reader = Reader(
        AssignedSettings({**config, "subscribe": CONSUMER_OFFSETS, "startingOffsets": "earliest"})
    )
    with pytest.raises(PermissionError, match=f"READ and DESCRIBE the topic {CONSUMER_OFFSETS}"):
        _read_all(reader)
    reader.stop()


def _read_all(reader: Reader) -> None:
    start = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    for task in reader.partitions(start, reader.latestOffset(start, ReadAllAvailable())):
        list(reader.read(task))

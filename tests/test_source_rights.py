"""The rights that both sources need, on a broker with logins and rules; and its restarts."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import OwnBroker, allowed, broker_with_scram, commit, sees
from confluent_kafka import KafkaException
from confluent_kafka.admin import AclOperation, AdminClient, NewTopic
from labs import DEADLINE, until
from pyspark.sql import SparkSession
from pyspark.sql.streaming.datasource import ReadAllAvailable

from workbook.errors import RightMissing, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import EndOffsets
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.require import topic_ids
from workbook.kafka.start_offsets import look_up
from workbook.sources.assigned import AssignedReader, AssignedSettings
from workbook.sources.clamp import goes_on
from workbook.sources.clamped import ClampedReader, ClampSettings
from workbook.sources.kafka import assigned_stream
from workbook.stack import kafka
from workbook.topics import CONSUMER_OFFSETS

Config = dict[str, str]
ALL = ReadAllAvailable()


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Config]]:
    """Settings of each user; the group ``app`` has read 17 records of ``clicks``."""
    with broker_with_scram(tmp_path_factory.mktemp("scram")) as (_, users):
        admin = AdminClient(users["admin"])
        for made in admin.create_topics([NewTopic(n, 1) for n in ("clicks", "views")]).values():
            made.result(60)
        rule = allowed("reader", AclOperation.READ, "views")
        admin.create_acls([rule])[rule].result(60)
        for name in ("clicks", "views"):
            with DeliveringProducer(users["admin"], name) as producer:
                producer.produce(b"x", None, 0)
        commit(users["admin"], "app", "clicks", 17)
        until(lambda: sees(users["reader"], "clicks", CONSUMER_OFFSETS), "the rules to hold")
        yield users


def options(config: Config, *topics: str) -> dict[str, str]:
    own = {"subscribe": ",".join(topics), "startingOffsets": "earliest"}
    return {f"kafka.{name}": value for name, value in config.items()} | own


def log_of(config: Config, *topics: str) -> ClampedReader:
    settings = ClampSettings({**options(config, *topics), "maxLead": "1 second"})
    return ClampedReader(settings, goes_on)


def test_reader_of_this_one_topic_reads_it_without_a_right_to_any_group(
    spark: SparkSession, users: dict[str, Config], tmp_path: Path
) -> None:
    config, keys = users["reader"], list[bytes]()
    security = {name: value for name, value in config.items() if name != "bootstrap.servers"}
    rows = assigned_stream(spark, Broker(config["bootstrap.servers"], security), CONSUMER_OFFSETS)
    query = (
        rows.writeStream.foreachBatch(lambda batch, _: keys.extend(r.key for r in batch.collect()))
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(120)
    assert any(b"app" in key and b"clicks" in key for key in keys)


def test_a_missing_right_is_named_before_a_query_starts(users: dict[str, Config]) -> None:
    with pytest.raises(RightMissing, match=r"right to READ .*__consumer_offsets.*user watcher"):
        topic_ids(users["watcher"], [CONSUMER_OFFSETS])
    with pytest.raises(RightMissing, match=r"right to READ .*__consumer_offsets.*--add"):
        topic_ids(users["stranger"], [CONSUMER_OFFSETS])
    with pytest.raises(TopicMissing, match="'nowhere'"):
        topic_ids(users["reader"], ["nowhere"])
    # A merge looks in its sink for where to begin; without the right it waited for a minute.
    with pytest.raises(RightMissing, match=r"right to READ .*clicks.*user watcher"):
        look_up(users["watcher"], "clicks", ["clicks"])


def _read_all(reader: AssignedReader) -> None:
    start = reader.latestOffset(reader.initialOffset(), ALL)
    for task in reader.partitions(start, reader.latestOffset(start, ALL)):
        list(reader.read(task))


@pytest.mark.parametrize("user", ["watcher", "stranger"])
def test_a_source_by_itself_names_the_right_and_the_topic(
    users: dict[str, Config], user: str
) -> None:
    reader = AssignedReader(AssignedSettings(options(users[user], CONSUMER_OFFSETS)))
    with pytest.raises(RightMissing, match=f"right to READ the topic '{CONSUMER_OFFSETS}'"):
        _read_all(reader)
    reader.stop()
    log = log_of(users[user], "clicks", "views")
    with pytest.raises(RightMissing, match=r"right to READ the topic '\w+'.*kafka-acls"):
        log.latestOffset(log.initialOffset(), ALL)
    log.stop()


def test_a_wrong_password_is_named(users: dict[str, Config]) -> None:
    log = log_of({**users["reader"], "sasl.password": "wrong"}, "clicks", "views")
    with pytest.raises(KafkaException, match=r"(?i)authentication failed.*invalid credentials"):
        log.initialOffset()
    log.stop()


def test_a_broker_as_it_comes_is_read_across_its_restarts(tmp_path: Path) -> None:
    """Epochs of leaders change by it, and connections break. Nobody who asks creates a topic."""
    eager = kafka.SETTINGS + "auto.create.topics.enable=true\n"
    with OwnBroker(tmp_path, eager) as broker:
        config = {"bootstrap.servers": broker.bootstrap}
        with pytest.raises(TopicMissing, match=r"'__consumer_offsets'.*first consumer group"):
            topic_ids(config, [CONSUMER_OFFSETS])
        admin = AdminClient({**config, "allow.auto.create.topics": False})
        assert CONSUMER_OFFSETS not in admin.list_topics(timeout=30).topics
        for made in admin.create_topics([NewTopic(name, 2) for name in ("a", "b")]).values():
            made.result(DEADLINE)
        reader, log, ends = (
            AssignedReader(AssignedSettings(options(config, "a"))),
            log_of(config, "a", "b"),
            EndOffsets(config, "a"),
        )
        start = reader.latestOffset(reader.initialOffset(), ALL)
        at = log.latestOffset(log.initialOffset(), ALL)
        for count in (1, 2):
            restarting = threading.Thread(target=broker.restart)
            restarting.start()
            while restarting.is_alive():
                at = log.latestOffset(at, ALL)  # waits for it
            now = int(time.time() * 1000)  # of both, so that no topic leads
            for topic in ("a", "b"):
                with DeliveringProducer(config, topic) as producer:
                    producer.produce(b"x", None, 1, timestamp=now)

            def read(expected: int) -> bool:
                nonlocal at
                at = log.latestOffset(at, ALL)
                return all(of["1"] == expected for of in at["offsets"].values())

            until(lambda expected=count: read(expected), "a record of each topic")
            [task] = reader.partitions(start, reader.latestOffset(start, ALL))
            assert sum(batch.num_rows for batch in reader.read(task)) == count
            until(lambda last=count: ends.look().get(("a", 1)) == last, "the partition's end")
        log.stop()
        reader.stop()

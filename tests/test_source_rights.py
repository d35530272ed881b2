"""The rights that sources and `run active_groups` need, on a broker with logins; its restarts."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from brokers import OwnBroker, commit, produce
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic
from labs import DEADLINE, until
from pyspark.sql.streaming.datasource import ReadAllAvailable

from workbook.cli import run
from workbook.cli.screen import Writes
from workbook.errors import RightMissing, TopicMissing
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import EndOffsets
from workbook.kafka.require import DAY_MS, tombstones_kept, topic_ids
from workbook.kafka.start_offsets import look_up
from workbook.sinks.store import WindowedStore
from workbook.sources.assigned import AssignedReader, AssignedSettings
from workbook.sources.clamp import goes_on
from workbook.sources.clamped import ClampedReader, ClampSettings
from workbook.stack import kafka
from workbook.systems import SYSTEMS
from workbook.systems.base import Job
from workbook.topics import CONSUMER_OFFSETS, Topic

Config = dict[str, str]
ALL = ReadAllAvailable()


CLICKS, VIEWS = "rights.clicks", "rights.views"


@pytest.fixture(scope="module")
def users(secured) -> Iterator[dict[str, Config]]:
    """Settings of each user; the group ``billing`` has read 17 of 20 records of CLICKS.

    ``reader`` may describe all topics, and read the topic of the groups and VIEWS; ``watcher`` may
    describe all topics, ``stranger`` do nothing, ``admin`` everything. No rule names a group.
    """
    may = {"reader": "reader", "watcher": "learner", "stranger": "nobody"}
    found = {name: secured.login(user) for name, user in may.items()}
    found["admin"] = {"bootstrap.servers": secured.at["open"]}
    Broker(secured.at["open"]).create(Topic(CLICKS), Topic(VIEWS))
    for name in (CLICKS, VIEWS):
        produce(found["admin"], name, *[(b"x",)] * 20)
    commit(found["admin"], "billing", CLICKS, 17)
    for name in ("reader", "learner"):
        secured.allow(name, "*", "DESCRIBE")
    for topic in (CONSUMER_OFFSETS, VIEWS):
        secured.allow("reader", topic, "READ")
    reader = AdminClient({**found["reader"], "log_level": 0})
    there = {CLICKS, CONSUMER_OFFSETS}
    until(lambda: there <= {*reader.list_topics(timeout=30).topics}, "the rules to hold")
    yield found
    for user in may.values():
        secured.forbid(user)


def options(config: Config, *topics: str) -> dict[str, str]:
    own = {"subscribe": ",".join(topics), "startingOffsets": "earliest"}
    return {f"kafka.{name}": value for name, value in config.items()} | own


def log_of(config: Config, *topics: str) -> ClampedReader:
    settings = ClampSettings({**options(config, *topics), "maxLead": "1 second"})
    return ClampedReader(settings, goes_on)


def test_a_reader_sees_the_groups_and_leaves_nothing_on_the_broker(spark, users, tmp_path) -> None:
    admin = AdminClient(users["admin"])

    def there() -> tuple[set[str], set[str]]:
        groups = admin.list_consumer_groups().result(30).valid
        return {*admin.list_topics(timeout=30).topics}, {group.group_id for group in groups}

    before, login, place = there(), dict(users["reader"]), tmp_path / "state"
    broker, system = Broker(login.pop("bootstrap.servers"), login), SYSTEMS["active_groups"]
    options = system.options(["--checkpoint", str(place)])
    at = Writes(run._prepare(broker, system, options))
    started = system.start(Job(spark, broker, options, place, at))
    with started.running as running:
        says = "most behind: billing, 3"  # its end was asked for
        until(lambda: running.check() or says in str(running.progress), says)
    started.settle()
    assert "  billing: unknown, lag 3" in started.summary()
    assert there() == before
    windows = WindowedStore(place / "windows.db", "group", reading=True)
    assert "billing" in [row["group"] for _, row in windows.all()]


def test_where_it_may_not_ask_a_topic_keeps_tombstones_for_a_day(users: dict[str, Config]) -> None:
    assert tombstones_kept(users["reader"], CLICKS) == DAY_MS
    assert tombstones_kept(users["admin"], CLICKS) is None  # it isn't compacted


def test_a_missing_right_is_named_before_a_query_starts(users: dict[str, Config]) -> None:
    with pytest.raises(RightMissing, match=r"right to READ .*__consumer_offsets.*user learner"):
        topic_ids(users["watcher"], [CONSUMER_OFFSETS])
    with pytest.raises(RightMissing, match=r"right to READ .*__consumer_offsets.*--add"):
        topic_ids(users["stranger"], [CONSUMER_OFFSETS])
    with pytest.raises(TopicMissing, match="'nowhere'"):
        topic_ids(users["reader"], ["nowhere"])
    # A merge looks in its sink for where to begin; without the right it waited for a minute.
    with pytest.raises(RightMissing, match=r"right to READ .*clicks.*user learner"):
        look_up(users["watcher"], CLICKS, [CLICKS])


def _read_all(reader: AssignedReader) -> None:
    start = reader.latestOffset(reader.initialOffset(), ALL)
    for task in reader.partitions(start, reader.latestOffset(start, ALL)):
        list(reader.read(task))


@pytest.mark.parametrize("user", ["watcher", "stranger"])
def test_a_source_by_itself_names_the_right_and_the_topic(users, user) -> None:
    reader = AssignedReader(AssignedSettings(options(users[user], CONSUMER_OFFSETS)))
    with pytest.raises(RightMissing, match=f"right to READ the topic '{CONSUMER_OFFSETS}'"):
        _read_all(reader)
    reader.stop()
    log = log_of(users[user], CLICKS, VIEWS)
    with pytest.raises(RightMissing, match=r"right to READ the topic '\S+'.*kafka-acls"):
        log.latestOffset(log.initialOffset(), ALL)
    log.stop()


def test_a_wrong_password_is_named(users: dict[str, Config]) -> None:
    log = log_of({**users["reader"], "sasl.password": "wrong"}, CLICKS, VIEWS)
    with pytest.raises(KafkaException, match=r"(?i)authentication failed.*invalid credentials"):
        log.initialOffset()
    log.stop()


def test_a_broker_as_it_comes_is_read_across_its_restart(tmp_path: Path) -> None:
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
        until(lambda: ends.look().get(("a", 1)) == 0, "the partition's end")
        restarting = threading.Thread(target=broker.restart)
        restarting.start()
        while restarting.is_alive():
            at = log.latestOffset(at, ALL)  # waits for it
        now = int(time.time() * 1000)  # of both, so that no topic leads
        for topic in ("a", "b"):
            produce(config, topic, (b"x", None, 1, now))

        def read() -> bool:
            nonlocal at
            at = log.latestOffset(at, ALL)
            return all(of["1"] == 1 for of in at["offsets"].values())

        until(read, "a record of each topic")
        [task] = reader.partitions(start, reader.latestOffset(start, ALL))
        assert sum(batch.num_rows for batch in reader.read(task)) == 1
        until(lambda: ends.look().get(("a", 1)) == 1, "the partition's new end")
        log.stop()
        reader.stop()

"""The clamped source on a broker that wants a login, and with topics that it may not read."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from brokers import OwnBroker, broker_with_login
from confluent_kafka import KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from labs import until

from workbook.kafka.producer import DeliveringProducer
from workbook.sources.clamp import goes_on
from workbook.sources.kafka_log import ClampSettings, KafkaLog
from workbook.stack import jars

LOGIN = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
ADMIN = {**LOGIN, "sasl.username": "admin", "sasl.password": "right"}
LEARNER = {**LOGIN, "sasl.username": "learner", "sasl.password": "correct horse"}

Open = Callable[..., KafkaLog]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker with the topics open, beside, described (DESCRIBE, not READ) and closed."""
    jars.prefetch()
    with broker_with_login(tmp_path_factory.mktemp("login")) as (address, _):
        config = {**ADMIN, "bootstrap.servers": address}
        admin = AdminClient(config)
        names = ["open", "beside", "described", "closed"]
        for made in admin.create_topics([NewTopic(name, 1) for name in names]).values():
            made.result(30)
        rules = [
            _rule("closed", "User:admin", AclOperation.ALL),
            _rule("described", "User:admin", AclOperation.ALL),
            _rule("described", "User:learner", AclOperation.DESCRIBE),
        ]
        for done in admin.create_acls(rules).values():
            done.result(30)
        for name in names:
            with DeliveringProducer(config, name) as producer:
                producer.produce(b"x", None, 0)
        until(lambda: _denied(address), "the rules to hold")
        yield address


def _rule(topic: str, who: str, what: AclOperation) -> AclBinding:
    place = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL)
    return AclBinding(*place, who, "*", what, AclPermissionType.ALLOW)


def _denied(address: str) -> bool:
    found = AdminClient({**LEARNER, "bootstrap.servers": address}).list_topics("closed", timeout=30)
    return found.topics["closed"].error is not None


def log_of(config: dict[str, str], *topics: str) -> KafkaLog:
    options = {f"kafka.{name}": value for name, value in config.items()}
    own = {"subscribe": ",".join(topics), "startingOffsets": "earliest", "maxLead": "1 second"}
    return KafkaLog(ClampSettings({**options, **own}), goes_on)


@pytest.fixture
def opened(address: str) -> Iterator[Open]:
    logs: list[KafkaLog] = []

    def make(*topics: str, **config: str) -> KafkaLog:
        logs.append(log_of({**LEARNER, "bootstrap.servers": address, **config}, *topics))
        return logs[-1]

    yield make
    for log in logs:
        log.close()


def test_with_the_right_login_it_reads(opened: Open) -> None:
    log = opened("open", "beside")
    found = log.next(log.first(), None, None)
    assert found["offsets"] == {"open": {"0": 1}, "beside": {"0": 1}}


def test_a_wrong_password_is_named(opened: Open) -> None:
    with pytest.raises(KafkaException, match="Invalid username or password"):
        opened("open", "beside", **{"sasl.password": "wrong"}).first()


@pytest.mark.parametrize("topic", ["closed", "described"])
def test_a_topic_that_may_not_be_read_is_named_with_the_right(opened: Open, topic: str) -> None:
    log = opened("open", topic)
    with pytest.raises(PermissionError, match=f"READ and DESCRIBE the topic {topic}.*ACL"):
        log.next(log.first(), None, None)


def test_a_broker_that_restarts_ends_nothing(tmp_path: Path) -> None:
    """Epochs of leaders change by it, and connections break."""
    with OwnBroker(tmp_path) as broker:
        config = {"bootstrap.servers": broker.bootstrap}
        admin = AdminClient(config)
        for made in admin.create_topics([NewTopic(name, 2) for name in ("a", "b")]).values():
            made.result(30)
        log = log_of(config, "a", "b")
        at = log.next(log.first(), None, None)

        def read_one_more() -> None:
            nonlocal at
            before = sum(sum(of.values()) for of in at["offsets"].values())
            now = int(time.time() * 1000)
            for topic in ("a", "b"):
                with DeliveringProducer(config, topic) as producer:
                    producer.produce(b"x", None, 1, timestamp=now)

            def read() -> bool:
                nonlocal at
                at = log.next(at, None, None)
                return sum(sum(of.values()) for of in at["offsets"].values()) == before + 2

            until(read, "a record of each topic")

        read_one_more()
        for _ in range(2):
            restarting = threading.Thread(target=broker.restart)
            restarting.start()
            while restarting.is_alive():
                at = log.next(at, None, None)  # waits for it
            read_one_more()
        log.close()

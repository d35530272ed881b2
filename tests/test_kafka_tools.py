"""Kafka's own tools run as they are, and fail with their own words."""

from __future__ import annotations

import pytest
from labs import until

from workbook.errors import ServerFailed
from workbook.kafka.application import Application, stop_all
from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.stack import jars, kafka_tools
from workbook.stack.kafka_tools import consumer_groups
from workbook.topics import Topic


@pytest.fixture(scope="module", autouse=True)
def fetched() -> None:
    jars.prefetch()


def test_a_group_is_described_with_its_lag_and_its_client(broker: Broker) -> None:
    broker.create(Topic("described", 1))
    with DeliveringProducer(broker.client_config(), "described") as producer:
        producer.produce(b"1")
    try:
        Application(broker.client_config(), "café", "described", client_id="till-1")
        row = ["café", "described", "0", "1", "1", "0"]

        def said() -> list[list[str]]:
            lines = consumer_groups(broker, "--describe", "--group", "café").splitlines()
            return [line.split() for line in lines if "till-1" in line]

        until(lambda: [found[:6] for found in said()] == [row], "the tool's row")
    finally:
        stop_all()


def test_a_tool_that_fails_says_why(broker: Broker) -> None:
    with pytest.raises(ServerFailed, match=r"ConsumerGroupCommand failed: .*nonsense"):
        consumer_groups(broker, "--nonsense")


def test_a_login_reaches_the_tool_in_javas_words() -> None:
    security = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-256"}
    properties = kafka_tools._properties(Broker("there:9092", security))
    assert "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=SCRAM-SHA-256\n" in properties

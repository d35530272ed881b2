"""An outage on demand: the broker alone stops and comes back, and everything else goes on."""

from argparse import Namespace

import pytest
from brokers import answers
from confluent_kafka import Consumer, Producer, TopicPartition
from labs import OwnLab, until

from workbook.cli.lab import stop
from workbook.errors import NotOurServer, ServerFailed
from workbook.kafka.broker import Broker
from workbook.stack import client, doctor
from workbook.topics import Topic

CLICKS = Topic("clicks")


def workbook(lab: OwnLab, *words: str) -> str:
    said, _ = lab.start("-m", "workbook", *words).communicate(timeout=120)
    return said


def test_the_broker_stops_alone_and_comes_back_with_its_topics_on_its_port(lab: OwnLab) -> None:
    user = client.Lease("user")
    address = user.ask("server", name="kafka")
    port = int(address.rpartition(":")[2])
    Broker(address, ours=True).create(CLICKS)
    producer = Producer({"bootstrap.servers": address, "log_level": 0})
    reader = Consumer({"bootstrap.servers": address, "group.id": "none", "log_level": 0})
    reader.assign([TopicPartition(CLICKS.name, 0, 0)])
    seen: list[int] = []

    def read(until_seen: int) -> bool:
        message = reader.poll(0.5)
        if message and not message.error():
            seen.append(int(message.value()))
        return len(seen) == until_seen

    for number in range(10):
        producer.produce(CLICKS.name, str(number))
    until(lambda: read(10), "the first ten")

    assert f"kafka at {address} has stopped" in workbook(lab, "stop", "kafka")
    assert not answers(port)
    assert "kafka at" in workbook(lab, "stop", "kafka"), "stopping twice does no harm"
    with pytest.raises(ServerFailed, match="To go on: python -m workbook start kafka"):
        user.ask("server", name="kafka")
    [finding] = doctor.answers("kafka")
    assert (finding.state, finding.fix) == ("note", "To go on: python -m workbook start kafka")
    producer.produce(CLICKS.name, "10")  # it waits in the client

    assert f"kafka runs at {address}" in workbook(lab, "start", "kafka")
    assert "kafka runs at" in workbook(lab, "start", "kafka"), "starting twice does no harm"
    until(lambda: read(11), "the eleventh")
    assert seen == list(range(11)), "what was read before is not read again, and nothing is lost"
    assert user.ask("server", name="kafka") == address
    assert user.ask("status")["stopped"] == []
    reader.close()
    open_ports = lab.ports()
    workbook(lab, "stop", "kafka")  # a lab ends as ever while a server is stopped
    user.close()
    lab.assert_nothing_is_left(open_ports)


OTHERS = {
    "kafka": (("KAFKA_BOOTSTRAP_SERVERS", "b:9"), "Kafka on b:9"),
    "registry": (("SCHEMA_REGISTRY_URL", "http://b:9/x"), "Schema Registry on http://b:9/x"),
    "postgres": (("DATABASE_URL", "postgresql://u:p@b:9/x"), "PostgreSQL on postgresql://b:9/x"),
    "cassandra": (("CASSANDRA_CONTACT_POINTS", "b:9,c"), "Cassandra on b:9,c"),
}


def test_a_server_that_is_not_the_labs_or_does_not_run_is_not_stopped(
    lab: OwnLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    for word in ("stop", "start"):
        assert "This lab does not run, and so has no kafka" in workbook(lab, word, "kafka")
    user = client.Lease("user")
    said = workbook(lab, "stop", "postgres")
    assert "Expected a running postgres to stop, but it does not run" in said
    for name, (own, shown) in OTHERS.items():
        monkeypatch.setenv(*own)
        with pytest.raises(NotOurServer) as refused:
            stop(Namespace(server=name))
        assert f"Will not stop {shown}: the lab did not start it" in str(refused.value)
    user.close()
    lab.assert_nothing_is_left(set())

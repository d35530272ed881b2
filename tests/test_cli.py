"""The command line on real servers, as a user types it."""

import re
import signal
import time
from argparse import Namespace
from pathlib import Path

import pytest
from brokers import answers, free_port
from confluent_kafka import Consumer, Producer, TopicPartition
from labs import OwnLab, read_until, until
from test_monitoring import scraped

from workbook.cli.lab import start, stop
from workbook.errors import NotOurServer, NotRunning, ServerFailed
from workbook.kafka.broker import Broker
from workbook.stack import client, doctor, ports
from workbook.streams.events.clicks import ClickType
from workbook.streams.generators.clicks import ClickStream
from workbook.topics import Topic


def test_a_generated_stream_is_counted_and_ctrl_c_ends_it_cleanly(lab: OwnLab) -> None:
    assert lab.workbook("up")[0] == 0
    code, said = lab.workbook("run", "page_views", "--in", "nowhere")
    assert (code, "Traceback" in said) == (1, False)
    assert "Expected a topic 'nowhere'" in said
    code, said = lab.workbook(
        *("generate", "clicks", "--rate", "1000", "--seconds", "3"),
        *("--partitions", "24", "--bad-share", "0.1"),
    )
    assert (code, "3,000 events" in said) == (0, True)
    words, port = ("run", "page_views", "--in", "clicks", "--metrics-port"), free_port()
    process = lab.start("-m", "workbook", *words, str(port))
    read_until(process, "Alert, too many rejects: ")
    of = 'system="page_views"'
    until(lambda: scraped(port).get(f'workbook_lag_records{{of="",{of}}}') == 0, "all records")
    found = scraped(port)
    assert found[f'workbook_alert{{of="too many rejects",{of}}}'] == 1
    assert found[f'workbook_read_records_total{{of="",{of}}}'] == 3000
    facts = ClickStream(seed=1, rate=1000, partitions=24, bad_share=0.1).expected(0, 3000)
    reasons, name = facts["reason"].dropna().value_counts(), "workbook_rejected_records_total"
    told = {reason: found.get(f'{name}{{of="{reason}",{of}}}') for reason in reasons.index}
    assert told == reasons.to_dict()
    half, most = (found[f'workbook_delay_seconds{{of="{p}",{of}}}'] for p in ("p50", "p99"))
    assert 0 < half < most < 300
    assert found[f'workbook_phase_seconds{{of="triggerExecution",{of}}}'] > 0
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    counted = sum(int(n) for n in re.findall(r"^\s*/\S+\s+(\d+)$", said, re.MULTILINE))
    views = facts["reason"].isna() & (facts["click_type"] == ClickType.PAGE)
    assert counted == views.sum(), said
    assert ports.is_free(port)
    assert lab.workbook("down")[0] == 0
    lab.assert_nothing_is_left(set())


def test_a_broker_that_is_down_is_an_error_within_ten_seconds(lab: OwnLab) -> None:
    began = time.monotonic()
    code, said = lab.workbook("generate", "clicks", "--bad-share", "2")
    assert (code, "between 0 and 1" in said, "Traceback" in said) == (1, True, False)
    to_start = time.monotonic() - began  # Python, on a machine as busy as it is
    lab.env["KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
    for command in ("generate", "clicks"), ("run", "page_views"):
        began = time.monotonic()
        code, said = lab.workbook(*command)
        assert time.monotonic() - began < 10 + 3 * to_start
        assert (code, "Check KAFKA_BOOTSTRAP" in said, "Traceback" in said) == (1, True, False)


def test_a_lab_that_cannot_keep_copies_starts_nothing_and_faults_of_spark_are_told(
    lab: OwnLab, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "my_notebooks")
    lab.env |= {"WORKBOOK_NOTEBOOKS": nowhere, "SPARK_DRIVER_MEMORY": "lots"}
    lab.env |= {"SPARK_MASTER": "spark://127.0.0.1:1"}
    code, said = lab.workbook("lab", "--no-browser")
    assert (code, "Traceback" in said, "Starting" in said) == (1, False, False)
    assert f"cannot be written to {nowhere}" in said
    assert "set WORKBOOK_NOTEBOOKS" in said
    assert "SPARK_DRIVER_MEMORY is 'lots'" in said
    assert "No Spark master answers at spark://127.0.0.1:1" in said
    lab.assert_nothing_is_left(set())


# --- an outage on demand ----------------------------------------------------------------------


CLICKS, KAFKA = Topic("clicks"), Namespace(server="kafka")


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

    assert f"kafka at {address} has stopped" in lab.workbook("stop", "kafka")[1]
    assert not answers(port)
    stop(KAFKA)  # twice does no harm
    with pytest.raises(ServerFailed, match="To go on: python -m workbook start kafka"):
        user.ask("server", name="kafka")
    [finding] = doctor.answers("kafka")
    assert (finding.state, finding.fix) == ("note", "To go on: python -m workbook start kafka")
    producer.produce(CLICKS.name, "10")  # it waits in the client

    assert f"kafka runs at {address}" in lab.workbook("start", "kafka")[1]
    start(KAFKA)
    until(lambda: read(11), "the eleventh")
    assert seen == list(range(11)), "what was read before is not read again, and nothing is lost"
    assert user.ask("server", name="kafka") == address
    assert user.ask("status")["stopped"] == []
    reader.close()
    open_ports = lab.ports()
    stop(KAFKA)  # a lab ends as ever while a server is stopped
    user.close()
    lab.assert_nothing_is_left(open_ports)


OTHERS = {
    "kafka": (("KAFKA_BOOTSTRAP_SERVERS", "b:9"), "Kafka on b:9"),
    "registry": (("SCHEMA_REGISTRY_URL", "http://b:9/x"), "Schema Registry on http://b:9/x"),
    "postgres": (("DATABASE_URL", "postgresql://u:p@b:9/x"), "PostgreSQL on postgresql://b:9/x"),
    "cassandra": (("CASSANDRA_CONTACT_POINTS", "b:9,c"), "Cassandra on b:9,c"),
}


def test_a_server_that_is_not_the_labs_or_does_not_run_is_not_stopped(lab, monkeypatch) -> None:
    for deed in stop, start:
        with pytest.raises(NotRunning, match="This lab does not run, and so has no kafka"):
            deed(KAFKA)
    user = client.Lease("user")
    with pytest.raises(ServerFailed, match="Expected a running kafka to stop, but it does not run"):
        stop(KAFKA)
    for name, (own, shown) in OTHERS.items():
        monkeypatch.setenv(*own)
        with pytest.raises(NotOurServer) as refused:
            stop(Namespace(server=name))
        assert f"Will not stop {shown}: the lab did not start it" in str(refused.value)
    user.close()
    lab.assert_nothing_is_left(set())

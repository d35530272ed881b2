"""Starts a Kafka broker: one KRaft process on loopback, which keeps events of the past."""

import json
import os
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path
from signal import SIGKILL, SIGTERM

from confluent_kafka.admin import AdminClient

from workbook.kafka import protocol
from workbook.kafka.broker import Broker, external
from workbook.kafka.require import ANSWER_S
from workbook.stack import ports
from workbook.stack.jars import class_path
from workbook.stack.java import environment, find_java
from workbook.stack.process import finish

NAME, SUBJECT, KEEPS = "Kafka", "broker", "topics"
VARIABLE, PORT, TAKES = "KAFKA_BOOTSTRAP_SERVERS", 9092, "five seconds"
END, LAST_WISH = SIGTERM, SIGKILL

SETTINGS = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT
log.dirs={folder}/data
auto.create.topics.enable=false
group.initial.rebalance.delay.ms=0
log.cleaner.backoff.ms=200
offsets.topic.num.partitions=8
offsets.topic.replication.factor=1
transaction.state.log.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
"""


def fetch() -> None:
    """Fetch nothing: the lab doesn't open without its files."""


def prepare(folder: Path, port: int) -> tuple[list[str], str]:
    """Format the broker's files in ``folder``; return its command and its address."""
    jars = ":".join(map(str, class_path("kafka")))
    java = [
        *(str(find_java().command), "-Xms256m", "-Xmx512m", "-XX:+UseParallelGC"),
        *("-XX:-UsePerfData", f"-Djava.io.tmpdir={folder}"),
        *("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", jars),
    ]
    properties = folder / "server.properties"
    properties.write_text(
        SETTINGS.format(port=port, controller=ports.choose(port + 1), folder=_escaped(folder))
    )
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    cluster = cluster.replace("-", "A")  # one with a dash in front would be taken for an option
    tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    formats = [java[0], "-XX:TieredStopAtLevel=1", *java[1:], *tool]
    finish("Kafka's storage tool", formats, folder / "format.log", env=environment())
    return [*java, "kafka.Kafka", str(properties)], f"{ports.LOOPBACK}:{port}"


def answers(address: str) -> bool:
    """Return True if the broker answers, and has an id for an idempotent producer.

    A new broker refuses the first one that asks for an id, whose client would print a warning.
    """
    admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
    try:
        return bool(admin.list_topics(timeout=5).brokers) and protocol.has_producer_id(address)
    except Exception:  # not ready yet; the deadline decides
        return False


def check(address: str, within: float = ANSWER_S) -> None:
    """Raise ``BrokerUnreachable`` with the likely cause unless the broker lets us work."""
    (external() or Broker(address, ours=True)).check(within)


def _escaped(folder: Path) -> str:
    """Escape a path for a properties file, which Java reads as Latin-1 with JSON's escapes."""
    return json.dumps(os.fsencode(folder).decode())[1:-1]

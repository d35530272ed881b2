"""Starts a Kafka broker, one KRaft process on loopback, and runs a tool of Kafka's."""

import json
import os
import subprocess
import tempfile
import uuid
from base64 import urlsafe_b64encode
from pathlib import Path
from signal import SIGKILL, SIGTERM

from confluent_kafka.admin import AdminClient

from workbook.errors import ServerFailed
from workbook.kafka import protocol
from workbook.kafka.broker import Broker, external
from workbook.kafka.config import TOKENS
from workbook.kafka.require import ANSWER_S
from workbook.stack import ports
from workbook.stack.jars import class_path
from workbook.stack.java import environment, find_java
from workbook.stack.process import finish

NAME, SUBJECT, KEEPS = "Kafka", "broker", "topics"
VARIABLE, PORT, TAKES = "KAFKA_BOOTSTRAP_SERVERS", 9092, "five seconds"
END, LAST_WISH = SIGTERM, SIGKILL

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"

ANSWER_WITHIN = 60.0
"""Seconds: Java starts in two, on a quiet machine."""

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


def consumer_groups(broker: Broker, *arguments: str) -> str:
    """Run ``kafka-consumer-groups`` with these arguments; return what it prints.

    Raises ServerFailed with its words where it fails, or takes too long.
    """
    jars = ":".join(map(str, [*class_path("kafka"), *class_path("tools")]))
    options = broker.spark_options().items()  # Java's names, behind "kafka."
    with tempfile.TemporaryDirectory() as folder:
        login = Path(folder, "client.properties")
        login.write_text(  # Java reads JSON's escapes
            "".join(f"{n.removeprefix('kafka.')}={json.dumps(v)[1:-1]}\n" for n, v in options)
        )
        command = [
            *(str(find_java().command), "-Xmx128m", "-XX:TieredStopAtLevel=1"),
            *("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"),
            f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={broker.security.get(TOKENS, '')}",
            *("-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", jars, CONSUMER_GROUPS),
            *("--bootstrap-server", broker.bootstrap, "--command-config", str(login), *arguments),
        ]
        try:
            ended = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace",
                env=environment(), timeout=ANSWER_WITHIN, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ServerFailed(
                f"kafka-consumer-groups hasn't answered within {ANSWER_WITHIN:.0f} s. Does the "
                "broker run? Look with: python -m workbook doctor"
            ) from None
    if ended.returncode:
        why = " ".join((ended.stderr or ended.stdout).strip().splitlines()[:3])
        raise ServerFailed(
            f"kafka-consumer-groups failed: {why}. Check its arguments and the broker."
        )
    return ended.stdout


def _escaped(folder: Path) -> str:
    """Escape a path for a properties file, which Java reads as Latin-1 with JSON's escapes."""
    return json.dumps(os.fsencode(folder).decode())[1:-1]

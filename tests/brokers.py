"""Brokers that are not the lab's: a real one that wants a login, and false ones."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from labs import DEADLINE, until

from workbook.stack import jars, kafka, ports
from workbook.stack.java import find_java


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.create_server((ports.LOOPBACK, 0)) as probe:
        return int(probe.getsockname()[1])


SCRAM = """\
listeners=SASL_PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SASL_PLAINTEXT://127.0.0.1:{port}
inter.broker.listener.name=SASL_PLAINTEXT
sasl.mechanism.inter.broker.protocol=SCRAM-SHA-256
sasl.enabled.mechanisms=SCRAM-SHA-256
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=\
org.apache.kafka.common.security.scram.ScramLoginModule required \
username="admin" password="right";
listener.security.protocol.map=CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
"""
"""A broker as a company has it: a login, and nobody may do what no rule allows him."""

USERS = {"admin": "right", "reader": "reads", "watcher": "watches", "stranger": "nothing"}
"""Users of ``broker_with_scram`` and their passwords."""


def answers(port: int) -> bool:
    """Whether something accepts connections on this port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((ports.LOOPBACK, port)) == 0


class OwnBroker:
    """A real broker that may be killed and started again: the same port, the same data.

    ``more`` names ports beside ``port`` and ``controller`` that stand in ``settings``; ``users``
    have a password each, for SCRAM.
    """

    def __init__(
        self,
        folder: Path,
        settings: str = kafka.SETTINGS,
        users: Mapping[str, str] = MappingProxyType({}),
        **more: int,
    ) -> None:
        jars.prefetch()
        port = free_port()
        self.bootstrap = f"{ports.LOOPBACK}:{port}"
        self._listening, self._log = [port, *more.values()], folder / "log"
        properties = folder / "server.properties"
        named = {"port": port, "controller": free_port(), **more}
        properties.write_text(settings.format(folder=folder, **named))
        java = [str(find_java().command), "-Xmx512m", "-cp"]
        java.append(":".join(map(str, jars.class_path("kafka"))))
        tool = [*java, "kafka.tools.StorageTool", "format", "-t", "workbook-of-a-test-000"]
        for name, password in users.items():
            for kind in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
                tool += ["--add-scram", f"{kind}=[name={name},password={password}]"]
        subprocess.run(
            [*tool, "-c", str(properties)], check=True, capture_output=True, timeout=DEADLINE
        )
        self._command = [*java, "kafka.Kafka", str(properties)]
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until its ports answer."""
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(self._command, stdout=log, stderr=log)
        until(lambda: all(map(answers, self._listening)), "a broker of this test")

    def kill(self) -> None:
        """End it by kill -9; harmless when it does not run."""
        if self._server is not None:
            self._server.kill()
            self._server.wait()

    def restart(self) -> None:
        """End it by SIGTERM, as an upgrade does, and start it again."""
        if self._server is not None:
            self._server.terminate()
            self._server.wait()
        self.start()

    def __enter__(self) -> OwnBroker:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


@contextmanager
def broker_with_scram(folder: Path) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    """A real broker with rules; yields its address, and each user's settings for Kafka's clients.

    ``reader`` may describe all topics and read __consumer_offsets, ``watcher`` describe all
    topics, ``stranger`` nothing, ``admin`` everything. No rule names a group.
    """
    with OwnBroker(folder, kafka.SETTINGS + SCRAM, USERS) as broker:
        configs = {user: login(broker.bootstrap, user) for user in USERS}
        rules = [
            allowed("reader", AclOperation.READ, "__consumer_offsets"),
            *(allowed(user, AclOperation.DESCRIBE, "*") for user in ("reader", "watcher")),
        ]
        admin = AdminClient(configs["admin"])
        for done in admin.create_acls(rules).values():
            done.result(DEADLINE)
        yield broker.bootstrap, configs


def sees(config: Mapping[str, str], *topics: str) -> bool:
    """Whether a user's rules already hold: he sees these topics."""
    listed = AdminClient({**config, "log_level": 0}).list_topics(timeout=30)
    return {*topics} <= {*listed.topics}


def login(address: str, user: str) -> dict[str, str]:
    """A user's settings for Kafka's clients."""
    return {
        "bootstrap.servers": address,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "SCRAM-SHA-256",
        "sasl.username": user,
        "sasl.password": USERS[user],
    }


def allowed(user: str, what: AclOperation, topic: str) -> AclBinding:
    """The rule that a user may do this with a topic; ``*`` stands for all of them."""
    place = (ResourceType.TOPIC, topic, ResourcePatternType.LITERAL)
    return AclBinding(*place, f"User:{user}", "*", what, AclPermissionType.ALLOW)


_LOADING = (KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS)


def commit(config: Mapping[str, str], group: str, topic: str, offset: int) -> None:
    """Commit an offset of partition 0, once the group's coordinator has loaded."""
    member = Consumer({**config, "group.id": group, "enable.auto.commit": False})

    def done() -> bool:
        try:
            member.commit(offsets=[TopicPartition(topic, 0, offset)], asynchronous=False)
        except KafkaException as failure:
            if failure.args[0].code() not in _LOADING:
                raise
            return False
        return True

    until(done, f"the commit of {group}")
    member.close()


@contextmanager
def false_broker(answer: Callable[[bytes], bytes]) -> Iterator[str]:
    """A server that answers whatever comes by ``answer`` and hangs up; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    link, _ = listener.accept()
                except OSError:
                    return
                with link:
                    link.settimeout(2)
                    try:
                        link.sendall(answer(link.recv(4096)))
                    except OSError:
                        continue

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)

"""Brokers that are not the lab's, real and false; and what tests write to any of them."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from labs import DEADLINE, until

from workbook.kafka.producer import SETTINGS as SENDS
from workbook.kafka.protocol import listens
from workbook.stack import jars, kafka, ports
from workbook.stack.java import find_java


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.create_server((ports.LOOPBACK, 0)) as probe:
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether something accepts connections on this port."""
    return listens(ports.LOOPBACK, port, within=0.5)


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


_LOADING = (KafkaError.NOT_COORDINATOR, KafkaError.COORDINATOR_LOAD_IN_PROGRESS)


def commit(
    config: Mapping[str, str], group: str, topic: str, offset: int, partition: int = 0
) -> None:
    """Commit an offset, once the group's coordinator has loaded."""
    member = Consumer({**config, "group.id": group, "enable.auto.commit": False})

    def done() -> bool:
        try:
            member.commit(offsets=[TopicPartition(topic, partition, offset)], asynchronous=False)
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


def message(value: bytes | None, partition: int = 0, offset: int = 0, timestamp: int = 0) -> Any:
    """A record of ``clicks`` without a key, as a consumer hands it out."""
    said = {"key": None, "value": value, "topic": "clicks", "partition": partition}
    said |= {"offset": offset, "timestamp": (1, timestamp)}
    return SimpleNamespace(**{name: lambda it=it: it for name, it in said.items()})


def produce(config: Mapping[str, str], topic: str, *records: tuple[Any, ...]) -> None:
    """Send records: each a value, and if need be its key, partition, timestamp (ms), headers."""
    refused = list[KafkaError]()
    producer = Producer({**SENDS, **config})
    for value, *more in records:
        key, partition, at, headers = (*more, *(None, -1, 0, None)[len(more) :])
        producer.produce(
            *(topic, value, key, partition), timestamp=at, headers=headers,
            on_delivery=lambda error, _: error and refused.append(error),
        )  # fmt: skip
        producer.poll(0)
    assert (producer.flush(60), refused) == (0, [])


def delete_before(config: Mapping[str, str], topic: str, offset: int, partition: int = 0) -> None:
    """Delete a partition's records before an offset, as its retention does."""
    place, admin = TopicPartition(topic, partition, offset), AdminClient(dict(config))
    admin.delete_records([place])[place].result(30)

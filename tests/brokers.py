"""Brokers that are not the lab's: a real one that wants a login, and false ones."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from labs import DEADLINE, until

from workbook.stack import kafka, ports
from workbook.stack.jars import class_path
from workbook.stack.java import find_java

LOGIN = """\
listeners=SASL_PLAINTEXT://127.0.0.1:{port},LOST://127.0.0.1:{lost},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SASL_PLAINTEXT://127.0.0.1:{port},LOST://127.0.0.1:1
inter.broker.listener.name=SASL_PLAINTEXT
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required \
username="admin" password="right" user_admin="right" user_learner="correct horse";
listener.security.protocol.map=CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,LOST:PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
allow.everyone.if.no.acl.found=true
"""
"""Two listeners: one wants a login; one is open, but sends its clients to where nobody answers.

Everybody may do everything, but with a topic that has rules of its own.
"""


def free_port() -> int:
    """A port on which nobody listens now."""
    with socket.create_server((ports.LOOPBACK, 0)) as probe:
        return int(probe.getsockname()[1])


class OwnBroker:
    """A real broker that may be killed and started again: the same port, the same data.

    ``more`` names ports beside ``port`` and ``controller`` that stand in ``settings``.
    """

    def __init__(self, folder: Path, settings: str = kafka.SETTINGS, **more: int) -> None:
        port = free_port()
        self.bootstrap = f"{ports.LOOPBACK}:{port}"
        self._listening, self._log = [port, *more.values()], folder / "log"
        properties = folder / "server.properties"
        named = {"port": port, "controller": free_port(), **more}
        properties.write_text(settings.format(folder=folder, **named))
        java = [str(find_java().command), "-Xmx512m", "-cp"]
        java.append(":".join(map(str, class_path("kafka"))))
        tool = [*java, "kafka.tools.StorageTool", "format", "-t", "workbook-of-a-test-000"]
        subprocess.run(
            [*tool, "-c", str(properties)], check=True, capture_output=True, timeout=DEADLINE
        )
        self._command = [*java, "kafka.Kafka", str(properties)]
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until its ports answer."""
        with self._log.open("ab") as log:
            self._server = subprocess.Popen(self._command, stdout=log, stderr=log)
        until(lambda: all(map(ports.answers, self._listening)), "a broker of this test")

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
def broker_with_login(folder: Path) -> Iterator[tuple[str, str]]:
    """A real broker, user ``learner``, password ``correct horse``.

    Yields the address that wants the login, and the one whose advertised address is wrong.
    """
    lost = free_port()
    # Of two lines for one setting, the last one counts.
    with OwnBroker(folder, kafka.SETTINGS + LOGIN, lost=lost) as broker:
        yield broker.bootstrap, f"{ports.LOOPBACK}:{lost}"


def api_versions(fetch: tuple[int, int]) -> Callable[[bytes], bytes]:
    """The answer of a broker that knows these versions of the fetch request, and no other."""
    known = struct.pack(">hi3h", 0, 1, 1, *fetch)

    def answer(request: bytes) -> bytes:
        body = request[8:12] + known
        return struct.pack(">i", len(body)) + body

    return answer


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

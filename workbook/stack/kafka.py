"""Starts a Kafka broker: one KRaft process on loopback, which keeps events of the past."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import psutil
from confluent_kafka.admin import AdminClient

from workbook.errors import ServerFailed
from workbook.stack import ports, started
from workbook.stack.jars import class_path
from workbook.stack.java import environment, find_java
from workbook.stack.process import failure, spawn

PORT = 9092
DEADLINE = 90.0
"""Seconds: the broker answers within two on a quiet machine, but machines are not always quiet."""

TRIES = 3

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


@dataclass(frozen=True, slots=True)
class Server:
    """A running server: its process, where it answers, and the command that starts it."""

    process: subprocess.Popen[bytes]
    address: str
    command: list[str]


async def start(folder: Path, say: Callable[[str], None]) -> Server:
    """Start a broker whose files are in ``folder`` of the run folder; returns when it answers."""
    for _ in range(TRIES):
        try:
            return await _start(folder, say)
        except ServerFailed as error:
            # Between our look at a port and the broker's use of it, another program was faster.
            if "already in use" not in str(error):
                raise
            failed = error
    raise failed


async def resume(folder: Path, stopped: Server, say: Callable[[str], None]) -> Server:
    """Start a broker again that was stopped: the same data, the same port."""
    return await _run(folder, stopped.command, stopped.address, say)


async def _start(folder: Path, say: Callable[[str], None]) -> Server:
    jars = ":".join(map(str, await asyncio.to_thread(class_path, "kafka")))
    java = await asyncio.to_thread(find_java)
    port = ports.choose(PORT)
    if port != PORT:
        say(f"Port {PORT} is taken by another program: Kafka uses {port}.")
    command = [
        *(str(java.command), "-Xms256m", "-Xmx512m", "-XX:+UseParallelGC", "-XX:-UsePerfData"),
        *(f"-Djava.io.tmpdir={folder}", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
        *("-cp", jars),
    ]
    properties = folder / "server.properties"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    properties.write_text(
        SETTINGS.format(port=port, controller=ports.choose(port + 1), folder=_escaped(folder))
    )
    await _format(command, properties, folder / "format.log")
    command = [*command, "kafka.Kafka", str(properties)]
    return await _run(folder, command, f"{ports.LOOPBACK}:{port}", say)


async def _run(
    folder: Path, command: list[str], address: str, say: Callable[[str], None]
) -> Server:
    say("Starting Kafka (about five seconds) ...")
    began, log = time.monotonic(), folder / "server.log"
    process = spawn(command, log, env=environment())
    started.note(folder.parent, psutil.Process(process.pid))
    await _until_it_answers(process, address, log, _cluster(folder))
    say(f"Kafka answers on {address} after {time.monotonic() - began:.1f} s.")
    return Server(process, address, command)


def _escaped(folder: Path) -> str:
    """Escape a path for a properties file, which Java reads as Latin-1 with JSON's escapes."""
    return json.dumps(os.fsencode(folder).decode())[1:-1]


async def _format(command: list[str], properties: Path, log: Path) -> None:
    cluster = urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    cluster = cluster.replace("-", "A")  # one with a dash in front would be taken for an option
    tool = ["kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(properties)]
    process = spawn(
        [command[0], "-XX:TieredStopAtLevel=1", *command[1:], *tool], log, env=environment()
    )
    if await asyncio.to_thread(process.wait) != 0:
        raise failure("Kafka's storage tool", process, log)


def _cluster(folder: Path) -> str:
    """Return the id that the storage tool gave to a broker's files."""
    lines = (folder / "data" / "meta.properties").read_text().splitlines()
    [cluster] = [line.partition("=")[2] for line in lines if line.startswith("cluster.id=")]
    return cluster


async def _until_it_answers(
    process: subprocess.Popen[bytes], address: str, log: Path, cluster: str
) -> None:
    """Wait for this very broker: another lab's may have taken the port a moment before."""
    deadline = time.monotonic() + DEADLINE
    while process.poll() is None and time.monotonic() < deadline:
        # The port first: librdkafka backs off for long after a refused connection.
        if ports.answers(int(address.rpartition(":")[2])):
            admin = AdminClient({"bootstrap.servers": address, "log_level": 0})
            try:
                found = await asyncio.to_thread(admin.list_topics, timeout=5)
            except Exception:  # not ready yet; the deadline decides
                continue
            if found.cluster_id == cluster:
                return
        await asyncio.sleep(0.05)
    error: ServerFailed = failure("Kafka", process, log)
    process.kill()
    raise error

"""The table of share holders in Kafka Streams: the same answer from the system that had it first.

The jars come from Maven Central into the cache's folder ``peers``; a JDK compiles the one file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from workbook.errors import JavaUnusable, TopicMissing, WorkbookError
from workbook.stack import jars
from workbook.stack.folders import cache_dir
from workbook.stack.java import INSTALL, environment, find_java

STREAMS = "org.apache.kafka:kafka-streams:4.3.1"
"""Brings Jackson, RocksDB and the compressors of its own choice."""

PROGRAM = Path(__file__).with_name("ShareHolders.java")
JVM = ("-Xms1g", "-Xmx2g", "-XX:+UseParallelGC", "-XX:-UsePerfData")
QUICK = (*JVM, "-XX:TieredStopAtLevel=1")
"""Leaves Java's second compiler out: faster in a cold run of seconds, slower once it is warm."""

DEADLINE = 300
"""Seconds that one round may take."""

DEFAULT: dict[str, str] = {"num.stream.threads": "2"}
"""Kafka Streams as it comes: a cache of 10 MB, a commit every 30 seconds."""

CACHE_OFF = {**DEFAULT, "statestore.cache.max.bytes": "0"}
"""Every update goes through as a remove and an add."""

TUNED = {
    **DEFAULT,
    "statestore.cache.max.bytes": str(256 << 20),
    "topology.optimization": "all",  # the topic itself is the changelog of the first store
    "dsl.store.suppliers.class": (
        "org.apache.kafka.streams.state.BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers"
    ),
    "buffered.records.per.partition": "20000",
    "metric.reporters": "",
    "poll.ms": "10",
    "main.consumer.fetch.max.wait.ms": "20",
    "main.consumer.max.poll.records": "20000",
    "main.consumer.max.partition.fetch.bytes": str(8 << 20),
    "main.consumer.fetch.max.bytes": str(64 << 20),
    "main.consumer.receive.buffer.bytes": str(4 << 20),
    "producer.batch.size": str(256 << 10),
    "producer.linger.ms": "20",
    "producer.compression.type": "lz4",
}


@dataclass(frozen=True, slots=True)
class Timing:
    """How many records one run took from the source, and seconds since ``streams.start()``.

    ``first``: a first record is in; ``read``: the last one; ``grouped``: the second half has seen
    every change; ``done``: all of it is in the target topic and committed, and the app is closed.
    """

    records: int
    first: float
    read: float
    grouped: float
    done: float


def share_holders(
    broker_bootstrap: str,
    source: str,
    target: str,
    updates: int,
    *,
    settings: Mapping[str, str] = TUNED,
    rounds: int = 1,
) -> float:
    """Seconds for the ``updates`` records that ``source`` holds: cold, or in the last of rounds.

    Both topics must exist, without a login; the source may not end in a transaction's marker.
    ``target`` gets client -> JSON array of position ids, or a tombstone. Raises ``WorkbookError``
    if the peer fails or found another number of records.
    """
    jvm = QUICK if rounds == 1 else JVM
    last = timed(broker_bootstrap, source, target, settings, jvm=jvm, rounds=rounds)[-1]
    if last.records != updates:
        raise WorkbookError(f"Kafka Streams found {last.records} records, not {updates}.")
    return last.done


def timed(
    bootstrap: str,
    source: str,
    target: str,
    settings: Mapping[str, str] = TUNED,
    *,
    jvm: tuple[str, ...] = JVM,
    rounds: int = 1,
) -> list[Timing]:
    """The whole topic, ``rounds`` times in one Java, each time by a new application.

    The first round is cold. What they leave (state folder, internal topics, groups) is removed.
    """
    known = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics
    for topic in {source, target} - set(known):
        raise TopicMissing(f"There is no topic {topic} at {bootstrap}: create it first.")
    application = f"share-holders-peer-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory(prefix="kafka-streams-") as state:
        asked = {
            **{"bootstrap.servers": bootstrap, "source": source, "target": target},
            **{"application.id": application, "state.dir": state},
            **{"deadline": str(DEADLINE), "rounds": str(rounds)},
            **settings,
        }
        try:
            return _run(jvm, [f"{name}={value}" for name, value in asked.items()], rounds)
        finally:
            _forget(bootstrap, application)


def classpath() -> str:
    """Kafka Streams' jars and the compiled program, fetched and compiled where they are missing."""
    folder = cache_dir() / "peers" / "-".join(STREAMS.split(":")[1:])
    if not folder.exists():
        _fetch(folder)
    classes = folder / hashlib.sha256(PROGRAM.read_bytes()).hexdigest()[:12]
    if not classes.exists():
        _compile(folder, classes)
    return f"{classes}{os.pathsep}{folder}{os.sep}*"


def _run(jvm: tuple[str, ...], arguments: list[str], rounds: int) -> list[Timing]:
    command = [str(find_java().command), *jvm, "-cp", classpath(), PROGRAM.stem, *arguments]
    patience = DEADLINE * rounds + 30
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(), timeout=patience
    )
    if done.returncode != 0:
        told = [
            line for line in done.stderr.splitlines() if re.match(r"\S.*(Exception|Error)", line)
        ]
        raise WorkbookError(
            f"Kafka Streams ended with {done.returncode}: {' ... '.join(told[:1] + told[1:][-1:])}"
        )
    return [Timing(*json.loads(line)) for line in done.stdout.splitlines()[-rounds:]]


def _fetch(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        for _ in jars.resolve(jars.ivy_module([STREAMS], transitive=True), Path(scratch)):
            pass
        shutil.move(Path(scratch) / "jars", folder)


def _compile(folder: Path, classes: Path) -> None:
    compiler = find_java().command.resolve().with_name("javac")
    if not compiler.exists():
        raise JavaUnusable(f"There is no {compiler}: the peer needs a whole JDK. {INSTALL}.")
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        target = Path(scratch) / "classes"
        command = [
            *(str(compiler), "--release", "17", "-cp", f"{folder}{os.sep}*"),
            *("-d", str(target), str(PROGRAM)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            raise WorkbookError(f"{PROGRAM.name} does not compile: {done.stderr.strip()}")
        shutil.move(target, classes)


def _forget(bootstrap: str, application: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    topics = [n for n in admin.list_topics(timeout=10).topics if n.startswith(f"{application}-")]
    groups = admin.list_consumer_groups().result(timeout=10).valid
    names = [g.group_id for g in groups if g.group_id.startswith(f"{application}-")]
    removals = [*(admin.delete_topics(topics).values() if topics else ())]
    removals += admin.delete_consumer_groups(names).values() if names else ()
    for removal in removals:
        with suppress(KafkaException):  # after a crash its group lives on until it times out
            removal.result(timeout=10)

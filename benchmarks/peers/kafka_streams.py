"""Share holders, merged visits and ad statistics in Kafka Streams: the same answers, timed.

The jars of jars.lock come from Maven Central into the cache; a JDK compiles the programs.
"""

import hashlib
import json
import os
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from workbook.errors import JavaUnusable, TopicMissing, WorkbookError
from workbook.stack import jars
from workbook.stack.folders import cache_dir
from workbook.stack.java import INSTALL, environment, find_java

LOCK = Path(__file__).with_name("jars.lock")
"""Kafka Streams brings Jackson, RocksDB and the compressors of its own choice."""

PROGRAMS = tuple(sorted(Path(__file__).parent.glob("*.java")))
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
    """How many records one run took from its topics, and seconds since ``streams.start()``.

    ``first``: a first record is in; ``read``: the last one; ``through``: all of it has been through
    the last operator; ``done``: it is in the target topic and committed, and the app is closed.
    """

    records: int
    first: float
    read: float
    through: float
    done: float


def share_holders(
    bootstrap: str,
    source: str,
    target: str,
    updates: int,
    *,
    settings: Mapping[str, str] = TUNED,
    rounds: int = 1,
) -> float:
    """Seconds for the ``updates`` records that ``source`` holds: cold, or in the last of rounds.

    ``target`` gets client -> JSON array of position ids, or a tombstone. Raises as ``timed``.
    """
    topics = {"source": source, "target": target}
    return timed("ShareHolders", bootstrap, topics, updates, settings, rounds)


def event_time_merge(
    bootstrap: str,
    topics: Sequence[str],
    target: str,
    records: int,
    limits: Mapping[str, int],
    *,
    settings: Mapping[str, str] = TUNED,
    rounds: int = 1,
) -> float:
    """Seconds for the ``records`` of both topics, heartbeats that complete every visit among them.

    Round n writes merged visits to ``target``-n, orders without a visit among them. ``limits``:
    timeout and horizon (ms). Raises as ``timed``.
    """
    more = {name: str(value) for name, value in limits.items()}
    more["memory"] = str(settings is TUNED).lower()
    named = {"source": topics[0], "orders": topics[1], "target": target}
    return timed("EventTimeMerge", bootstrap, named, records, {**settings, **more}, rounds)


def ad_statistics(
    bootstrap: str,
    topics: Mapping[str, str],
    records: int,
    ids: tuple[int, int],
    *,
    settings: Mapping[str, str] = TUNED,
    rounds: int = 1,
    every_ms: int = 5_000,
) -> float:
    """Seconds for the ``records`` of a topic of ad actions.

    ``topics``: ``source``, ``letters`` for what is rejected, and ``target``; round n writes to
    ``target``-n, key: ad, day, type and source with tabs between, value: the total. ``ids`` are
    those of the schema's versions. A partition reports its new totals each ``every_ms``, which is
    also the commit interval. Raises as ``timed``.
    """
    more = {"ids": ",".join(map(str, ids)), "every": str(every_ms)}
    settings = {"commit.interval.ms": str(every_ms), **settings, **more}
    return timed("AdStatistics", bootstrap, topics, records, settings, rounds)


def timed(
    program: str,
    bootstrap: str,
    topics: Mapping[str, str],
    records: int,
    settings: Mapping[str, str],
    rounds: int,
) -> float:
    """Seconds for the whole topics, the last of ``rounds`` in one Java, each a new application.

    The first round is cold. What they leave (state folder, internal topics, groups) is removed.
    The topics must exist, without a login; the sources may not end in a transaction's marker.
    Raises ``WorkbookError`` if the peer fails or found another number of records.
    """
    known = AdminClient({"bootstrap.servers": bootstrap}).list_topics(timeout=10).topics
    for topic in {name for role, name in topics.items() if role != "target"} - set(known):
        raise TopicMissing(f"There is no topic {topic} at {bootstrap}: create it first.")
    application = f"peer-{secrets.token_hex(4)}"
    with tempfile.TemporaryDirectory(prefix="kafka-streams-") as state:
        asked = {
            **{"bootstrap.servers": bootstrap, **topics},
            **{"application.id": application, "state.dir": state},
            **{"deadline": str(DEADLINE), "rounds": str(rounds)},
            **settings,
        }
        arguments = [f"{name}={value}" for name, value in asked.items()]
        try:
            last = _run(program, QUICK if rounds == 1 else JVM, arguments, rounds)[-1]
        finally:
            _forget(bootstrap, application)
    if last.records != records:
        raise WorkbookError(f"Kafka Streams found {last.records} records, not {records}.")
    return last.done


def classpath() -> str:
    """Kafka Streams' jars and the compiled program, fetched and compiled where they are missing."""
    peers = jars.locked(lock=LOCK)
    jars.prefetch(among=peers)
    found = os.pathsep.join(str(jar.path) for jar in peers)
    whole = b"".join(program.read_bytes() for program in PROGRAMS)
    classes = cache_dir() / "peers" / hashlib.sha256(whole).hexdigest()[:12]
    if not classes.exists():
        _compile(found, classes)
    return f"{classes}{os.pathsep}{found}"


def _run(program: str, jvm: tuple[str, ...], arguments: list[str], rounds: int) -> list[Timing]:
    command = [str(find_java().command), *jvm, "-cp", classpath(), program, *arguments]
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


def _compile(class_path: str, classes: Path) -> None:
    compiler = find_java().command.resolve().with_name("javac")
    if not compiler.exists():
        raise JavaUnusable(f"There is no {compiler}: the peer needs a whole JDK. {INSTALL}.")
    classes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
        target = Path(scratch) / "classes"
        command = [
            *(str(compiler), "--release", "17", "-cp", class_path),
            *("-d", str(target), *map(str, PROGRAMS)),
        ]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            raise WorkbookError(f"The peers do not compile: {done.stderr.strip()}")
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

"""Share holders, merged visits and ad statistics in Kafka Streams, as programs for the harness.

The jars of jars.lock come from Maven Central into the cache; a JDK compiles the programs.
``Rounds.java`` says how a program is called.
"""

import hashlib
import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from harness import Answer, Check, Program

from workbook.errors import JavaUnusable, WorkbookError
from workbook.kafka.broker import Broker
from workbook.stack import jars
from workbook.stack.client import scratch_dir
from workbook.stack.folders import cache_dir
from workbook.stack.java import INSTALL, environment, find_java

LOCK = Path(__file__).with_name("jars.lock")
"""Kafka Streams brings Jackson, RocksDB and the compressors of its own choice."""

PROGRAMS = tuple(sorted(Path(__file__).parent.glob("*.java")))
JVM = ("-Xms1g", "-Xmx2g", "-XX:+UseParallelGC", "-XX:-UsePerfData")
FLAGS = {"all compilers": JVM, "first compiler": (*JVM, "-XX:TieredStopAtLevel=1")}
"""Without Java's second compiler a program is quicker for some seconds, and slower once warm."""

DEFAULT: dict[str, str] = {"num.stream.threads": "2"}
"""Kafka Streams as it comes: a cache of 10 MB, a commit every 30 seconds."""

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


@dataclass(frozen=True)
class Peer:
    """A class of this folder on topics that exist, which hold ``records`` without a transaction.

    ``target`` creates what a round writes to; it returns the settings that name it, and a check.
    """

    broker: Broker
    program: str
    settings: Mapping[str, str]
    records: int
    target: Callable[[], tuple[dict[str, str], Check]]

    def begin(self, _: int) -> tuple[str, Check]:
        """Make a round an application of its own; the check also removes what it leaves."""
        application = f"peer-{secrets.token_hex(4)}"
        settings, right = self.target()

        def check(answer: Answer) -> None:
            assert answer["records"] == self.records, answer
            right(answer)
            _forget(self.broker.bootstrap, application)

        named = {"application.id": application, **settings}
        return "\t".join(f"{name}={value}" for name, value in named.items()), check


def programs(peer: Peer, kinds: Mapping[str, tuple[Mapping[str, str], str]]) -> list[Program]:
    """Return a program for each kind (its settings and its promise), with each set of flags.

    Raises ``JavaUnusable`` without a JDK, ``WorkbookError`` if it can't compile them.
    """
    made = []
    for kind, (more, promise) in kinds.items():
        given = {"bootstrap.servers": peer.broker.bootstrap, "deadline": "600"}
        given |= {"state.dir": f"{scratch_dir()}/kafka-streams", **peer.settings, **more}
        words = [peer.program, *(f"{name}={value}" for name, value in given.items())]
        for flags, jvm in FLAGS.items():
            command = [str(find_java().command), *jvm, "-cp", classpath(), *words]
            name = f"Kafka Streams, {kind}, {flags}"
            made.append(Program(name, command, peer.begin, promise, "peer"))
    return made


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


def _compile(class_path: str, classes: Path) -> None:
    compiler = find_java().command.resolve().with_name("javac")
    if not compiler.exists():
        raise JavaUnusable(f"There is no {compiler}: the peer needs a whole JDK. {INSTALL}.")
    classes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=classes.parent) as scratch:
        where = ("-cp", class_path, "-d", f"{scratch}/classes")
        command = [str(compiler), "--release", "17", *where, *map(str, PROGRAMS)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment())
        if done.returncode != 0:
            raise WorkbookError(f"The peers do not compile: {done.stderr.strip()}")
        shutil.move(f"{scratch}/classes", classes)


def _forget(bootstrap: str, application: str) -> None:
    """Delete the group of an application and its internal topics."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    topics = [n for n in admin.list_topics(timeout=10).topics if n.startswith(f"{application}-")]
    removals = [*admin.delete_consumer_groups([application]).values()]
    removals += admin.delete_topics(topics).values() if topics else ()
    for removal in removals:
        with suppress(KafkaException):  # it may have no group, or no topics
            removal.result(timeout=10)

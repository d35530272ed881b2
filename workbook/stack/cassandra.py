"""Starts a Cassandra node: one process on loopback, without JMX, for data that is to be migrated.

It asks for no password, like the lab's broker: its port is for the programs of this machine.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING

from workbook.errors import CassandraUnreachable
from workbook.stack import jars, ports
from workbook.stack.java import Java, fetched_java, find_java
from workbook.stack.server import ANSWER_WITHIN, advice, first_line, shown

if TYPE_CHECKING:
    from cassandra.cluster import Session

NAME, SUBJECT, KEEPS = "Cassandra", "Cassandra", "tables"
VARIABLE, FORM = "CASSANDRA_CONTACT_POINTS", "host:port,host:port"
PORT, TAKES = 9042, "ten seconds"
END, LAST_WISH = SIGTERM, SIGKILL

SETTINGS = {
    "cluster_name": "workbook",
    "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
    "num_tokens": 16,
    "listen_address": ports.LOOPBACK,
    "rpc_address": ports.LOOPBACK,
    "endpoint_snitch": "SimpleSnitch",
    "commitlog_sync": "batch",  # a replay after a kill reads up to the last sync
    "commitlog_segment_size": "8MiB",
    "memtable_heap_space": "96MiB",
    "auto_snapshot": False,
    "read_request_timeout": "5s",
    "range_request_timeout": "10s",
}
"""As JSON, which is YAML, too."""

FOLDERS = ("commitlog_directory", "saved_caches_directory", "hints_directory", "cdc_raw_directory")

LOGGING = """\
<configuration>
  <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d{HH:mm:ss} %-5level %logger{0} %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="OUT"/></root>
</configuration>
"""

OPENED = (
    *("lang", "lang.ref", "lang.module", "io", "nio", "util", "util.concurrent"),
    "util.concurrent.atomic",
)
INTERNAL = ("misc", "loader", "ref", "reflect", "math", "module", "util.jar")

NEWEST_JAVA = 23
"""The last one that has the security manager."""

_POINT = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([\w.-]+))(?::(\d{1,5}))?")


def own_java() -> Java:
    """Return the Java of everything else, or the fetched one where Cassandra can't run on it."""
    java = find_java()
    newer = f"Cassandra can't run on Java {java.major}"
    return fetched_java(newer) if java.major > NEWEST_JAVA else java


def prepare(folder: Path, port: int) -> tuple[list[str], str]:
    """Write the node's settings into ``folder``; return its command and its address."""
    inside = ports.choose(port + 1)
    seeds = {"seeds": f"{ports.LOOPBACK}:{inside}"}
    provider = "org.apache.cassandra.locator.SimpleSeedProvider"
    settings = {
        **SETTINGS,
        **{name: str(folder / name) for name in FOLDERS},
        "native_transport_port": port,
        "storage_port": inside,
        "data_file_directories": [str(folder / "data")],
        "seed_provider": [{"class_name": provider, "parameters": [seeds]}],
    }
    (folder / "cassandra.yaml").write_text(json.dumps(settings, indent=1))
    (folder / "logback.xml").write_text(LOGGING)
    files = jars.class_path("cassandra")
    [agent] = [jar for jar in files if jar.name.startswith("jamm-")]
    java = own_java()
    command = [
        *(str(java.command), "-Xms256m", "-Xmx512m", "-Xss512k", "-XX:+UseSerialGC"),
        *("-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"),
        *(f"-Djava.io.tmpdir={folder}", f"-javaagent:{agent}"),
        *_opened(),
        # It sets a security manager, which Java 18 to 23 allow only if asked.
        *(("-Djava.security.manager=allow",) if java.major > 17 else ()),
        f"-Dcassandra.config=file://{folder / 'cassandra.yaml'}",
        f"-Dcassandra.storagedir={folder}",
        *("-Dcassandra-foreground=yes", "-Dcassandra.superuser_setup_delay_ms=0"),
        *("-Dcassandra.skip_wait_for_gossip_to_settle=0", "-Dcassandra.ring_delay_ms=100"),
        "-Dcassandra.shutdown_announce_in_ms=0",  # there is no other node to be told
        f"-Dlogback.configurationFile={folder / 'logback.xml'}",
        *("-cp", ":".join(map(str, files))),
        "org.apache.cassandra.service.CassandraDaemon",
    ]
    return command, f"{ports.LOOPBACK}:{port}"


def answers(address: str) -> bool:
    """Return True if the node answers."""
    from cassandra import DriverException
    from cassandra.cluster import NoHostAvailable

    with suppress(NoHostAvailable, DriverException, OSError), connected(address):
        return True
    return False


def check(address: str, within: float = ANSWER_WITHIN) -> None:
    """Raise ``CassandraUnreachable`` with the likely cause unless a node lets us in."""
    from cassandra import DriverException, UnresolvableContactPoints
    from cassandra.cluster import NoHostAvailable

    try:
        with connected(address, within / len(points(address))):
            return
    except ValueError:
        why = f"these are no addresses of the form {FORM}"
    except UnresolvableContactPoints:
        why = "no such host is known"
    except (NoHostAvailable, DriverException) as error:
        of_nodes = getattr(error, "errors", None)
        why = _of_a_node(next(iter(of_nodes.values())) if isinstance(of_nodes, dict) else error)
    raise CassandraUnreachable(
        f"Expected Cassandra at {shown(address)}, but {why}. " + advice("cassandra", VARIABLE, FORM)
    )


def _of_a_node(error: Exception) -> str:
    """Return why a node doesn't let us in; the driver's own words name no password."""
    from cassandra import AuthenticationFailed, OperationTimedOut

    if isinstance(error, AuthenticationFailed):
        return f"it refuses the login of CASSANDRA_USERNAME and CASSANDRA_PASSWORD ({error})"
    if isinstance(error, OperationTimedOut | TimeoutError):
        return "it doesn't answer in time"
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    return f"another program answers there ({first_line(error)})"


def points(text: str) -> list[tuple[str, int]]:
    """Return hosts and ports of ``host:port,[v6]:port,host``; raise ``ValueError`` for others."""
    found = []
    for place in text.split(","):
        fits = _POINT.fullmatch(place.strip())
        port = int(fits[3] or PORT) if fits else 0
        if not fits or not 0 < port < 2**16:
            raise ValueError("expected addresses of the form host:port,host:port")
        found.append((fits[1] or fits[2], port))
    return found


@contextmanager
def connected(contact_points: str, within: float = 10.0) -> Iterator[Session]:
    """Connect as ``connect`` does, and close the connection at the end of the block."""
    session = connect(contact_points, within)
    with session.cluster:
        yield session


def login() -> tuple[str, str] | None:
    """Return CASSANDRA_USERNAME and CASSANDRA_PASSWORD, where they are set."""
    user = os.environ.get("CASSANDRA_USERNAME")
    return (user, os.environ.get("CASSANDRA_PASSWORD", "")) if user else None


def connect(
    contact_points: str, within: float = 10.0, by: tuple[str, str] | None = None
) -> Session:
    """Return a session with the cluster of ``host:port,host:port``.

    An answer may take ``within`` seconds. It logs in ``by`` a user and a password; None: by those
    of ``login``. A read asks a quorum of the replicas, so it finds a row that one of them
    missed. Raises ``ValueError`` for what are no contact points, else the driver's
    ``NoHostAvailable`` or ``UnresolvableContactPoints``.
    """
    from cassandra import ConsistencyLevel
    from cassandra.auth import PlainTextAuthProvider
    from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile
    from cassandra.policies import (
        ConstantReconnectionPolicy,
        DCAwareRoundRobinPolicy,
        TokenAwarePolicy,
    )
    from cassandra.query import tuple_factory

    # It warns of each version of the protocol that it tries.
    logging.getLogger("cassandra").setLevel(logging.ERROR)
    by = by or login()
    profile = ExecutionProfile(
        TokenAwarePolicy(DCAwareRoundRobinPolicy()),
        consistency_level=ConsistencyLevel.LOCAL_QUORUM,
        request_timeout=within,
        row_factory=tuple_factory,
    )
    cluster = Cluster(
        points(contact_points),
        auth_provider=PlainTextAuthProvider(*by) if by else None,
        execution_profiles={EXEC_PROFILE_DEFAULT: profile},
        connect_timeout=within,
        reconnection_policy=ConstantReconnectionPolicy(1.0, None),
    )
    try:
        return cluster.connect()
    except BaseException:
        cluster.shutdown()
        raise


def _opened() -> list[str]:
    """Return the flags by which Java lets Cassandra use what it has used since Java 8."""
    opened = [f"java.base/java.{name}" for name in OPENED]
    opened += [f"java.base/jdk.internal.{name}" for name in INTERNAL]
    opened += ["java.base/sun.nio.ch", "jdk.management/com.sun.management.internal"]
    exported = [
        *("java.base/jdk.internal.misc", "java.base/jdk.internal.ref", "java.base/sun.nio.ch"),
        *("java.management.rmi/com.sun.jmx.remote.internal.rmi", "java.sql/java.sql"),
        *("java.rmi/sun.rmi.registry", "java.rmi/sun.rmi.server", "jdk.unsupported/sun.misc"),
    ]
    return [
        *("-Djdk.attach.allowAttachSelf=true",),
        *(f"--add-opens={name}=ALL-UNNAMED" for name in opened),
        *(f"--add-exports={name}=ALL-UNNAMED" for name in exported),
    ]

"""Registry, database, Cassandra: the lab's own keep what they have, others are checked."""

import asyncio
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from itertools import chain

import psutil
import psycopg
import pytest
from brokers import false_broker, free_port
from cassandra import AuthenticationFailed
from confluent_kafka.schema_registry import Schema, SchemaRegistryClient
from confluent_kafka.schema_registry.error import SchemaRegistryError
from labs import OwnLab, listening, until

from workbook.errors import (
    CassandraUnreachable,
    DatabaseUnreachable,
    RegistryUnreachable,
    WorkbookError,
)
from workbook.stack import cassandra as cassandra_server
from workbook.stack import postgres, server
from workbook.stack import registry as registry_server
from workbook.stack.addresses import cassandra, database, registry
from workbook.stack.cassandra import connected, points
from workbook.stack.client import Lease
from workbook.stack.process import end_tree


@pytest.fixture
def lab(lab: OwnLab) -> Iterator[OwnLab]:
    """No other lab can take its ports while a server is stopped: they aren't the usual ones."""
    with ExitStack() as held:
        for kind in (registry_server, postgres, cassandra_server):
            with suppress(OSError):  # somebody else has it already
                held.enter_context(socket.create_server(("127.0.0.1", kind.PORT)))
        yield lab


def record(*fields: str) -> Schema:
    of_fields = ",".join(f'{{"name": "{name}", "type": "string"}}' for name in fields)
    return Schema(f'{{"type": "record", "name": "AdAction", "fields": [{of_fields}]}}', "AVRO")


def stop_and_start(lab: OwnLab, user: Lease, name: str) -> None:
    began = time.monotonic()
    user.ask("stop", name=name)
    assert time.monotonic() - began < 5, "it waited for its clients"
    user.ask("start", name=name)


def kill(lab: OwnLab, user: Lease, name: str) -> None:
    words = {"registry": "apicurio", "postgres": "bin/postgres", "cassandra": "CassandraDaemon"}
    [server] = lab.servers(words[name])
    server.kill()
    until(lambda: name in user.ask("status")["ended"], f"the end of {name}")


def test_tables_outlive_a_stopped_and_a_killed_database(lab: OwnLab) -> None:
    user = Lease("user")
    address = user.ask("server", name="postgres")
    waiting = psycopg.connect(address, autocommit=True)
    waiting.execute("CREATE TABLE counted AS SELECT 7 AS clicks")
    for end in (stop_and_start, kill):
        end(lab, user, "postgres")
        assert user.ask("server", name="postgres") == address
        with psycopg.connect(address) as again:
            assert again.execute("SELECT clicks FROM counted").fetchone() == (7,)
    user.close()
    lab.assert_nothing_is_left(set())


def test_schemas_their_ids_and_their_rules_outlive_a_stopped_and_a_killed_registry(lab) -> None:
    user = Lease("user")
    client = SchemaRegistryClient({"url": user.ask("server", name="registry")})
    assert client.get_subjects() == [], "a new lab's registry is empty"
    client.set_compatibility(level="FULL")
    names = ["views", "clicks"]
    ids = [client.register_schema(name, record("id", name)) for name in names]
    for end in (stop_and_start, kill):
        end(lab, user, "registry")
        again = SchemaRegistryClient({"url": user.ask("server", name="registry")})
        known = [again.get_schema(number).schema_str for number in ids]
        assert known == [record("id", name).schema_str for name in names]
        with pytest.raises(SchemaRegistryError, match="Incompatible"):
            again.register_schema("views", record("id"))
        names.append(f"after_{end.__name__}")
        more = again.register_schema(names[-1], record("id", names[-1]))
        assert more not in ids
        ids.append(more)
    user.close()
    lab.assert_nothing_is_left(set())


def test_rows_outlive_a_killed_cassandra(lab: OwnLab) -> None:
    user = Lease("user")
    address = user.ask("server", name="cassandra")
    with connected(address) as session:
        of_one = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
        session.execute(f"CREATE KEYSPACE old WITH replication = {of_one}")
        session.execute("CREATE TABLE old.counted (ad text PRIMARY KEY, clicks bigint)")
        session.execute("INSERT INTO old.counted (ad, clicks) VALUES ('a', 7)")
    [node] = lab.servers("CassandraDaemon")
    assert {ip.removeprefix("::ffff:") for ip, _ in listening(node)} == {"127.0.0.1"}
    assert len(listening(node)) == 2, "for clients and for nodes, and none for JMX"
    kill(lab, user, "cassandra")
    assert user.ask("server", name="cassandra") == address
    with connected(address) as session:
        assert session.execute("SELECT ad, clicks FROM old.counted").all() == [("a", 7)]
    open_ports = lab.ports()
    user.close()
    lab.assert_nothing_is_left(open_ports)


def test_nobody_else_reads_the_password_and_a_wrong_one_is_named(lab, capfd, monkeypatch) -> None:
    user = Lease("user")
    address = user.ask("server", name="postgres", say=print)
    password = re.fullmatch(r"postgresql://workbook:(\w{48})@127.*/workbook", address)[1]
    assert lab.folder.stat().st_mode & 0o777 == 0o700
    lab.workbook("stop", "postgres")
    user.ask("start", name="postgres", say=print)
    _, said = lab.workbook("doctor")
    assert "the lab's own answers at postgresql://127.0.0.1:" in said
    written = [f.read_text(errors="replace") for f in lab.folder.rglob("*.log") if f.is_file()]
    shown = [p.info["cmdline"] or [] for p in psutil.process_iter(["cmdline"])]
    seen = [*written, *chain(*shown), said, capfd.readouterr().out]
    assert not [text for text in seen if password in text]
    monkeypatch.setenv("DATABASE_URL", address)
    assert database() == address
    monkeypatch.setenv("DATABASE_URL", address.replace(password, "secret"))
    said = refused(database, DatabaseUnreachable)
    assert 'password authentication failed for user "workbook"' in said
    user.close()
    lab.assert_nothing_is_left(set())


def test_a_port_that_was_taken_meanwhile_is_given_up(tmp_path, monkeypatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as faster:
        port = faster.getsockname()[1]
        taken = [port]
        monkeypatch.setattr(
            server.ports, "choose", lambda usual: taken.pop() if taken else free_port()
        )
        made = asyncio.run(server.start(postgres, tmp_path / "lab" / "server", print))
        faster.setblocking(False)
        with pytest.raises(BlockingIOError):  # nobody has told it a password
            faster.accept()
    assert f":{port}" not in made.address
    end_tree(psutil.Process(made.process.pid), postgres.END)


def refused(asked: Callable[[], str], kind: type[WorkbookError]) -> str:
    began = time.monotonic()
    with pytest.raises(kind) as error:
        asked()
    assert time.monotonic() - began < 10
    assert "secret" not in str(error.value)
    return str(error.value)


FOREIGN: list[tuple[Callable[[], str], str, str]] = [
    (registry, "http://{web}/apis", "HTTP status 401"),
    (registry, "http://me:se/secret@b:9", "no URL of the form"),
    (database, "postgresql://me:secret@lost.invalid/x", "failed to resolve host 'lost.invalid'"),
    (database, "postgresql://me:a@secret@lost.invalid/x", "resolve host '…@lost.invalid'"),
    (database, "postgresql://me:sec ret@b/x?password=secret", "no URL of the form postgresql://u"),
    (cassandra, "127.0.0.1:{free},[::1]:{free}", "at 127.0.0.1:.*Connection refused"),
    (cassandra, "lost.invalid", "at lost.invalid, but no such host is known"),
    (cassandra, "{web}", "another program answers there"),
    (cassandra, "{silent},{silent}", "it doesn't answer in time"),
    (cassandra, "me:secret@b:9", "at the address that you gave, but these are no addresses"),
    (cassandra, "cassandra://me:secret@b:9", "at cassandra://b:9, but these are no addresses"),
    (cassandra, "b:70000", "no addresses of the form host:"),
]
NAMED = {
    registry: ("SCHEMA_REGISTRY_URL", RegistryUnreachable),
    database: ("DATABASE_URL", DatabaseUnreachable),
    cassandra: ("CASSANDRA_CONTACT_POINTS", CassandraUnreachable),
}


@pytest.mark.parametrize(("asked", "place", "why"), FOREIGN)
def test_a_foreign_server_that_does_not_serve_is_named(
    asked: Callable[[], str], place: str, why: str,
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("CASSANDRA_USERNAME", "me")
    monkeypatch.setenv("CASSANDRA_PASSWORD", "secret")
    variable, error = NAMED[asked]
    with (
        false_broker(lambda request: b"HTTP/1.1 401 Unauthorized\r\n\r\n") as web,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        silent = f"127.0.0.1:{listener.getsockname()[1]}"
        place = place.format(free=free_port(), web=web, silent=silent)
        monkeypatch.setenv(variable, place)
        said = refused(asked, error)
    assert re.search(f"Expected .*{why}.*Check {variable}", said)
    assert "secret" not in "".join(capfd.readouterr())


def test_a_cassandra_that_wants_a_login_is_named_with_its_variables() -> None:
    why = cassandra_server._of_a_node(AuthenticationFailed("Remote end requires authentication"))
    assert "the login of CASSANDRA_USERNAME and CASSANDRA_PASSWORD (Remote end requires" in why


def test_contact_points_may_leave_out_the_port_and_be_ipv6() -> None:
    assert points("localhost, b:1,[::1]:9043") == [("localhost", 9042), ("b", 1), ("::1", 9043)]

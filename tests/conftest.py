"""One lab of its own for the whole test run: a real broker and a real Spark."""

import os
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

# Before anything of the package is used: tests must not meet a lab that is open in this checkout.
os.environ["WORKBOOK_LAB"] = f"test-{os.getpid()}"
for name in (
    *("KAFKA_BOOTSTRAP_SERVERS", "KAFKA_CONFIG", "KAFKA_SECURITY_PROTOCOL", "SPARK_MASTER"),
    *("SCHEMA_REGISTRY_URL", "DATABASE_URL", "CASSANDRA_CONTACT_POINTS"),
):
    os.environ.pop(name, None)

# Of two test processes one may stop a server while the other starts one: neither gets the port that
# the registry or PostgreSQL usually has.
_usual = [socket.socket(), socket.socket()]
for taken, port in zip(_usual, (8081, 5432), strict=True):
    with suppress(OSError):  # somebody has it already
        taken.bind(("127.0.0.1", port))
        taken.listen()

import psycopg
from labs import OwnLab, own_lab
from secured import Secured, secured_broker

from workbook.cli.console import ENDINGS
from workbook.kafka.broker import Broker
from workbook.stack import jars
from workbook.stack.addresses import kafka
from workbook.topics import Topic, new_topic


@pytest.fixture(scope="session")
def fetched() -> None:
    """All jars, checked once."""
    jars.prefetch(among=jars.locked())


@pytest.fixture
def lab(fetched: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnLab]:
    """A lab of its own, of which this process is a user as well."""
    with own_lab() as mine:
        monkeypatch.setenv("WORKBOOK_LAB", mine.name)
        yield mine


@pytest.fixture(scope="session")
def broker() -> Broker:
    """The lab's own broker."""
    jars.prefetch()
    return kafka("tests")


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    """A broker with TLS, passwords, client certificates and rules; no lab's own."""
    with secured_broker(tmp_path_factory.mktemp("secured")) as running:
        yield running


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """One Spark session for all tests."""
    jars.prefetch()
    from workbook.spark.session import spark_session

    session = spark_session("tests", quiet=True, brief=True)
    yield session
    session.stop()


@pytest.fixture(scope="session")
def url() -> str:
    """The address of the lab's own PostgreSQL."""
    from workbook.stack.addresses import database

    return database("tests")


@pytest.fixture
def schema(url: str) -> Iterator[str]:
    """A schema of this test, and none when it has ended."""
    name = f"test_{secrets.token_hex(4)}"
    with psycopg.connect(url) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    yield name
    with psycopg.connect(url) as connection:  # another one: a test may cut all that are open
        connection.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def signals_as_before() -> Iterator[None]:
    """For a test that calls a command, which hears signals."""
    before = {number: signal.getsignal(number) for number in ENDINGS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def topic(broker: Broker, request: pytest.FixtureRequest) -> Callable[..., Topic]:
    """Make a topic of this test: ``topic("clicks", partitions=4)``, its dead letters too."""

    def make(stream: str = "clicks", partitions: int = 1) -> Topic:
        made = new_topic(stream, request.node.originalname[:40], partitions)
        broker.create(made, made.dead_letters)
        return made

    return make

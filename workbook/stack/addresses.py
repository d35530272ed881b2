"""Finds the servers in use: the lab's own or the environment's."""

import os
import re

from workbook.errors import CassandraUnreachable, DatabaseUnreachable
from workbook.kafka.broker import Broker, external
from workbook.stack import jars
from workbook.stack.client import lease
from workbook.stack.server import shown

ANSWER_WITHIN = 4.0
"""Seconds that a server has to answer before it counts as down."""


def kafka(role: str = "kernel") -> Broker:
    """Return the broker of KAFKA_BOOTSTRAP_SERVERS, else the lab's own, started on first use.

    Raises ``BrokerUnreachable`` within ten seconds if the former does not answer.
    """
    broker = external()
    if broker is None:
        broker = Broker(lease(role).ask("server", name="kafka"), ours=True)
    broker.check()
    return broker


def registry(role: str = "kernel") -> str:
    """Return the URL of SCHEMA_REGISTRY_URL, else of the lab's own, started on first use.

    Raises ``RegistryUnreachable`` within ten seconds if it doesn't answer.
    """
    url = os.environ.get("SCHEMA_REGISTRY_URL")
    if not url:
        jars.unpacked("registry")
        url = str(lease(role).ask("server", name="registry"))
    check_registry(url)
    return url


def database(role: str = "kernel") -> str:
    """Return the URL of DATABASE_URL, else of the lab's own, started on first use.

    Raises ``DatabaseUnreachable`` within ten seconds if it doesn't let us work.
    """
    url = os.environ.get("DATABASE_URL") or str(lease(role).ask("server", name="postgres"))
    check_database(url)
    return url


def cassandra(role: str = "kernel") -> str:
    """Return the CASSANDRA_CONTACT_POINTS, else those of the lab's own, started on first use.

    Raises ``CassandraUnreachable`` within ten seconds if none of them answers.
    """
    points = os.environ.get("CASSANDRA_CONTACT_POINTS")
    if not points:
        jars.prefetch(among=jars.locked("cassandra"))
        points = str(lease(role).ask("server", name="cassandra"))
    check_cassandra(points)
    return points


def check_registry(url: str, within: float = ANSWER_WITHIN) -> None:
    """Raise ``RegistryUnreachable`` with the likely cause unless the registry lists its schemas."""
    from workbook.kafka.registry import FORM, subjects

    subjects(url, within, _advice("registry", "SCHEMA_REGISTRY_URL", FORM))


def check_database(url: str, within: float = ANSWER_WITHIN) -> None:
    """Raise ``DatabaseUnreachable`` with the likely cause unless the database lets us in."""
    import psycopg

    form = "postgresql://user:password@host:port/database"
    try:
        psycopg.connect(url, connect_timeout=int(within)).close()
        return
    except psycopg.ProgrammingError:  # whose words may hold the password
        why = f"this is no URL of the form {form}"
    except psycopg.Error as error:  # an @ in a password cuts it: the rest would be the host
        why = re.sub(r"[^\s'\"]*@", "…@", _first_line(error))
    raise DatabaseUnreachable(
        f"Expected a PostgreSQL database at {shown(url)}, but {why}. "
        + _advice("postgres", "DATABASE_URL", form)
    )


def check_cassandra(places: str, within: float = ANSWER_WITHIN) -> None:
    """Raise ``CassandraUnreachable`` with the likely cause unless a node lets us in."""
    from cassandra import DriverException, UnresolvableContactPoints
    from cassandra.cluster import NoHostAvailable

    from workbook.stack.cassandra import connected, points

    form = "host:port,host:port"
    try:
        with connected(places, within / len(points(places))):
            return
    except ValueError:
        why = f"these are no addresses of the form {form}"
    except UnresolvableContactPoints:
        why = "no such host is known"
    except (NoHostAvailable, DriverException) as error:
        of_nodes = getattr(error, "errors", None)
        why = _of_a_node(next(iter(of_nodes.values())) if isinstance(of_nodes, dict) else error)
    raise CassandraUnreachable(
        f"Expected Cassandra at {shown(places)}, but {why}. "
        + _advice("cassandra", "CASSANDRA_CONTACT_POINTS", form)
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
    return f"another program answers there ({_first_line(error)})"


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].replace(". ", ", ")


def _advice(name: str, variable: str, form: str) -> str:
    if os.environ.get(variable):
        return f"Check {variable} ({form}) and that the server runs, or unset it for the lab's own."
    return (
        f"It is the lab's own. If somebody stopped it, run: python -m workbook start {name}. "
        "Otherwise end it by `python -m workbook down`, then restart the kernel or the lab."
    )

"""Finds the servers in use: the environment's, else the lab's own, started on first use.

Each raises an error of its own within ten seconds if it doesn't let us work.
"""

import os

from workbook.kafka.broker import Broker, external
from workbook.stack.client import lease
from workbook.stack.jars import ON_DEMAND, locked, prefetch
from workbook.stack.supervisor import SERVERS


def kafka(role: str = "kernel") -> Broker:
    """Return the broker of KAFKA_BOOTSTRAP_SERVERS or KAFKA_CONFIG, else the lab's own."""
    address = in_use("kafka", role)
    return external() or Broker(address, ours=True)


def registry(role: str = "kernel") -> str:
    """Return the URL of SCHEMA_REGISTRY_URL, else of the lab's own."""
    return in_use("registry", role)


def database(role: str = "kernel") -> str:
    """Return the URL of DATABASE_URL, else of the lab's own."""
    return in_use("postgres", role)


def cassandra(role: str = "kernel") -> str:
    """Return the CASSANDRA_CONTACT_POINTS, else those of the lab's own."""
    return in_use("cassandra", role)


def in_use(name: str, role: str) -> str:
    """Return the address of a server, once it has let us in."""
    address = named(name)
    if not address:
        if name in ON_DEMAND and name not in lease(role).ask("status")["servers"]:
            prefetch(among=locked(name))  # here, where its progress is seen
        address = str(lease(role).ask("server", name=name))
    SERVERS[name].check(address)
    return address


def named(name: str) -> str:
    """Return the address of the server to use in place of the lab's own; empty if none is named."""
    if name == "kafka":  # its settings may be in a file
        broker = external()
        return broker.bootstrap if broker else ""
    return os.environ.get(SERVERS[name].VARIABLE, "")

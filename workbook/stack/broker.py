"""Finds the Kafka broker in use: the lab's own, or the one that the environment names."""

from __future__ import annotations

from workbook.kafka.broker import Broker, external
from workbook.stack.client import lease


def kafka(role: str = "kernel") -> Broker:
    """Return the broker of KAFKA_BOOTSTRAP_SERVERS, else the lab's own, started on first use.

    Raises ``BrokerUnreachable`` within ten seconds if the former does not answer.
    """
    broker = external()
    if broker is None:
        broker = Broker(lease(role).ask("server", name="kafka"), ours=True)
    broker.check()
    return broker

"""The first words of Kafka's protocol, to see who answers before a client trusts it.

A client library that meets a server of another kind may wait, or even abort its process.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress

from workbook.errors import BrokerUnreachable

API_VERSIONS, FETCH = 18, 1
TLS_ALERT = b"\x15"
CURRENT, TOO_OLD = "4.0 or newer", "older than 2.1"
Versions = dict[int, tuple[int, int]]

NOT_KAFKA = "Check KAFKA_BOOTSTRAP_SERVERS: this is the port of another program."


def api_versions(bootstrap: str, within: float) -> Versions:
    """Ask the first server that answers for its requests: number to oldest and newest version.

    Raises ``BrokerUnreachable`` if nobody answers, or one that is no Kafka broker.
    """
    for address in bootstrap.split(","):
        with suppress(OSError), socket.create_connection(_split(address), within / 2) as link:
            link.settimeout(within / 2)
            return _ask(link, address.strip())
    raise BrokerUnreachable(
        f"No Kafka broker answers at {bootstrap} (nobody listens there). "
        "Check KAFKA_BOOTSTRAP_SERVERS, and that the broker runs."
    )


def require_new_enough(bootstrap: str, within: float) -> str:
    """The release of the broker that answers; raises ``BrokerUnreachable`` if it is too old."""
    release = kafka_release(api_versions(bootstrap, within))
    if release == TOO_OLD:
        raise BrokerUnreachable(
            f"The Kafka broker at {bootstrap} is {TOO_OLD}, the lab is made for {CURRENT}. "
            "Use the version of docker-compose.yml, or unset KAFKA_BOOTSTRAP_SERVERS."
        )
    return release


def listens(host: str, port: int, within: float = 1.5) -> bool:
    """Whether something accepts connections there."""
    with suppress(OSError), socket.create_connection((host, port), within):
        return True
    return False


def kafka_release(versions: Versions) -> str:
    """The releases that speak so: ``CURRENT``, ``2.1 to 3.9`` or ``TOO_OLD``."""
    oldest, newest = versions.get(FETCH, (0, 0))
    if oldest >= 4:  # Kafka 4.0 dropped what was older than this
        return CURRENT
    return "2.1 to 3.9" if newest >= 10 else TOO_OLD


def _ask(link: socket.socket, address: str) -> Versions:
    link.sendall(struct.pack(">ihhih", 10, API_VERSIONS, 0, 1, -1))
    head = _receive(link, 8, address)
    size, echo = struct.unpack(">ii", head)
    if echo != 1 or not 10 <= size < 100_000:
        raise BrokerUnreachable(
            f"What answers at {address} is not a Kafka broker (it says {head!r}). {NOT_KAFKA}"
        )
    body = _receive(link, size - 4, address)[6:]
    entries = struct.iter_unpack(">hhh", body[: len(body) // 6 * 6])
    return {key: (oldest, newest) for key, oldest, newest in entries}


def _receive(link: socket.socket, size: int, address: str) -> bytes:
    got = b""
    with suppress(OSError):
        while len(got) < size and (more := link.recv(size - len(got))):
            got += more
    if got[:1] == TLS_ALERT:
        raise BrokerUnreachable(
            f"The server at {address} wants TLS. "
            "Set KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL, and KAFKA_SSL_CA_LOCATION."
        )
    if len(got) < size:
        raise BrokerUnreachable(
            f"What answers at {address} does not answer as a Kafka broker does "
            f"(it said {got!r} and no more). "
            "Check that it is a Kafka broker, that it is not stuck, and KAFKA_SECURITY_PROTOCOL."
        )
    return got


def _split(address: str) -> tuple[str, int]:
    host, _, port = address.strip().rpartition("://")[2].rpartition(":")
    if not host or not port.isdigit():
        raise BrokerUnreachable(
            f"{address!r} is no address of a broker. "
            "Set KAFKA_BOOTSTRAP_SERVERS to host:port, several with commas between."
        )
    return host.strip("[]"), int(port)

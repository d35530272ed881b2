"""Sends the first request of Kafka's protocol, to see whether a Kafka broker answers.

A client library that meets a server of another kind may wait, or even abort its process.
"""

from __future__ import annotations

import socket
import struct
from contextlib import suppress

from workbook.errors import BrokerUnreachable

API_VERSIONS = 18
TLS_ALERT = b"\x15"

NOT_KAFKA = "Check KAFKA_BOOTSTRAP_SERVERS: this is the port of another program."
NO_SUCH_NAME = (
    "Correct the name in KAFKA_BOOTSTRAP_SERVERS, or join the network that knows it "
    "(names of docker compose hold only inside its containers)."
)


def require_kafka(bootstrap: str, within: float) -> None:
    """Raise ``BrokerUnreachable`` if nobody answers, or a server that is no Kafka broker."""
    link, address = reach(bootstrap, within / 2)
    with link:
        link.settimeout(within / 2)
        with suppress(OSError):  # a server that hangs up already is named by `_receive`
            link.sendall(struct.pack(">ihhih", 10, API_VERSIONS, 0, 1, -1))
        head = _receive(link, 8, address)
    size, echo = struct.unpack(">ii", head)
    if echo != 1 or not 10 <= size < 100_000:
        raise BrokerUnreachable(
            f"What answers at {address} is not a Kafka broker (it says {head!r}). {NOT_KAFKA}"
        )


def reach(bootstrap: str, within: float) -> tuple[socket.socket, str]:
    """Connect to the first server that accepts; return the connection, and the address.

    Raises ``BrokerUnreachable``, which says of each why there is none.
    """
    away: list[OSError] = []
    for address in bootstrap.split(","):
        found = host_and_port(address.rpartition("://")[2])
        if found is None:
            raise BrokerUnreachable(
                f"{address!r} is no address of a broker. "
                "Set KAFKA_BOOTSTRAP_SERVERS to host:port, several with commas between."
            )
        try:
            return connect(*found, within), address.strip()
        except OSError as error:
            away.append(error)
    unknown = any(isinstance(error, socket.gaierror) for error in away)
    raise BrokerUnreachable(
        f"No Kafka broker answers at {bootstrap} ({', '.join(map(str, away))}). "
        + (NO_SUCH_NAME if unknown else "Check KAFKA_BOOTSTRAP_SERVERS, and that the broker runs.")
    )


def connect(host: str, port: int, within: float = 1.5) -> socket.socket:
    """Connect, or raise an ``OSError`` (a ``gaierror`` for an unknown name) that says why not."""
    try:
        return socket.create_connection((host, port), within)
    except (socket.gaierror, UnicodeError):  # the latter for a name with an empty part: a..b
        raise socket.gaierror(f"the name {host} cannot be resolved") from None
    except OSError:
        raise OSError(f"nobody listens at {host}:{port}") from None


def host_and_port(address: str) -> tuple[str, int] | None:
    """Split ``host:port``, without brackets around the host; return None if it is not so."""
    host, _, port = address.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    return (host, int(port)) if host and port.isdecimal() and int(port) < 2**16 else None


def listens(host: str, port: int, within: float = 1.5) -> bool:
    """Return True if something accepts connections there."""
    with suppress(OSError), connect(host, port, within):
        return True
    return False


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

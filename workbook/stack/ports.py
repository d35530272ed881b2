"""Finds ports on loopback, and who answers at one."""

import socket
import urllib.request
from contextlib import suppress

from workbook.errors import SparkFailed
from workbook.kafka import protocol

LOOPBACK = "127.0.0.1"


def is_free(port: int) -> bool:
    """Return True if a server could listen on this port of the loopback address now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind((LOOPBACK, port))
            return True
    return False


def choose(preferred: int) -> int:
    """Return the preferred port, or another free one if it is taken."""
    if is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def serves(url: str) -> bool:
    """Return True if a server of this machine answers a request."""
    # Past any proxy of the environment, which could not reach our loopback address.
    straight = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with suppress(OSError), straight.open(url, timeout=5):
        return True
    return False


def require_master(master: str) -> None:
    """Raise ``SparkFailed`` if no standalone Spark master answers: Spark would wait for minutes."""
    away = []
    for place in master.removeprefix("spark://").split(","):
        address = protocol.host_and_port(place)
        try:
            if address:
                return protocol.connect(*address, 3.0).close()
            away.append(f"{place!r} is not host:port")
        except OSError as error:
            away.append(str(error))
    raise SparkFailed(
        f"No Spark master answers at {master} ({', '.join(away)}). Check SPARK_MASTER and that the "
        "master runs, or unset it to use Spark on this machine."
    )

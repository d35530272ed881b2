"""Sends the first request of Kafka's protocol, to see whether a Kafka broker answers.

A client library that meets a server of another kind may wait, or even abort its process.
"""

import re
import socket
import ssl
import struct
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from workbook.errors import BrokerUnreachable
from workbook.kafka.config import CA, CERTIFICATE, HOST_CHECK, KEY, typed

API_VERSIONS, METADATA, INIT_PRODUCER_ID = 18, 3, 22
TLS_ALERT = b"\x15"
EXPIRED, NOT_YET, OTHER_NAME, OTHER_ADDRESS = 10, 9, 62, 64
"""OpenSSL's codes of what is wrong with a certificate."""

YOURS = re.compile("CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED|HANDSHAKE_FAILURE")
NO_TLS = re.compile("^$|WRONG_VERSION|EOF|RECORD|HTTP")
"""OpenSSL's reasons for a handshake's end: by your certificate; by a server without TLS."""


def require_kafka(bootstrap: str, within: float, security: Mapping[str, str]) -> None:
    """Raise ``BrokerUnreachable`` if nobody answers, or a server that isn't such a Kafka broker."""
    link, address = reach(bootstrap, within / 2)
    protocol = security.get("security.protocol", "")
    with link as plain:
        link.settimeout(within / 2)
        if protocol.endswith("SSL"):
            link = _over_tls(plain, address, security)
        try:
            _require_answer(link, address, protocol)
        except ssl.SSLError as error:  # with TLS 1.3 a server refuses a certificate only now
            raise _refused(address, security, error) from None


def _require_answer(link: socket.socket, address: str, protocol: str) -> None:
    with suppress(OSError):  # a server that hangs up already is named by `_receive`
        link.sendall(struct.pack(">ihhih", 10, API_VERSIONS, 0, 1, -1))
    head = _receive(link, 8, address)
    size, echo = struct.unpack(">ii", head)
    if echo != 1 or not 10 <= size < 100_000:
        raise BrokerUnreachable(
            f"What answers at {address} is not a Kafka broker (it says {head!r}). Check "
            f"{typed('bootstrap.servers')}: this is the port of another program."
        )
    if not protocol.startswith("SASL"):
        _receive(link, size - 4, address)
        link.sendall(struct.pack(">ihhihi", 14, METADATA, 1, 2, -1, 0))
        try:
            hung_up = not link.recv(1)
        except TimeoutError:  # slow, as it may be
            hung_up = False
        except ConnectionError:
            hung_up = True
        if hung_up:
            sasl = "SASL_SSL" if protocol == "SSL" else "SASL_PLAINTEXT"
            raise BrokerUnreachable(
                f"The broker at {address} wants a login: without one, it answers nothing else. Set "
                f"{typed('security.protocol')} to {sasl}, and {typed('sasl.mechanism')}, "
                f"{typed('sasl.username', 'sasl.password')}."
            )


def _over_tls(link: socket.socket, address: str, security: Mapping[str, str]) -> ssl.SSLSocket:
    """Shake hands as the clients will, which say less of what's wrong."""
    host, _ = host_and_port(address.rpartition("://")[2]) or ("", 0)
    context = ssl.create_default_context(cadata=security.get(CA))
    context.check_hostname = security.get(HOST_CHECK) != "none"
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # no client is as strict as Python 3.13
    try:
        if KEY in security:
            with tempfile.NamedTemporaryFile("w") as file:  # nobody else's: its mode is 0600
                file.write(security[KEY] + security[CERTIFICATE])
                file.flush()
                context.load_cert_chain(file.name)
        return context.wrap_socket(link, server_hostname=host)
    except OSError as error:
        raise _refused(address, security, error) from None


def _refused(address: str, security: Mapping[str, str], error: OSError) -> BrokerUnreachable:
    """Return what a handshake's end means, and which setting to look at."""
    reason = str(getattr(error, "reason", None) or "")
    if isinstance(error, ssl.SSLCertVerificationError):
        return _untrusted(address, security, error)
    if "KEY_VALUES_MISMATCH" in reason:
        why = "the client certificate and the private key don't belong together"
        fix = f"Check {typed(CERTIFICATE, KEY)}."
    elif YOURS.search(reason) and KEY not in security:
        why = "it wants a client certificate"
        fix = f"Set {typed(CERTIFICATE, KEY)}."
    elif YOURS.search(reason):
        why = f"it refuses your client certificate ({reason.lower().replace('_', ' ')})"
        fix = f"Check that {typed(CERTIFICATE)} hasn't expired, and that the broker trusts its CA."
    elif isinstance(error, TimeoutError):
        why, fix = "it doesn't answer", f"Check that it runs, and {typed('security.protocol')}."
    elif not NO_TLS.search(reason):
        why = f"the handshake failed ({reason.lower().replace('_', ' ')})"
        fix = "Ask its owner which versions of TLS and which ciphers it has."
    else:
        why = "it doesn't speak TLS there"
        fix = f"Set {typed('security.protocol')} to PLAINTEXT or SASL_PLAINTEXT, or check the port."
    return BrokerUnreachable(f"No TLS with {address}: {why}. {fix}")


def _untrusted(
    address: str, security: Mapping[str, str], error: ssl.SSLCertVerificationError
) -> BrokerUnreachable:
    code, said = error.verify_code, error.verify_message.rstrip(".")
    if code in (EXPIRED, NOT_YET):
        why, fix = f"its certificate isn't valid today ({said})", "Its owner must renew it."
    elif code in (OTHER_NAME, OTHER_ADDRESS):
        why = f"its certificate has another host name ({said})"
        fix = f"Correct {typed('bootstrap.servers')}, or set {typed(HOST_CHECK)} to none."
    else:
        whose = f"the CA of {typed(CA)}" if CA in security else "a CA that this machine trusts"
        why, fix = (
            f"its certificate isn't signed by {whose} ({said})",
            (f"Set {typed(CA)} to the file with the CA's certificate."),
        )
    return BrokerUnreachable(f"The broker at {address} isn't trusted: {why}. {fix}")


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
                f"Set {typed('bootstrap.servers')} to host:port, several with commas between."
            )
        try:
            return connect(*found, within), address.strip()
        except OSError as error:
            away.append(error)
    named, fix = typed("bootstrap.servers"), "Check {}, and that the broker runs."
    if any(isinstance(error, socket.gaierror) for error in away):
        fix = "Correct the name in {}, or join the network that knows it (names of docker compose "
        fix += "hold only inside its containers)."
    raise BrokerUnreachable(
        f"No Kafka broker answers at {bootstrap} ({', '.join(map(str, away))}). {fix.format(named)}"
    )


def connect(host: str, port: int, within: float = 1.5) -> socket.socket:
    """Connect, or raise an ``OSError`` (a ``gaierror`` for an unknown name) that says why not."""
    try:
        return socket.create_connection((host, port), within)
    except (socket.gaierror, UnicodeError):  # the latter for a name with an empty part: a..b
        raise socket.gaierror(f"the name {host} cannot be resolved") from None
    except OSError:
        raise OSError(f"nobody listens at {host}:{port}") from None


def has_producer_id(address: str) -> bool:
    """Ask a broker for the id of an idempotent producer; return True if it gives one."""
    host, port = host_and_port(address) or ("", 0)
    with connect(host, port) as link:
        link.sendall(struct.pack(">ihhihhi", 16, INIT_PRODUCER_ID, 0, 1, -1, -1, 60_000))
        return link.recv(24)[12:14] == b"\0\0"  # the error code


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
    try:
        while len(got) < size and (more := link.recv(size - len(got))):
            got += more
    except ssl.SSLError:
        raise
    except OSError:
        pass
    if got[:1] == TLS_ALERT:
        raise BrokerUnreachable(
            f"The server at {address} wants TLS. "
            f"Set {typed('security.protocol')} to SSL or SASL_SSL, and {typed(CA)}."
        )
    if len(got) < size:
        raise BrokerUnreachable(
            f"What answers at {address} does not answer as a Kafka broker does "
            f"(it said {got!r} and no more). "
            "Check that it is a Kafka broker, that it is not stuck, and "
            f"{typed('security.protocol')}."
        )
    return got

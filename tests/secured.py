"""A broker as a company has it: certificates, passwords, rules, and nothing made by itself."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from brokers import OwnBroker, free_port
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12
from cryptography.x509.oid import NameOID
from labs import DEADLINE

from workbook.stack import kafka, ports
from workbook.stack.jars import class_path
from workbook.stack.java import find_java

USERS = {name: f"{name}'s p w$7%" for name in ("admin", "learner", "reader", "nobody")}
"""Users and their passwords. ``admin`` may do everything, the others what ``allow`` says."""

KEY_PASSWORD = "of the key"
LISTENERS = {
    "scram": "SASL_SSL",  # any of USERS, by SCRAM-SHA-512
    "tls": "SSL",  # a client certificate is required; its common name is the user's
    "open": "PLAINTEXT",  # anybody may do everything: for the test itself
    "expired": "SASL_SSL",  # as scram, but its certificate has expired
    "elsewhere": "SASL_SSL",  # as scram, but its certificate is for another host
    "lost": "PLAINTEXT",  # it sends its clients to where nobody answers
}
_PLACES = "scram://127.0.0.1:{port}," + ",".join(
    f"{n}://127.0.0.1:{{{n}}}" for n in [*LISTENERS][1:]
)
SETTINGS = (
    kafka.SETTINGS
    + f"""\
listeners={_PLACES},CONTROLLER://127.0.0.1:{{controller}}
advertised.listeners={_PLACES.replace("{lost}", "1")}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,{",".join(map(":".join, LISTENERS.items()))}
inter.broker.listener.name=open
sasl.enabled.mechanisms=SCRAM-SHA-512
ssl.keystore.type=PEM
ssl.keystore.location={{folder}}/server.pem
ssl.truststore.type=PEM
ssl.truststore.location={{folder}}/ca.pem
listener.name.expired.ssl.keystore.location={{folder}}/expired.pem
listener.name.elsewhere.ssl.keystore.location={{folder}}/elsewhere.pem
listener.name.tls.ssl.client.auth=required
ssl.principal.mapping.rules=RULE:^CN=([^,]+).*$/$1/
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
"""
    + "".join(
        f"listener.name.{name}.scram-sha-512.sasl.jaas.config="
        "org.apache.kafka.common.security.scram.ScramLoginModule required;\n"
        for name, protocol in LISTENERS.items()
        if protocol == "SASL_SSL"
    )
)


@dataclass(frozen=True)
class Secured:
    """The running broker: ``at["scram"]`` is an address, ``folder`` holds the certificates.

    ``ca.pem`` signs everything, ``other-ca.pem`` nothing. Of each user: USER.pem (certificate),
    USER.key and USER.locked.key (PKCS8, the latter with KEY_PASSWORD), USER.p12 (with the CA).
    """

    at: dict[str, str]
    folder: Path

    def login(self, user: str) -> dict[str, str]:
        """A user's settings for confluent-kafka: a password."""
        return {
            "bootstrap.servers": self.at["scram"],
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.username": user,
            "sasl.password": USERS[user],
            "ssl.ca.location": str(self.folder / "ca.pem"),
        }

    @property
    def admin(self) -> AdminClient:
        """A client that may do everything."""
        return AdminClient({"bootstrap.servers": self.at["open"], "log_level": 0})

    def slow(self, user: str) -> None:
        """Give a user a quota of a few bytes a second, by Kafka's own tool."""
        jars = ":".join(map(str, [*class_path("kafka"), *class_path("tools")]))
        tool = [find_java().command, "-cp", jars, "kafka.admin.ConfigCommand", "--alter"]
        tool += ["--bootstrap-server", self.at["open"], "--add-config", "producer_byte_rate=100"]
        tool += ["--entity-type", "users", "--entity-name", user]
        subprocess.run(tool, check=True, capture_output=True, timeout=DEADLINE)

    def allow(
        self, user: str, what: str, *operations: str, kind: str = "TOPIC", prefix: bool = False
    ) -> None:
        """Give a user rights on a topic (or GROUP, TRANSACTIONAL_ID, BROKER as ``kind``)."""
        pattern = ResourcePatternType.PREFIXED if prefix else ResourcePatternType.LITERAL
        place = (ResourceType[kind], what, pattern, f"User:{user}", "*")
        rules = [AclBinding(*place, AclOperation[o], AclPermissionType.ALLOW) for o in operations]
        admin = self.admin  # kept: without the client no answer comes
        for done in admin.create_acls(rules).values():
            done.result(DEADLINE)

    def forbid(self, user: str) -> None:
        """Take all rights from a user."""
        place = (ResourceType.ANY, None, ResourcePatternType.ANY, f"User:{user}", None)
        every = AclBindingFilter(*place, AclOperation.ANY, AclPermissionType.ANY)
        admin = self.admin
        admin.delete_acls([every])[every].result(DEADLINE)


@contextmanager
def secured_broker(folder: Path) -> Iterator[Secured]:
    """Start the broker; its certificates are made anew."""
    make_certificates(folder)
    named = {name: free_port() for name in [*LISTENERS][1:]}
    with OwnBroker(folder, SETTINGS, USERS, **named) as broker:
        at = {name: f"{ports.LOOPBACK}:{port}" for name, port in named.items()}
        yield Secured({"scram": broker.bootstrap, **at}, folder)


def make_certificates(folder: Path) -> None:
    """Write the two authorities', the servers' and the users' files."""
    ca, key = _certificate("a company's CA")
    (folder / "ca.pem").write_bytes(_pem(ca))
    (folder / "ca.der").write_bytes(ca.public_bytes(serialization.Encoding.DER))
    (folder / "other-ca.pem").write_bytes(_pem(_certificate("another CA")[0]))
    for name, host, days in (
        ("server", "127.0.0.1", 1),
        ("expired", "127.0.0.1", -1),
        ("elsewhere", "kafka.example.org", 1),
    ):
        made, own = _certificate(name, (ca, key), host, days)
        (folder / f"{name}.pem").write_bytes(_private(own) + _pem(made))
    for name in USERS:
        made, own = _certificate(name, (ca, key))
        locked = serialization.BestAvailableEncryption(KEY_PASSWORD.encode())
        (folder / f"{name}.pem").write_bytes(_pem(made))
        (folder / f"{name}.key").write_bytes(_private(own))
        (folder / f"{name}.locked.key").write_bytes(_private(own, locked))
        store = pkcs12.serialize_key_and_certificates(name.encode(), own, made, [ca], locked)
        (folder / f"{name}.p12").write_bytes(store)


Signer = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def _certificate(name: str, by: Signer | None = None, host: str = "", days: int = 1) -> Signer:
    """Make a certificate with its key; without a signer it's an authority."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by[0].subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=2))
        .not_valid_after(now + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=by is None, path_length=None), critical=True)
    )
    signer = by[1] if by else key
    known = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key())
    builder = builder.add_extension(known, critical=False)  # Python 3.13 refuses one without
    if by is None:
        own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        usage = x509.KeyUsage(*(place == 6 for place in range(1, 10)))  # the sixth: key_cert_sign
        builder = builder.add_extension(own, critical=False)
        builder = builder.add_extension(usage, critical=True)
    if host:
        at = x509.IPAddress(ip_address(host)) if host[0].isdigit() else x509.DNSName(host)
        builder = builder.add_extension(x509.SubjectAlternativeName([at]), critical=False)
    return builder.sign(signer, hashes.SHA256()), key


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(
    key: ec.EllipticCurvePrivateKey, locked: serialization.KeySerializationEncryption | None = None
) -> bytes:
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8)
    return key.private_bytes(*form, locked or serialization.NoEncryption())

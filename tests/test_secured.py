"""A secured Kafka of one's own: both clients get in by one file, and each fault has its name."""

from __future__ import annotations

import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from confluent_kafka import Producer
from secured import KEY_PASSWORD, USERS, Secured

from workbook.kafka.broker import Broker, external
from workbook.kafka.config import NotConfigured
from workbook.stack import doctor
from workbook.stack.kafka_tools import consumer_groups
from workbook.topics import new_topic

JAAS = "org.apache.kafka.common.security.scram.ScramLoginModule required"
PASSWORD = USERS["learner"]


@pytest.fixture
def named(secured: Secured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write a file of settings, and return the broker that it names."""

    def write(at: str, *lines: str, **variables: str) -> Broker:
        file = tmp_path / "client.properties"
        text = "\n".join([f"bootstrap.servers={secured.at[at]}", *lines, ""])
        file.write_text(text.replace("DIR", str(secured.folder)))
        monkeypatch.setenv("KAFKA_CONFIG", str(file))
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        broker = external()
        assert broker is not None
        return broker

    return write


def keystores(folder: Path) -> None:
    """What Java's own tool makes of the CA, and other forms of the learner's key."""
    for form in "PKCS12", "JKS":
        tool = ["keytool", "-importcert", "-noprompt", "-alias", "ca", "-storetype", form]
        tool += ["-file", f"{folder}/ca.pem", "-keystore", f"{folder}/{form}"]
        subprocess.run([*tool, "-storepass", "changeit"], check=True, capture_output=True)
    learner, locked = ((folder / f"learner{kind}.key").read_text() for kind in ("", ".locked"))
    (folder / "both.pem").write_text(locked + (folder / "learner.pem").read_text())
    old = subprocess.run(["openssl", "ec"], input=learner, capture_output=True, text=True)
    (folder / "old.key").write_text(old.stdout)  # not PKCS8: Java can't read it
    (folder / "folder").mkdir(exist_ok=True)
    for name in "ca.pem", "other-ca.pem":
        (folder / "folder" / name).write_bytes((folder / name).read_bytes())


SCRAM = ("security.protocol=sasl_ssl", "sasl.mechanism=SCRAM-SHA-512")
LOGIN = (*SCRAM, "sasl.username=learner", f"sasl.password={PASSWORD}")
TLS = ("security.protocol=SSL", "ssl.ca.location=DIR/ca.pem")
CERTIFICATE = ("ssl.certificate.location=DIR/learner.pem", "ssl.key.location=DIR/learner.key")
FORMS = {
    "Java, password": (
        *("scram", *SCRAM, f'sasl.jaas.config={JAAS} \\\n username="learner" \\'),
        *(f' password="{PASSWORD}";', "ssl.truststore.location=DIR/PKCS12"),
        "ssl.truststore.password = changeit",
    ),
    "librdkafka, a folder of CAs": ("scram", *LOGIN, "ssl.ca.location=DIR/folder"),
    "DER": ("scram", *LOGIN, "ssl.ca.location=DIR/ca.der"),
    "another host, not checked": (
        *("elsewhere", *LOGIN, "ssl.ca.location=DIR/ca.pem"),
        "ssl.endpoint.identification.algorithm=",
    ),
    "certificate": ("tls", *TLS, *CERTIFICATE),
    "a locked key": (
        *("tls", *TLS, CERTIFICATE[0], "ssl.key.location=DIR/learner.locked.key"),
        f"ssl.key.password={KEY_PASSWORD}",
    ),
    "an old key": ("tls", *TLS, CERTIFICATE[0], "ssl.key.location=DIR/old.key"),
    "Java, one PEM file": (
        *("tls", *TLS, "ssl.keystore.type=PEM", "ssl.keystore.location=DIR/both.pem"),
        f"ssl.key.password={KEY_PASSWORD}",
    ),
    "Java, PKCS12": (
        *("tls", *TLS, "ssl.keystore.location=DIR/learner.p12"),
        *(f"ssl.keystore.password={KEY_PASSWORD}", f"ssl.key.password={KEY_PASSWORD}"),
    ),
}


def test_both_clients_get_in_by_each_form(secured: Secured, named, spark) -> None:
    keystores(secured.folder)
    topic = new_topic("clicks", "secured")
    Broker(secured.at["open"]).create(topic)
    secured.allow("learner", topic.name, "ALL")
    for form, (at, *lines) in FORMS.items():
        broker = named(at, *lines)
        broker.check()
        producer = Producer(broker.client_config())
        producer.produce(topic.name, form.encode())
        assert producer.flush(20) == 0, form
        read = spark.read.format("kafka").options(**broker.spark_options(), subscribe=topic.name)
        assert form.encode() in [bytes(row.value) for row in read.load().collect()], form
        stream = spark.readStream.format("kafka").options(**broker.spark_options())
        plan = stream.option("subscribe", topic.name).load()._jdf.queryExecution().toString()
        assert "kafka.security.protocol" in plan
        assert not any(secret in plan for secret in (PASSWORD, "PRIVATE KEY", "required username"))
    assert consumer_groups(broker, "--list").strip() == ""


def test_a_pem_text_may_stand_in_the_file_and_a_variable_wins(secured: Secured, named) -> None:
    def inline(name: str) -> str:
        return (secured.folder / name).read_text().replace("\n", " ")

    named(
        *("tls", "security.protocol=SASL_SSL", f"ssl.keystore.key={inline('learner.key')}"),
        f"ssl.truststore.certificates={inline('ca.pem')}",
        f"ssl.keystore.certificate.chain={inline('learner.pem')}",
        KAFKA_SECURITY_PROTOCOL="SSL",
    ).check()


FAULTS = {
    "no such name": ("scram", (*LOGIN, "acks=all"), r"got acks\. Leave it out"),
    "a key's line": ("scram", (*LOGIN, "MIIEvQabc=="), "got a line that is none"),
    "no mechanism": ("scram", (LOGIN[0], *LOGIN[2:]), r"sasl\.mechanism in .*, but it isn't set"),
    "a misspelt one": ("scram", (*LOGIN, "sasl.mechanism=SCRAM"), "but it is 'SCRAM'"),
    "a misspelt protocol": ("scram", (*LOGIN, "security.protocol=TLS"), "PLAINTEXT, SSL, SASL"),
    "no protocol": ("scram", LOGIN[1:], "is set, but no protocol"),
    "no user": ("scram", (*SCRAM, LOGIN[3]), r"Set sasl\.username in"),
    "no such file": ("scram", (*LOGIN, "ssl.ca.location=DIR/x"), "x, which can't be read: No such"),
    "no PEM": ("scram", (*LOGIN, "ssl.ca.location=DIR/log"), r"no PEM .*password, which is not"),
    "JKS": ("scram", (*LOGIN, "ssl.ca.location=DIR/JKS"), "keytool -importkeystore .*JKS .*PKCS12"),
    "a key without its password": (
        *("tls", (*TLS, CERTIFICATE[0], "ssl.key.location=DIR/learner.locked.key")),
        "password, which is not set",
    ),
    "another's key": (
        *("tls", (*TLS, CERTIFICATE[0], "ssl.key.location=DIR/reader.key")),
        "don't belong together",
    ),
    "no certificate": ("tls", TLS, r"wants a client certificate\. Set ssl\.certificate\.location"),
    "expired": ("expired", (*LOGIN, TLS[1]), r"certificate has expired.*must renew"),
    "another host": (
        *("elsewhere", (*LOGIN, TLS[1])),
        r"another host name .*ssl\.endpoint\.identification\.algorithm in .* to none",
    ),
    "another CA": (
        *("scram", (*LOGIN, "ssl.truststore.location=DIR/other-ca.pem")),
        r"isn't signed by the CA of ssl\.truststore\.location in",
    ),
    "no CA": ("scram", LOGIN, r"a CA that is known here .*Set ssl\.ca\.location in"),
    "wrong password": (
        *("scram", (*LOGIN[:3], "sasl.password=wr0ng", TLS[1])),
        r"refuses the login.*Check sasl\.username, sasl\.password and sasl\.mechanism in",
    ),
    "no login": ("scram", TLS, r"wants a login.* to SASL_SSL"),
    "a login where none is": ("tls", (*LOGIN, TLS[1], *CERTIFICATE), "wants no login there"),
    "no TLS there": ("open", (*LOGIN, TLS[1]), "doesn't speak TLS there"),
    "TLS there": (
        *("scram", (*LOGIN, "security.protocol=SASL_PLAINTEXT")),
        r"wants TLS\. Set security\.protocol in .*ssl\.ca\.location in",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_is_named_by_its_setting(fault: str, secured: Secured, named) -> None:
    at, lines, said = FAULTS[fault]
    if fault == "JKS":
        keystores(secured.folder)
    with suppress(NotConfigured):  # the doctor says it
        named(at, *lines)
    [finding] = doctor._look(("broker", doctor.CHECKS["broker"]))
    text = f"{finding.text}. {finding.fix}"
    assert finding.state == "fault", text
    assert re.search(said, text), text
    assert "report this" not in text
    assert not any(secret in text for secret in (PASSWORD, "wr0ng", "MIIEvQabc"))


def test_a_variable_that_nobody_knows_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "b:9")
    monkeypatch.setenv("KAFKA_SSL_KEYSTORE_FILENAME", "x")
    with pytest.raises(NotConfigured, match="KAFKA_SSL_KEYSTORE_FILENAME isn't known"):
        external()

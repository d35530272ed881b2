"""A secured Kafka of one's own: both clients get in by one file, and each fault has its name."""

import json
import os
import re
import socket
import ssl
import struct
import subprocess
import sys
import threading
import urllib.error
from argparse import Namespace
from base64 import b64encode
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from inspect import getsource
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from brokers import false_broker
from confluent_kafka import Producer
from confluent_kafka.schema_registry import SchemaRegistryClient
from labs import until
from secured import KEY_PASSWORD, USERS, Secured
from test_hostile_programs import load

from workbook.cli.main import main
from workbook.errors import BrokerUnreachable, RegistryUnreachable
from workbook.kafka import require
from workbook.kafka.broker import Broker, external
from workbook.kafka.config import NotConfigured, properties
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.protocol import require_kafka
from workbook.kafka.registry import client_config
from workbook.stack import doctor, registry
from workbook.stack.kafka import consumer_groups
from workbook.topics import Topic, new_topic

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
    if (folder / "both.pem").exists():  # of another test
        return
    tool = ["keytool", "-importcert", "-noprompt", "-alias", "ca", "-file", f"{folder}/ca.pem"]
    tool += ["-keystore", f"{folder}/PKCS12", "-storetype", "PKCS12", "-storepass", "changeit"]
    subprocess.run(tool, check=True, capture_output=True)
    learner, locked = ((folder / f"learner{kind}.key").read_text() for kind in ("", ".locked"))
    (folder / "both.pem").write_text(locked + (folder / "learner.pem").read_text())
    old = subprocess.run(["openssl", "ec"], input=learner, capture_output=True, text=True)
    (folder / "old.key").write_text(old.stdout)  # not PKCS8: Java can't read it


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
    "librdkafka, password; another host, not checked": (
        *("elsewhere", *LOGIN, "ssl.ca.location=DIR/ca.pem"),
        "ssl.endpoint.identification.algorithm=",
    ),
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


FAULTS = {
    "no such names, a key's line": (
        *("scram", (*LOGIN, "linger.ms=1", "x.id=x", "MIIEvQabc==")),
        r"got linger\.ms in \S+, x\.id in \S+, a line that is no setting\. Correct",
    ),
    "no mechanism": ("scram", (LOGIN[0], *LOGIN[2:]), r"sasl\.mechanism in .*, but it isn't set"),
    "a misspelt one": ("scram", (*LOGIN, "sasl.mechanism=SCRAM"), "but it is 'SCRAM'"),
    "a misspelt protocol": ("scram", (*LOGIN, "security.protocol=TLS"), "PLAINTEXT, SSL, SASL"),
    "a misspelt check": (
        *("scram", (*LOGIN, TLS[1], "ssl.endpoint.identification.algorithm=htps")),
        r"Expected https, none for ssl\.endpoint\.identification\.algorithm in .* it is 'htps'",
    ),
    "a value of old clients": (
        *("scram", (*LOGIN, TLS[1], "client.dns.lookup=default")),
        r'"default" for configuration property "client\.dns\.lookup"',
    ),
    "no protocol": ("scram", LOGIN[1:], "is set, but no protocol"),
    "no user": ("scram", (*SCRAM, LOGIN[3]), r"Set sasl\.username in"),
    "no such file": ("scram", (*LOGIN, "ssl.ca.location=DIR/x"), "x, which can't be read: No such"),
    "DER": (
        *("scram", (*LOGIN, "ssl.ca.location=DIR/ca.der")),
        r"ca.der isn't PEM .*own-servers\.md shows .*is not set",
    ),
    "a key without its password": (
        *("tls", (*TLS, CERTIFICATE[0], "ssl.key.location=DIR/learner.locked.key")),
        "password, which is not set",
    ),
    "a key's text": (
        *("tls", (*TLS, CERTIFICATE[0], "ssl.key.location=-----BEGIN PRIVATE KEY-----MIIEvQabc")),
        r"ssl\.key\.location in .* is a text\. Write it to a file",
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
    "no CA": ("scram", LOGIN, r"a CA that this machine trusts .*Set ssl\.ca\.location in"),
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
    with suppress(NotConfigured):  # the doctor says it
        named(at, *lines)
    [finding] = doctor.look("broker")
    text = f"{finding.text}. {finding.fix}"
    assert finding.state == "fault", text
    assert re.search(said, text), text
    assert "report this" not in text
    assert not any(secret in text for secret in (PASSWORD, "wr0ng", "MIIEvQabc"))


CONFLUENT = """\ufeff# as Confluent Cloud writes it\r
# ssl.keystore.location=/old/client.pem\r
bootstrap.servers = b:9 \r
security.protocol=SASL_SSL\t\r
sasl.mechanism=PLAIN\r
sasl.jaas.config=org.X required username = me password='a"b\\\\'c';\r
ssl.endpoint.identification.algorithm=\r
\r
MIIEvQabc\r
"""


def test_a_file_is_read_as_kafkas_own_tools_read_it(tmp_path, monkeypatch) -> None:
    file = tmp_path / "client.properties"
    file.write_text(CONFLUENT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KAFKA_CONFIG", file.name)
    main([])  # a chapter runs in another folder
    assert os.environ["KAFKA_CONFIG"] == str(file)
    with pytest.raises(NotConfigured, match="a line that is no setting"):
        external()
    program = load("lag_by_group")
    monkeypatch.setattr(program, "AdminClient", Mock())
    found, _ = program.connect(Namespace(servers="b:9", config=str(file)))
    text = CONFLUENT.replace("MIIEvQabc", "ssl.truststore.location=")
    file.write_text(text)
    mine: Any = external()
    assert found == mine.client_config()
    assert found["sasl.password"] == "a\"b'c"
    plain = "org.apache.kafka.common.security.plain.PlainLoginModule required "
    options = mine.spark_options()
    assert options["kafka.sasl.jaas.config"] == plain + r"""username="me" password="a\"b'c";"""
    shown = repr([mine, {**mine.client_config()}, {**options}])
    assert not any(text in shown for text in ('a"b', "a\\", "password=")), shown
    assert properties(rb"sasl.password=\ud83d\ude00") == {"sasl.password": "😀"}
    monkeypatch.setenv("KAFKA_SASL_PASSWORD", "it wins")
    mine = external()
    assert mine.client_config() == found | {"sasl.password": "it wins"}


@pytest.mark.parametrize(
    ("alert", "says"),
    [
        (70, "the handshake failed .*protocol version"),
        (116, "Set KAFKA_SSL_CERTIFICATE_LOCATION and KAFKA_SSL_KEY_LOCATION"),
    ],
)
def test_only_a_certificates_alert_asks_for_one(alert: int, says: str) -> None:
    answer = bytes([0x15, 3, 3, 0, 2, 2, alert])
    with false_broker(lambda _: answer) as address, pytest.raises(BrokerUnreachable, match=says):
        require_kafka(address, 4, {"security.protocol": "SSL"})


def test_an_old_or_a_slow_broker_is_not_one_that_wants_a_login() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            link, _ = server.accept()
            link.recv(14)
            link.sendall(struct.pack(">iihii", 14, 1, 0, 0, 0))
            asked.append(link.recv(100))
            asked.append(link.recv(1))

        asked: list[bytes] = []
        thread = threading.Thread(target=serve)
        thread.start()
        require_kafka(f"127.0.0.1:{server.getsockname()[1]}", 1, {})
        thread.join()
    assert asked[0][4:8] == struct.pack(">hh", 3, 1), "version 1 of Metadata: each broker has it"


def test_a_quota_is_named(secured: Secured) -> None:
    Broker(secured.at["open"]).create(Topic("slow", 1, {"min.insync.replicas": "2"}))
    secured.slow("nobody")
    secured.allow("nobody", "slow", "WRITE")
    sender = DeliveringProducer(secured.login("nobody"), "slow", patience=4)
    for _ in range(3):
        sender.produce(os.urandom(5000))
        sender.flush()
    with pytest.raises(BrokerUnreachable, match="a quota slows this user down"):
        sender.close()
    assert "a quota slows" in require.not_taken(secured.login("nobody"), "slow")


def test_too_few_replicas_in_sync_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    few = SimpleNamespace(error=None, partitions={0: Mock(isrs=[1], replicas=[1, 2])})
    known = Mock(**{"list_topics.return_value.topics": {"few": few}})
    monkeypatch.setattr(require, "admin", lambda _: known)
    for settings in {"min.insync.replicas": "2"}, dict[str, str]():  # which we may not see
        monkeypatch.setattr(require, "settings_of", lambda *_, s=settings: s)
        assert require.not_taken({}, "few").startswith(
            "not enough replicas: partition 0 of few has"
        )


# --- the programs -------------------------------------------------------------------------------

PROGRAMS = sorted(path.stem for path in Path(__file__).parents[1].glob("programs/*.py"))
FILES = {
    "password": (*FORMS["Java, password"][:-2], "ssl.truststore.location=DIR/ca.pem"),
    "a locked key": FORMS["a locked key"],
    "Java, one PEM file": FORMS["Java, one PEM file"],
    "PKCS12": ("tls", *TLS, *FORMS["Java, PKCS12"][3:], "ssl.keystore.type=PKCS12"),
}


@pytest.mark.parametrize("form", FILES)
def test_each_program_gets_in_by_config(form: str, secured: Secured, named, spark, capfd) -> None:
    at, *lines = FILES[form]
    keystores(secured.folder)
    named(at, *lines)
    topic = new_topic("clicks", "programs")
    Broker(secured.at["open"]).create(topic)
    secured.allow("learner", topic.name, "READ")
    options = Namespace(servers=secured.at[at], config=os.environ["KAFKA_CONFIG"])
    programs = [load(program) for program in PROGRAMS]
    until(lambda: topic.name in programs[0].connect(options)[1], "the right to READ")
    for program in programs:
        config, topics = program.connect(options)
        assert topic.name in topics
    for shared in "connect", "for_spark":
        texts = {getsource(vars(each)[shared]) for each in programs if shared in vars(each)}
        assert len(texts) == 1
    on_spark = load("table_by_key").for_spark
    if form in ("a locked key", "Java, one PEM file"):  # Spark's older Kafka client can't unlock it
        with pytest.raises(SystemExit, match="Name a PKCS12 file"):
            on_spark(config)
        return
    read = spark.read.format("kafka").options(**on_spark(config), subscribe=topic.name)
    assert read.load().count() == 0
    assert capfd.readouterr().err == ""


def test_no_program_shows_what_stands_before_an_at(secured: Secured, monkeypatch) -> None:
    program = load("counts_into_postgres")
    monkeypatch.setenv("SCHEMA_REGISTRY_CA_LOCATION", f"{secured.folder}/ca.pem")
    with https_registry(secured.folder) as host:
        good = f"https://me:p%40ss@{host}"
        assert program.schemas(good, "clicks-value") == {7: ["text"]}
        with pytest.raises(urllib.error.HTTPError, match="401"):
            program.schemas(f"https://me:wr0ng@{host}", "clicks-value")
        registry.check(good)
        with pytest.raises(RegistryUnreachable, match="refuses the user or the password") as error:
            registry.check(f"https://me:wr0ng@{host}")
        assert "wr0ng" not in str(error.value)
        monkeypatch.setenv("SCHEMA_REGISTRY_CA_LOCATION", f"{secured.folder}/other-ca.pem")
        with pytest.raises(RegistryUnreachable, match="SCHEMA_REGISTRY_CA_LOCATION names the CA"):
            registry.check(good)
        monkeypatch.setenv("SCHEMA_REGISTRY_CA_LOCATION", f"{secured.folder}/ca.der")
        with pytest.raises(RegistryUnreachable, match=r"PEM files.*REGISTRY_CA_LOCATION"):
            registry.check(good)
    for variable, value in {
        "SCHEMA_REGISTRY_URL": "https://me:wr0ng@127.0.0.1:1",
        "DATABASE_URL": "postgresql//me:wr0ng@127.0.0.1:1/x",
    }.items():
        monkeypatch.setenv(variable, value)
    needed = ["--topic", "clicks", "--checkpoint", "x", "--servers", secured.at["open"]]
    assert "wr0ng" not in run_program("counts_into_postgres", *needed).stderr
    monkeypatch.setenv("SCHEMA_REGISTRY_URL", good)
    assert "wr0ng" not in run_program("counts_into_postgres", *needed).stderr


def test_a_registry_may_want_a_client_certificate(secured: Secured, monkeypatch) -> None:
    at = f"{secured.folder}/{{}}".format
    monkeypatch.setenv("SCHEMA_REGISTRY_CA_LOCATION", at("ca.pem"))
    with https_registry(secured.folder, at("ca.pem")) as host:
        url = f"https://me:p%40ss@{host}"
        with pytest.raises(RegistryUnreachable, match="SCHEMA_REGISTRY_CERTIFICATE_LOCATION"):
            registry.check(url)
        for name, file in ("CERTIFICATE", "learner.pem"), ("KEY", "learner.key"):
            monkeypatch.setenv(f"SCHEMA_REGISTRY_{name}_LOCATION", at(file))
        mine = client_config(url)
        assert SchemaRegistryClient(mine).get_subjects() == [7]
        assert "p%40ss" not in str(mine)


def run_program(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end, which must be an error."""
    path = Path(__file__).parents[1] / "programs" / f"{name}.py"
    ended = subprocess.run([sys.executable, path, *options], capture_output=True, text=True)
    assert ended.returncode == 1, ended.stderr
    return ended


@contextmanager
def https_registry(folder: Path, client_ca: str = ""):
    """A registry of one schema behind HTTPS, for the user me with the password p@ss."""

    class Registry(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            allowed = self.headers["Authorization"] == f"Basic {b64encode(b'me:p@ss').decode()}"
            answer = {"7": {"id": 7, "schema": "text"}}.get(self.path[-1], [7])
            self.send_response(200 if allowed else 401)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

        def log_message(self, *_: object) -> None:
            return

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "server.pem")
    if client_ca:
        context.load_verify_locations(client_ca)
        context.verify_mode = ssl.CERT_REQUIRED
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()

"""Every fault is named with its fix in under ten seconds, and a healthy machine has none."""

import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from brokers import broker_with_login, false_broker
from confluent_kafka import KafkaError
from labs import OwnLab, own_lab, read_until, until
from test_java import CUT_DOWN, OLD, java_home

from workbook.errors import BrokerUnreachable
from workbook.kafka.broker import Broker, external
from workbook.stack import client, doctor, folders, jars, kafka
from workbook.stack.report import Finding, Report
from workbook.topics import new_topic

LIMIT = 10.0
DOCTOR = [sys.executable, "-m", "workbook", "doctor"]
NOBODY = "127.0.0.1:1"


@pytest.fixture(autouse=True)
def _healthy_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab of its own that does not run, and jars; what else runs here may leave little memory."""
    jars.prefetch()
    monkeypatch.setenv("WORKBOOK_LAB", f"t-{secrets.token_hex(4)}")
    monkeypatch.setattr(doctor, "MEMORY_GB", 0.1)


def examined() -> Report:
    """The doctor's report, which must come in time."""
    began = time.monotonic()
    report = doctor.examine()
    assert time.monotonic() - began < LIMIT
    return report


def assert_named(subject: str, said: str, fix: str, state: str = "fault") -> None:
    report = examined()
    named = [f for f in report if f.subject == subject and re.search(said, f.text)]
    assert named, report
    assert named[0].state == state
    assert re.search(fix, named[0].fix)
    assert "\n" not in named[0].fix


def test_a_healthy_machine_has_no_fault() -> None:
    report = examined()
    assert report.healthy, report
    assert {finding.subject for finding in report} == set(doctor.CHECKS)
    assert "Everything the lab needs is here" in str(report)


@pytest.mark.parametrize(
    ("variable", "value", "subject", "said", "fix"),
    [
        ("JAVA_HOME", "/gone", "Java", "there is no bin/java", "Point JAVA_HOME at a JDK 17"),
        ("SPARK_DRIVER_MEMORY", "lots", "Spark memory", "not read as a size", "a size like 2g"),
        ("SPARK_DRIVER_MEMORY", "2048", "Spark memory", "a number alone means bytes", "Set it"),
        ("SPARK_DRIVER_MEMORY", "500T", "Spark memory", "more than this machine", "Set it"),
        ("SPARK_MASTER", f"spark://{NOBODY}", "Spark master", "nobody listens", "or unset it"),
        ("SPARK_MASTER", "spark://lost.invalid:7,h", "Spark master", "cannot be resolved", "Check"),
        ("SPARK_MASTER", "mesos://h:5050", "Spark master", "Spark does not know", "Unset it"),
        ("WORKBOOK_CACHE", "{file}/cache", "disk", "cannot be written", "point WORKBOOK_CACHE"),
        ("WORKBOOK_LAB", "x" * 100, "broker", "too long a name for a socket", "Set TMPDIR"),
        ("KAFKA_BOOTSTRAP_SERVERS", NOBODY, "broker", "nobody listens at", "Check KAFKA_BOOT"),
        ("KAFKA_BOOTSTRAP_SERVERS", "lost.invalid:9", "broker", "be resolved", "Correct the name"),
        ("KAFKA_BOOTSTRAP_SERVERS", "localhost", "broker", "is no address of a", "host:port"),
        ("SCHEMA_REGISTRY_URL", f"http://{NOBODY}", "registry", "refused", "SCHEMA_REGISTRY_URL"),
        ("DATABASE_URL", f"postgresql://m:s@{NOBODY}/m", "database", "refused", "DATABASE_URL"),
        ("CASSANDRA_CONTACT_POINTS", NOBODY, "Cassandra", "refused", "CASSANDRA_CONTACT_POINTS"),
    ],
)
def test_a_wrong_variable_is_named_with_its_fix(
    variable: str, value: str, subject: str, said: str, fix: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("stops even root")
    monkeypatch.setenv(variable, value.format(file=tmp_path / "file"))
    assert_named(subject, said, fix)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (OLD, "is Java 8, but Spark and Kafka need 17"),
        (CUT_DOWN, r"lacks the module jdk\.incubator\.vector"),
        ("exec sleep 60", "does not say its version within 1 s"),
    ],
)
def test_a_java_that_does_not_do_is_named(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "JAVA_WITHIN", 1)
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, script)))
    assert_named("Java", said, "Install a JDK 17")


def test_too_little_memory_or_disk_and_a_missing_package_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "MEMORY_GB", 10_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**29))
    monkeypatch.setattr(doctor, "PACKAGES", ("pyspark", "nowhere"))
    report = {finding.subject: finding for finding in examined()}
    assert re.search("too little: .* 10000 needed", report["memory"].text)
    assert "nearly full: 0.5 GiB free" in report["disk"].text
    assert "nowhere is not installed" in report["Python"].text


@pytest.mark.parametrize(
    ("answer", "said", "fix"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "is not a Kafka broker", "port of another program"),
        (b"", "does not answer as a Kafka broker does", "Check that it is a Kafka broker"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "wants TLS", "KAFKA_SECURITY_PROTOCOL to SSL"),
    ],
    ids=["web server", "hangs up", "TLS"],
)
def test_what_is_no_broker_of_ours_is_named(
    answer: bytes, said: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with false_broker(lambda request: answer) as address:
        monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
        assert_named("broker", said, fix)


def test_a_client_that_meets_no_broker_is_told_and_lives() -> None:
    """librdkafka aborts the whole process when a web server answers it."""
    web = false_broker(lambda request: b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with web as address, pytest.raises(BrokerUnreachable, match="is not a Kafka broker"):
        Broker(address).check()


def test_a_taken_port_is_named_and_where_the_server_runs_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        monkeypatch.setattr(kafka, "PORT", stranger.getsockname()[1])
        assert_named("ports", "taken by another program", "end that program", "note")
        running = {"servers": {"kafka": "127.0.0.1:40123"}, "ended": {}}
        monkeypatch.setattr(client, "status", lambda patience=None: running)
        assert_named("ports", "Kafka runs at 127.0.0.1:40123 instead", "Nothing to do", "note")


USER = """
import sys
from workbook.stack.addresses import database
from workbook.stack.addresses import kafka
print("ready", kafka("user").bootstrap, database("user"), flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Iterator[OwnLab]:
    """A lab with a broker and a database, of which this process is a part."""
    with own_lab() as mine:
        read_until(mine.start("-c", USER), "ready")
        monkeypatch.setenv("WORKBOOK_LAB", mine.name)
        yield mine


def test_a_running_lab_is_well_and_its_killed_and_stuck_servers_are_named(lab: OwnLab) -> None:
    assert str(examined()).count("the lab's own answers at") == 2
    [broker], [database] = lab.servers("kafka.Kafka"), lab.servers("bin/postgres")
    broker.suspend()
    assert_named("broker", "The lab's broker at .* does not answer: it is stuck", "workbook down")
    for server in (broker, database):
        server.kill()
    until(lambda: len((client.status() or {})["ended"]) == 2, "the end of both")
    assert_named("broker", "broker has ended .killed by SIGKILL", "Restart the kernel")
    assert_named("database", "database has ended .killed by SIGKILL", "again with its tables")
    [supervisor] = lab.servers("workbook.stack.supervisor")
    supervisor.suspend()
    assert_named("broker", "does not answer within 3.0 s: it is stuck", "down")
    psutil.Process(supervisor.pid).resume()


def test_a_check_that_fails_keeps_no_other_from_being_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails() -> Iterator[Finding]:
        yield Finding("fails", "ok", "so far")
        raise ZeroDivisionError("by chance")

    monkeypatch.setattr(doctor, "CHECKS", {"fails": fails, "Python": doctor.python})
    failed, fine = examined()
    assert "ZeroDivisionError: by chance" in failed.text
    assert fine.state == "ok"


@pytest.fixture(scope="module")
def login(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The addresses of a real broker that wants a login; see ``broker_with_login``."""
    jars.prefetch()
    with broker_with_login(tmp_path_factory.mktemp("login")) as addresses:
        yield addresses


def log_in(patch: pytest.MonkeyPatch, address: str, **settings: str) -> Broker:
    patch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
    for name, value in settings.items():
        patch.setenv(f"KAFKA_{name}", value)
    named = external()
    assert named is not None
    return named


RIGHT = {
    "SECURITY_PROTOCOL": "SASL_PLAINTEXT",
    "SASL_MECHANISM": "PLAIN",
    "SASL_USERNAME": "learner",
    "SASL_PASSWORD": "correct horse",
}


@pytest.mark.parametrize(
    ("settings", "said", "fix"),
    [
        (
            {**RIGHT, "SASL_PASSWORD": "wrong"},
            "refuses the login .*Invalid username or password",
            "Check KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD",
        ),
        (
            {**RIGHT, "SASL_MECHANISM": "SCRAM-SHA-256"},
            "Unsupported SASL mechanism: broker's supported mechanisms: PLAIN",
            "KAFKA_SASL_MECHANISM",
        ),
        ({}, "wants a login", "Set KAFKA_SECURITY_PROTOCOL to SASL_PLAINTEXT, and KAFKA_SASL_"),
    ],
    ids=["wrong password", "wrong mechanism", "no login"],
)
def test_wrong_credentials_are_named(
    login: tuple[str, str], monkeypatch: pytest.MonkeyPatch, settings: dict, said: str, fix: str
) -> None:
    log_in(monkeypatch, login[0], **settings)
    assert_named("broker", said, fix)


def test_an_advertised_address_where_nobody_answers_is_named(
    login: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(monkeypatch, login[1])
    said = "sends its clients on to 127.0.0.1:1, where nobody answers"
    assert_named("broker", said, "advertised.listeners")


def test_so_it_is_where_the_first_question_already_went_to_that_address() -> None:
    refused = KafkaError(
        KafkaError._TRANSPORT, "127.0.0.1:1/1: Connect to ipv4#127.0.0.1:1 failed: refused"
    )
    down = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
    said = str(Broker("127.0.0.1:41737", {})._unreachable([down, refused]))
    assert "41737 sends its clients on to 127.0.0.1:1, where nobody answers" in said


def test_the_right_login_serves_the_producer_the_admin_and_spark(
    login: tuple[str, str], monkeypatch: pytest.MonkeyPatch, spark
) -> None:
    from confluent_kafka import Producer

    named, topic = log_in(monkeypatch, login[0], **RIGHT), new_topic("clicks", "login")
    assert_named("broker", "yours answers", "", "ok")
    named.create(topic)
    producer = Producer(named.client_config())
    producer.produce(topic.name, b"in")
    assert producer.flush(20) == 0
    read = spark.read.format("kafka").options(**named.spark_options())
    assert [bytes(row.value) for row in read.option("subscribe", topic.name).load().collect()] == [
        b"in"
    ]


HOSTILE = {
    "TZ": "America/New_York",
    "LC_ALL": "tr_TR.UTF-8",
    "PYSPARK_PYTHON": "/usr/bin/python2",
    "PYSPARK_DRIVER_PYTHON": "/usr/bin/python2",
    "SPARK_HOME": "/opt/spark-3",
}

SESSION = """
from workbook.spark.session import spark_session
from workbook.stack.addresses import kafka
from workbook.topics import new_topic
import sys, workbook
broker, topic = kafka(), new_topic("clicks", "hostile")
broker.create(topic)
spark = spark_session(quiet=True)
spark.range(3).selectExpr("'ü' AS value").write.format("kafka").options(
    **broker.spark_options()).option("topic", topic.name).save()
read = spark.read.format("kafka").options(**broker.spark_options())
values = read.option("subscribe", topic.name).load().rdd.map(lambda r: r.value.decode()).collect()
[epoch] = spark.sql("SELECT timestamp_seconds(0) AS t").collect()
print(ascii(["".join(values), str(epoch.t), workbook.__file__]))
"""


@pytest.mark.slow
def test_all_works_in_a_folder_with_a_blank_and_an_umlaut_and_a_hostile_environment() -> None:
    """The checkout, the cache and the temporary files, all in such folders."""
    with tempfile.TemporaryDirectory() as short, own_lab() as lab:
        course = Path(short) / "Mein Kurs ü"
        (course / "cache").mkdir(parents=True)
        (course / "workbook").symlink_to(folders.ROOT / "workbook")
        (course / "cache" / "jars").symlink_to(folders.cache_dir() / "jars")
        lab.folder = course / lab.folder.name
        lab.env |= HOSTILE | {
            "TMPDIR": str(course),
            "WORKBOOK_CACHE": str(course / "cache"),
            "PYTHONPATH": str(course),
        }
        said, _ = lab.start("-c", SESSION).communicate(timeout=120)
        assert said.splitlines()[-1].startswith("['\\xfc\\xfc\\xfc', '1970-01-01 00:00:00'"), said
        until(lambda: not lab.processes(), "the end of the lab", within=30)


def cut_off() -> list[str]:
    """What runs a command with loopback and no other network; empty where that is not possible."""
    cut = ["unshare", "-n", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    try:
        works = subprocess.run([*cut, "true"], capture_output=True, timeout=10).returncode == 0
    except OSError:
        return []
    return cut if works else []


@pytest.mark.skipif(not cut_off(), reason="no network namespace can be made here")
def test_without_a_network_the_doctor_finds_no_fault_and_the_broker_starts() -> None:
    with own_lab() as lab:
        script = "from workbook.stack.addresses import kafka; print('broker', kafka().bootstrap)"
        command = [*cut_off(), sys.executable, "-c", script]
        done = subprocess.run(command, env=lab.env, capture_output=True, text=True, timeout=90)
        assert "broker 127.0.0.1" in done.stdout, done.stderr
        done = subprocess.run([*cut_off(), *DOCTOR], env=lab.env, capture_output=True, text=True)
        assert "all sums as recorded" in done.stdout


def test_in_a_notebook_what_is_well_is_folded_and_the_rest_is_open() -> None:
    well, note = Finding("Java", "ok", "17"), Finding("ports", "note", "8888 is <taken>")
    fault = Finding("memory", "fault", "1 GB", "close something")
    before, _, folded = Report([well, note, fault])._repr_html_().partition("<details>")
    assert "Fix these problems first." in before
    assert before.index("1 GB") < before.index("8888 is &lt;taken&gt;")
    assert "close something" in before
    assert "Java" in folded
    assert "Java" not in before

"""Every fault is named with its fix in under ten seconds, and a healthy machine has none."""

import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from brokers import false_broker
from confluent_kafka import KafkaError
from labs import OwnLab, own_lab, read_until, until
from secured import Secured
from test_java import java_home

from workbook.kafka.broker import Broker
from workbook.stack import client, doctor, folders
from workbook.stack.doctor import Finding

LIMIT = 10.0
NOBODY = "127.0.0.1:1"


@pytest.fixture(autouse=True)
def _healthy_before(fetched: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab of its own that does not run; what else runs here may leave little memory."""
    monkeypatch.setenv("WORKBOOK_LAB", f"t-{secrets.token_hex(4)}")
    monkeypatch.setattr(doctor, "MEMORY_GB", 0.1)


def assert_named(subject: str, said: str, fix: str) -> None:
    began = time.monotonic()
    found = doctor.look(subject)
    assert time.monotonic() - began < LIMIT
    named = [f for f in found if re.search(said, f.text)]
    assert named, found
    assert named[0].state == "fault"
    assert re.search(fix, named[0].fix)
    assert "\n" not in named[0].fix


def test_a_healthy_machine_has_no_fault() -> None:
    began = time.monotonic()
    report = doctor.examine()
    assert time.monotonic() - began < LIMIT
    assert report.healthy, report
    assert {finding.subject for finding in report} == set(doctor.CHECKS)
    assert repr(report).endswith("Everything the lab needs is here.")


@pytest.mark.parametrize(
    ("variable", "value", "subject", "said", "fix"),
    [
        ("JAVA_HOME", "/gone", "Java", "there is no bin/java", "Point JAVA_HOME at a JDK 17"),
        ("SPARK_DRIVER_MEMORY", "2x", "Spark memory", "is '2x', but Spark needs", "a size like 2g"),
        ("SPARK_DRIVER_MEMORY", "2048", "Spark memory", "a number alone means bytes", "Set it"),
        ("SPARK_DRIVER_MEMORY", "500T", "Spark memory", "what this machine has", "Set it"),
        ("SPARK_MASTER", "mesos://h:5050", "Spark master", "Spark does not know", "Unset it"),
        ("SPARK_MASTER", f"spark://{NOBODY}", "Spark master", "nobody listens", "or unset it"),
        ("SPARK_MASTER", "spark://lost.invalid:7,h", "Spark master", "cannot be resolved", "Check"),
        ("WORKBOOK_CACHE", "{file}/cache", "disk", "cannot be written", "point WORKBOOK_CACHE"),
        ("WORKBOOK_LAB", "x" * 100, "broker", "too long a name for a socket", "Set TMPDIR"),
        ("KAFKA_BOOTSTRAP_SERVERS", NOBODY, "broker", "nobody listens at", "Check KAFKA_BOOT"),
        ("KAFKA_BOOTSTRAP_SERVERS", "lost.invalid:9", "broker", "be resolved", "Correct the name"),
        ("KAFKA_BOOTSTRAP_SERVERS", "localhost", "broker", "is no address of a", "host:port"),
        ("SCHEMA_REGISTRY_URL", f"http://{NOBODY}", "registry", "refused", "SCHEMA_REGISTRY_URL"),
        ("DATABASE_URL", f"postgresql://m:s@{NOBODY}/m", "database", "refused", "DATABASE_URL"),
    ],
)
def test_a_wrong_variable_is_named_with_its_fix(
    variable: str, value: str, subject: str, said: str, fix: str,
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    (tmp_path / "file").write_text("stops even root")
    monkeypatch.setenv(variable, value.format(file=tmp_path / "file"))
    assert_named(subject, said, fix)


def test_a_lab_that_cannot_answer_is_no_fault_of_sparks_memory(monkeypatch) -> None:
    monkeypatch.setenv("WORKBOOK_LAB", "x" * 100)
    [found] = doctor.look("Spark memory")
    assert found.state == "ok", found


def test_a_java_that_hangs_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "JAVA_WITHIN", 1)
    monkeypatch.setenv("JAVA_HOME", str(java_home(tmp_path, "exec sleep 60")))
    assert_named("Java", "doesn't answer within 1 s", "Install a JDK 17")


def test_too_little_memory_or_disk_and_a_missing_package_are_named(monkeypatch) -> None:
    monkeypatch.setattr(doctor, "MEMORY_GB", 10_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**29))
    monkeypatch.setattr(doctor, "PACKAGES", ("pyspark", "nowhere"))
    report = {finding.subject: finding for finding in doctor.examine()}
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
def test_what_is_no_broker_of_ours_is_named(answer, said, fix, monkeypatch) -> None:
    with false_broker(lambda request: answer) as address:
        monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
        assert_named("broker", said, fix)


USER = """
import sys
from workbook.stack.addresses import database
from workbook.stack.addresses import kafka
print("ready", kafka("user").bootstrap, database("user"), flush=True)
sys.stdin.readline()
"""


def test_a_running_lab_is_well_and_its_killed_and_stuck_servers_are_named(lab: OwnLab) -> None:
    read_until(lab.start("-c", USER), "ready")
    assert str(doctor.examine()).count("the lab's own answers at") == 2
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


def test_a_check_that_fails_keeps_no_other_from_being_heard(monkeypatch) -> None:
    def fails() -> Iterator[Finding]:
        yield Finding("fails", "ok", "so far")
        raise ZeroDivisionError("by chance")

    monkeypatch.setattr(doctor, "CHECKS", {"fails": fails, "Python": doctor.python})
    failed, fine = doctor.examine()
    assert "ZeroDivisionError: by chance" in failed.text
    assert fine.state == "ok"


def test_a_wrong_mechanism_and_an_advertised_address_where_nobody_answers_are_named(
    secured: Secured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", secured.at["lost"])
    said = "sends its clients on to 127.0.0.1:1, where nobody answers"
    assert_named("broker", said, "advertised.listeners")
    for name, value in secured.login("learner").items():
        monkeypatch.setenv(f"KAFKA_{name.upper().replace('.', '_')}", value)
    monkeypatch.setenv("KAFKA_SASL_MECHANISM", "SCRAM-SHA-256")
    assert_named("broker", "Unsupported SASL mechanism", "Check .*KAFKA_SASL_MECHANISM")


def test_so_it_is_where_the_first_question_already_went_to_that_address() -> None:
    refused = KafkaError(
        KafkaError._TRANSPORT, "127.0.0.1:1/1: Connect to ipv4#127.0.0.1:1 failed: refused"
    )
    down = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
    said = str(Broker("127.0.0.1:41737", {})._unreachable([down, refused]))
    assert "41737 sends its clients on to 127.0.0.1:1, where nobody answers" in said


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

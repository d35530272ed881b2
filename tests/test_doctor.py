"""Every fault is named with its fix in under ten seconds, and a healthy machine has none."""

from __future__ import annotations

import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from brokers import broker_with_login, false_broker
from confluent_kafka import KafkaError
from faults import FAULTS, Fault, use_lab
from labs import own_lab, read_until, until

from workbook.errors import BrokerUnreachable
from workbook.kafka.broker import Broker, external
from workbook.stack import client, doctor, folders, jars, kafka, machine_checks, server_checks
from workbook.stack.client import Lease
from workbook.stack.report import Finding, Report
from workbook.topics import new_topic

LIMIT = 10.0
PRINTED_BY = [sys.executable, "-m", "workbook", "doctor"]


@pytest.fixture(autouse=True)
def _healthy_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab of its own that does not run, and jars; what else runs here may leave little memory."""
    jars.prefetch()
    monkeypatch.setenv("WORKBOOK_LAB", f"t-{secrets.token_hex(4)}")
    monkeypatch.setattr(machine_checks, "MEMORY_GB", 0.1)


def examined() -> Report:
    """The doctor's report, which must come in time."""
    began = time.monotonic()
    report = doctor.examine()
    assert time.monotonic() - began < LIMIT
    return report


def faulty(report: Report) -> set[str]:
    return {finding.subject for finding in report if finding.state == "fault"}


def test_a_healthy_machine_has_no_fault() -> None:
    report = examined()
    assert report.healthy, report
    assert {finding.subject for finding in report} == set(doctor.CHECKS)
    assert "Everything the lab needs is here" in str(report)


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_each_fault_is_named_with_its_fix(
    fault: Fault, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextmanager(fault.inject)(tmp_path, monkeypatch):
        report = examined()
    named = [f for f in report if f.subject == fault.subject and re.search(fault.said, f.text)]
    assert named, report
    assert named[0].state == fault.state
    assert re.search(fault.fix, named[0].fix)
    assert "\n" not in named[0].fix
    own = {fault.subject} if fault.state == "fault" else set()
    assert own <= faulty(report) <= own | set(fault.also), report


def test_there_are_at_least_twenty_faults() -> None:
    assert len({fault.name for fault in FAULTS}) >= 20


def test_a_check_that_hangs_or_fails_keeps_no_other_from_being_heard(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()

    def hangs() -> Iterator[Finding]:
        over.wait()
        yield Finding("never", "ok", "")

    def fails() -> Iterator[Finding]:
        yield Finding("fails", "ok", "so far")
        raise ZeroDivisionError("by chance")

    monkeypatch.setattr(doctor, "PATIENCE", 0.5)
    fine = machine_checks.python
    monkeypatch.setattr(doctor, "CHECKS", {"hangs": hangs, "fails": fails, "Python": fine})
    by_subject = {f.subject: f for f in examined()}
    over.set()
    assert "no answer within" in by_subject["hangs"].text
    assert "ZeroDivisionError: by chance" in by_subject["fails"].text
    assert by_subject["Python"].state == "ok"


def test_a_running_lab_is_examined_from_inside_twice_at_once_and_unharmed() -> None:
    with own_lab() as lab:
        user = lab.start("-c", INSIDE)
        said, _ = user.communicate(timeout=90)
        assert said.count("the lab's own answers at 127") == 3, said
        assert "fault" not in said.replace("memory", "")
        assert "scratch folder stays: True" in said


def test_a_lab_that_runs_on_another_port_is_told_where(monkeypatch: pytest.MonkeyPatch) -> None:
    running = {"servers": {"kafka": "127.0.0.1:40123"}}
    monkeypatch.setattr(client, "status", lambda patience=None: running)
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        monkeypatch.setattr(kafka, "PORT", stranger.getsockname()[1])
        [found] = [f for f in server_checks.ports_free() if "40123" in f.text]
    assert "another program" in found.text
    assert "Kafka runs at 127.0.0.1:40123 instead" in found.text


def test_who_only_looks_is_no_user_of_the_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    with own_lab() as lab:
        user = use_lab(monkeypatch, lab)
        looking = Lease("probe", start=False)  # the doctor's other checks do so at the same time
        another = lab.start("-c", LOOKS)
        read_until(another, "ready")
        [found] = [f for f in examined() if f.subject == "supervisor"]
        assert found.text == f"runs for kernel ({user.pid})"
        looking.close()


LOOKS = """
import sys
from workbook.stack.client import Lease
probe = Lease("probe", start=False)
print("ready", flush=True)
sys.stdin.readline()
"""

INSIDE = f"""
import subprocess
from workbook.stack import doctor, machine_checks
from workbook.stack.broker import kafka
from workbook.stack.client import scratch_dir
kafka("user")
mine = scratch_dir()
machine_checks.MEMORY_GB = 0.1
two = [subprocess.Popen({PRINTED_BY!r}, stdout=subprocess.PIPE, text=True) for _ in "ab"]
print(doctor.examine(), *(each.communicate()[0] for each in two))
print("scratch folder stays:", mine.is_dir())
"""


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
        ({}, "it may want a login", "KAFKA_SECURITY_PROTOCOL and KAFKA_SASL_"),
    ],
    ids=["wrong password", "wrong mechanism", "no login"],
)
def test_wrong_credentials_are_named(
    login: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    said: str,
    fix: str,
) -> None:
    log_in(monkeypatch, login[0], **settings)
    [finding] = [f for f in examined() if f.subject == "broker"]
    assert finding.state == "fault"
    assert re.search(said, finding.text)
    assert re.search(fix, finding.fix)


def test_an_advertised_address_where_nobody_answers_is_named(
    login: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(monkeypatch, login[1])
    [finding] = [f for f in examined() if f.subject == "broker"]
    assert re.search("sends its clients on to 127.0.0.1:1, where nobody answers", finding.text)
    assert "advertised.listeners" in finding.fix


@pytest.mark.parametrize("scheme", ["", "sasl_plaintext://"])
def test_so_it_is_where_the_first_question_already_went_to_that_address(scheme: str) -> None:
    refused = KafkaError(
        KafkaError._TRANSPORT, f"{scheme}127.0.0.1:1/1: Connect to ipv4#127.0.0.1:1 failed: refused"
    )
    down = KafkaError(KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down")
    said = str(Broker("127.0.0.1:41737", {})._unreachable([down, refused]))
    assert "41737 sends its clients on to 127.0.0.1:1, where nobody answers" in said
    itself = str(Broker("127.0.0.1:1", {})._unreachable([down, refused]))
    assert "does not let us work" in itself


def test_the_right_login_serves_the_producer_the_admin_and_spark(
    login: tuple[str, str], monkeypatch: pytest.MonkeyPatch, spark: object
) -> None:
    from confluent_kafka import Producer
    from pyspark.sql import SparkSession

    assert isinstance(spark, SparkSession)
    named, topic = log_in(monkeypatch, login[0], **RIGHT), new_topic("clicks", "login")
    [finding] = [f for f in examined() if f.subject == "broker"]
    assert (finding.state, "yours answers" in finding.text) == ("ok", True)
    named.create(topic)
    producer = Producer(named.client_config())
    producer.produce(topic.name, b"in")
    assert producer.flush(20) == 0
    read = spark.read.format("kafka").options(**named.spark_options())
    assert [bytes(row.value) for row in read.option("subscribe", topic.name).load().collect()] == [
        b"in"
    ]


def test_a_client_that_meets_no_broker_is_told_and_lives() -> None:
    """librdkafka aborts the whole process when a web server answers it."""
    web = false_broker(lambda request: b"HTTP/1.1 400 Bad Request\r\n\r\n")
    with web as address, pytest.raises(BrokerUnreachable, match="is not a Kafka broker"):
        Broker(address).check()


def printed(**env: str) -> str:
    """What the command prints in this environment, in time."""
    began = time.monotonic()
    done = subprocess.run(
        PRINTED_BY, env={**os.environ, **env}, capture_output=True, text=True, timeout=LIMIT * 2
    )
    assert time.monotonic() - began < LIMIT
    return done.stdout + done.stderr


BARE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_locale_without_umlauts_is_named_and_the_report_is_printed_all_the_same() -> None:
    said = printed(**BARE, LANG="")
    where = (folders.ROOT, folders.run_dir(), folders.cache_dir())
    if all(str(folder).isascii() for folder in where):
        assert "LC_ALL=C is not installed here or knows no umlauts" in said
    else:  # the same locale, but here it is worse than a note
        assert "(LC_ALL=C), but " in said
    assert "fix: export LC_ALL=C.UTF-8" in said


def test_a_locale_that_cannot_read_the_folders_name_is_a_fault(short_folder: Path) -> None:
    (short_folder / "ü").mkdir()
    said = printed(**BARE, TMPDIR=str(short_folder / "ü"))
    assert "has an umlaut" in said
    assert "unset PYTHONUTF8" in said


def test_another_time_zone_is_noted() -> None:
    said = printed(TZ="America/New_York")
    assert re.search(
        r"note +time zone +this machine is -[45] h from UTC \(America/New_York\)", said
    )


HOSTILE = {
    "TZ": "America/New_York",
    "LC_ALL": "tr_TR.UTF-8",
    "PYSPARK_PYTHON": "/usr/bin/python2",
    "PYSPARK_DRIVER_PYTHON": "/usr/bin/python2",
    "SPARK_HOME": "/opt/spark-3",
}


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose name leaves room for that of a socket."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


SESSION = """
from workbook.spark.session import spark_session
from workbook.stack.broker import kafka
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
def test_all_works_in_a_folder_with_a_blank_and_an_umlaut_and_a_hostile_environment(
    short_folder: Path,
) -> None:
    """The checkout, the cache and the temporary files, all in such folders."""
    course = short_folder / "Mein Kurs ü"
    (course / "cache").mkdir(parents=True)
    (course / "workbook").symlink_to(folders.ROOT / "workbook")
    (course / "cache" / "jars").symlink_to(folders.cache_dir() / "jars")
    with own_lab() as lab:
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
        script = "from workbook.stack.broker import kafka; print('broker', kafka().bootstrap)"
        done = subprocess.run(
            [*cut_off(), sys.executable, "-c", script],
            env=lab.env, capture_output=True, text=True, timeout=90,
        )  # fmt: skip
        assert "broker 127.0.0.1" in done.stdout, done.stderr
        done = subprocess.run(
            [*cut_off(), *PRINTED_BY], env=lab.env, capture_output=True, text=True
        )
        assert "not needed: all jars are in the cache" in done.stdout


def test_in_a_notebook_what_is_well_is_folded_and_the_rest_is_open() -> None:
    well, note = Finding("Java", "ok", "17"), Finding("ports", "note", "8888 is <taken>")
    fault = Finding("memory", "fault", "1 GB", "close something")
    shown = Report([well, note, fault])._repr_html_()
    before, _, folded = shown.partition("<details>")
    assert "Mend the faults first." in before
    assert before.index("1 GB") < before.index("8888 is &lt;taken&gt;")
    assert "close something" in before
    assert "1 of 3 checks found nothing" in folded
    assert "Java" in folded
    assert "Java" not in before
    assert "<table>" not in Report([well])._repr_html_().partition("<details>")[0]

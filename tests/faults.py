"""Ways to break a machine or a lab: each is injected, named by the doctor, and taken back."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from brokers import api_versions, false_broker, free_port
from labs import OwnLab, own_lab, read_until, until
from test_java import CUT_DOWN, OLD, java_home

from workbook.stack import client, folders, jars, kafka, machine_checks

Inject = Callable[[Path, pytest.MonkeyPatch], Iterator[None]]


@dataclass(frozen=True)
class Fault:
    """What is broken, and what the doctor must say: patterns for its words and for its fix."""

    name: str
    inject: Inject
    subject: str
    said: str
    fix: str
    state: str
    also: tuple[str, ...]


FAULTS: list[Fault] = []

SERVERS = ("broker", "registry", "database")

USER = """
import sys
from workbook.stack.broker import kafka
print("ready", kafka("user").bootstrap, flush=True)
sys.stdin.readline()
"""

DATABASE_USER = """
import sys
from workbook.stack.addresses import database
print("ready", database("user"), flush=True)
sys.stdin.readline()
"""

SPARK_USER = """
import sys
from workbook.stack.client import scratch_dir
(scratch_dir() / "checkpoints" / "views").mkdir(parents=True)
print("ready", flush=True)
sys.stdin.readline()
"""
"""One who has a checkpoint, but no broker: such a lab is up in a moment."""


def fault(
    subject: str, said: str, fix: str, *, state: str = "fault", also: tuple[str, ...] = ()
) -> Callable[[Inject], Inject]:
    """Register an injection; ``also`` names other subjects in which it may show as a fault."""

    def register(inject: Inject) -> Inject:
        name = inject.__name__.replace("_", " ")
        FAULTS.append(Fault(name, inject, subject, said, fix, state, also))
        return inject

    return register


def use_lab(
    monkeypatch: pytest.MonkeyPatch, lab: OwnLab, code: str = SPARK_USER
) -> subprocess.Popen[str]:
    """Start a user of a lab, and make this process one of that lab's, too."""
    user = lab.start("-c", code)
    read_until(user, "ready")
    monkeypatch.setenv("WORKBOOK_LAB", lab.name)
    return user


def private_jars(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own whose jars are links to the good ones; returns the first of Spark's."""
    good = [jar.path for jar in jars.locked()]
    (folder / "jars").mkdir()
    for path in good:
        (folder / "jars" / path.name).symlink_to(path)
    monkeypatch.setenv("WORKBOOK_CACHE", str(folder))
    return jars.locked("spark")[0].path


@fault("Java", "no java on PATH", "Install a JDK 17")
def java_missing(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.delenv("JAVA_HOME", raising=False)
    patch.setenv("PATH", str(tmp))
    yield


@fault("Java", "is Java 8, but Spark and Kafka need 17", "Install a JDK 17")
def java_too_old(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("JAVA_HOME", str(java_home(tmp, OLD)))
    yield


@fault("Java", "JAVA_HOME is .*gone, but there is no bin/java", "Point JAVA_HOME at a JDK 17")
def java_home_points_nowhere(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("JAVA_HOME", str(tmp / "gone"))
    yield


@fault("Java", r"lacks the module jdk\.incubator\.vector", "Install a JDK 17")
def java_without_what_spark_needs(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("JAVA_HOME", str(java_home(tmp, CUT_DOWN)))
    yield


@fault("Java", "does not say its version within 1 s", "Install a JDK 17")
def java_hangs(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(machine_checks, "JAVA_WITHIN", 1)
    patch.setenv("JAVA_HOME", str(java_home(tmp, "exec sleep 60")))
    yield


@fault("Java", r"cannot be run on this machine \(Exec format error\)", "Install a JDK 17")
def java_of_another_machine(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    command = java_home(tmp, "") / "bin" / "java"
    command.write_bytes(b"\x7fELF of nobody")
    patch.setenv("JAVA_HOME", str(tmp))
    yield


@fault("memory", "too little: 1.0 GiB free on this machine, 4 needed", "SPARK_DRIVER_MEMORY=1g")
def little_memory(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(machine_checks, "MEMORY_GB", 4.0)
    patch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**30))
    yield


@fault("memory", "too little: 2.0 GiB free in this container", "Close other programs")
def little_memory_in_a_container(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(machine_checks, "MEMORY_GB", 4.0)
    patch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=2**35))
    patch.setattr(machine_checks, "CONTAINER", tmp)
    (tmp / "memory.max").write_text(f"{3 * 2**30}\n")
    (tmp / "memory.current").write_text(f"{2**30}\n")
    yield


@fault("Spark memory", "'lots', which Java does not read as a size", "a size like 2g, or unset it")
def driver_memory_that_is_no_size(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_DRIVER_MEMORY", "lots")
    yield


@fault("Spark memory", "'2048', too little for Spark.*a number alone means bytes", "Set it to")
def driver_memory_without_its_letter(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_DRIVER_MEMORY", "2048")
    yield


@fault("Spark memory", "'500T', more than this machine has", "Set it to a size like 2g")
def driver_memory_that_no_machine_has(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_DRIVER_MEMORY", "500T")
    yield


@fault("Spark memory", "more than this machine has .3.0 GiB", "Set it to a size like 2g")
def driver_memory_beyond_the_container(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(machine_checks, "CONTAINER", tmp)
    (tmp / "memory.max").write_text(f"{3 * 2**30}\n")
    patch.setenv("SPARK_DRIVER_MEMORY", "3100m")
    yield


@fault("Spark master", r"\(nobody listens at 127.0.0.1:\d+\)", "Check SPARK_MASTER .*or unset it")
def spark_master_dead(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_MASTER", f"spark://127.0.0.1:{free_port()}")
    yield


@fault("Spark master", "the name lost.invalid cannot be resolved, 'h' is not", "Check SPARK_MASTER")
def spark_masters_wrongly_named(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_MASTER", "spark://lost.invalid:7077,h")
    yield


@fault("Spark master", "'mesos://h:5050', which Spark does not know", "Unset it to use Spark on")
def spark_master_of_an_unknown_kind(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_MASTER", "mesos://h:5050")
    yield


@fault("Spark master", "only starting Spark can tell", "Nothing to do", state="note")
def spark_master_that_cannot_be_asked(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_MASTER", "yarn")
    yield


@fault("notebooks", "occupied/mine cannot be written .Not a directory", "set WORKBOOK_NOTEBOOKS to")
def notebooks_not_writable(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp / "occupied").write_text("a file where a folder should be: stops even root")
    patch.setenv("WORKBOOK_NOTEBOOKS", str(tmp / "occupied" / "mine"))
    yield


@fault("notebooks", "gone/mine is not there yet", "correct WORKBOOK_NOTEBOOKS", state="note")
def notebooks_missing(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("WORKBOOK_NOTEBOOKS", str(tmp / "gone" / "mine"))
    yield


@fault("disk", "nearly full: 0.5 GiB free in /", "point TMPDIR to a disk that has it")
def disk_full(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=2**29))
    yield


@fault("cache", r"occupied/cache cannot be written", "set WORKBOOK_CACHE", also=("jars",))
def cache_not_writable(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp / "occupied").write_text("a file where a folder should be: stops even root")
    patch.setenv("WORKBOOK_CACHE", str(tmp / "occupied" / "cache"))
    yield


@fault(
    "folders",
    "too long a name for a socket",
    "Set TMPDIR to a shorter one",
    also=("supervisor", "leftovers", *SERVERS),
)
def too_long_a_folder(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("WORKBOOK_LAB", "x" * 100)
    yield


@fault(
    "folders",
    "should be a folder of yours alone, but it is a link and belongs to you",
    "Remove it, or set TMPDIR",
    also=("supervisor", "leftovers", *SERVERS),
)
def a_link_in_place_of_the_run_folder(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    folders.run_dir().symlink_to(tmp)
    yield
    folders.run_dir().unlink()


@fault("folders", "has a comma or a colon in its name", "Point WORKBOOK_CACHE to a folder without")
def a_comma_in_a_folder(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp / "one,two").mkdir()
    private_jars(tmp / "one,two", patch)
    yield


@fault("time zone", "names no time zone", "Unset TZ", state="note")
def time_zone_that_does_not_exist(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("TZ", "Mars/Olympus")
    yield


@fault(
    "environment", "PYSPARK_PYTHON points to /usr/bin/python2", "unset PYSPARK_PYTHON", state="note"
)
def pyspark_python_elsewhere(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("PYSPARK_PYTHON", "/usr/bin/python2")
    yield


@fault("environment", "SPARK_HOME points to /opt/spark-3", "unset SPARK_HOME", state="note")
def spark_home_elsewhere(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SPARK_HOME", "/opt/spark-3")
    yield


@fault("jars", "1 of 5 jars for spark are not in", "workbook prefetch", also=("network",))
def jar_missing(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    private_jars(tmp, patch).unlink()
    yield


@fault("jars", "does not have its recorded SHA-256 sum: it is incomplete", "workbook prefetch")
def jar_one_byte_short(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    jar = private_jars(tmp, patch)
    content = jar.read_bytes()
    jar.unlink()  # it is a link to the good one
    jar.write_bytes(content[:-1])
    yield


@fault("network", "cannot be reached, and 1 jars are still missing", "HTTPS_PROXY", also=("jars",))
def no_network_before_prefetch(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    private_jars(tmp, patch).unlink()
    yield


@fault("network", "not needed: all jars are in the cache", "", state="ok")
def no_network_after_prefetch(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    yield


@fault("ports", r"is taken by another program, .*\(process \d+\)", "end that program", state="note")
def port_taken_by_a_stranger(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        patch.setattr(kafka, "PORT", stranger.getsockname()[1])
        yield


@fault("ports", "is taken by an older lab, in /.*-t-", "WORKBOOK_LAB=t-.* down", state="note")
def port_taken_by_an_older_lab(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as older:
        user = older.start("-c", USER)
        address = read_until(user, "ready")
        patch.setattr(kafka, "PORT", int(address.rpartition(":")[2]))
        yield
        user.communicate("\n", timeout=30)


@fault("other labs", "another lab runs too, in /.*-t-", "WORKBOOK_LAB=t-.* down", state="note")
def two_labs_at_once(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as other, own_lab() as mine:
        for lab in (other, mine):
            use_lab(patch, lab)
        yield


@fault("supervisor", "started by another version of the workbook", "down", state="note")
def lab_of_another_version(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        use_lab(patch, lab)
        pulled = tmp / "jars.lock"
        pulled.write_text(jars.LOCK.read_text() + "# as after a pull\n")
        patch.setattr(jars, "LOCK", pulled)
        yield


@fault(
    "supervisor",
    "does not answer within 3.0 s: it is stuck",
    "down",
    also=("leftovers", "ports", *SERVERS),
)
def supervisor_stopped(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        use_lab(patch, lab)
        [stopped] = lab.servers("workbook.stack.supervisor")
        stopped.suspend()
        yield


@fault("broker", "the lab's broker has ended .killed by SIGKILL", "Restart the kernel")
def own_broker_killed(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        use_lab(patch, lab, USER)
        [server] = lab.servers("kafka.Kafka")
        server.kill()
        until(lambda: (client.status() or {}).get("ended"), "the end of the broker")
        yield


@fault("database", "the lab's database has ended .killed by SIGKILL", "again with its tables")
def own_database_killed(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        use_lab(patch, lab, DATABASE_USER)
        [server] = lab.servers("bin/postgres")
        server.kill()
        until(lambda: (client.status() or {}).get("ended"), "the end of the database")
        yield


@fault("broker", "The lab's broker at .* does not answer: it is stuck", "workbook down")
def own_broker_stopped(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        use_lab(patch, lab, USER)
        [server] = lab.servers("kafka.Kafka")
        server.suspend()
        yield


@fault("leftovers", "a stale lock: .*socket is of a supervisor that was", "down", state="note")
def stale_lock(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        user = use_lab(patch, lab)
        end_hard(lab, user)
        yield


@fault("leftovers", r"stale checkpoints \(views\) of process \d+", "down", state="note")
def stale_checkpoint(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with own_lab() as lab:
        user = use_lab(patch, lab)
        end_hard(lab, user)
        yield


def end_hard(lab: OwnLab, user: subprocess.Popen[str]) -> None:
    """End a lab so that it can clear nothing: first the supervisor, then its user."""
    [owner] = lab.servers("workbook.stack.supervisor")
    os.kill(owner.pid, signal.SIGKILL)
    user.kill()
    user.wait()
    until(lambda: not lab.processes(), "the end of the lab")
    assert (folders.run_dir() / "socket").exists()


@fault("broker", r"\(nobody listens at 127.0.0.1:\d+\)", "Check KAFKA_BOOTSTRAP_SERVERS")
def broker_dead(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("KAFKA_BOOTSTRAP_SERVERS", f"127.0.0.1:{free_port()}")
    yield


@fault("broker", r"\(the name lost.invalid cannot be resolved\)", "Correct the name in KAFKA_BOOT")
def broker_with_an_unknown_name(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("KAFKA_BOOTSTRAP_SERVERS", "lost.invalid:9092")
    yield


@fault("broker", "the name lost..invalid cannot be resolved, nobody listens at", "Correct the name")
def brokers_all_away_for_their_own_reasons(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("KAFKA_SECURITY_PROTOCOL", "SSL")  # the client would say it less plainly
    patch.setenv("KAFKA_BOOTSTRAP_SERVERS", f"lost..invalid:9092,127.0.0.1:{free_port()}")
    yield


@fault("broker", "is no address of a broker", "host:port")
def broker_without_a_port(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("KAFKA_BOOTSTRAP_SERVERS", "localhost")
    yield


@fault("broker", r"is not a Kafka broker \(it says b'HTTP", "the port of another program")
def broker_is_a_web_server(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with false_broker(lambda request: b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        patch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
        yield


@fault("broker", "does not answer as a Kafka broker does", "Check that it is a Kafka broker")
def broker_hangs_up(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with false_broker(lambda request: b"") as address:
        patch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
        yield


@fault("registry", "at http://127.0.0.1:.*, but .*refused", "Check SCHEMA_REGISTRY_URL")
def registry_dead(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("SCHEMA_REGISTRY_URL", f"http://127.0.0.1:{free_port()}")
    yield


@fault("database", "at postgresql://127.0.0.1:.*, but .*refused", "Check DATABASE_URL")
def database_dead(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    patch.setenv("DATABASE_URL", f"postgresql://me:secret@127.0.0.1:{free_port()}/mine")
    yield


@fault("broker", "wants TLS", "KAFKA_SECURITY_PROTOCOL to SSL or SASL_SSL")
def broker_wants_tls(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with false_broker(lambda request: b"\x15\x03\x03\x00\x02\x02\x46") as address:
        patch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
        yield


@fault("broker", "is older than 2.1", "Use the version of docker-compose.yml")
def broker_too_old(tmp: Path, patch: pytest.MonkeyPatch) -> Iterator[None]:
    with false_broker(api_versions((0, 3))) as address:
        patch.setenv("KAFKA_BOOTSTRAP_SERVERS", address)
        yield

"""docker-compose.yml and environment.yml: valid, and the same lab as the embedded one.

No Docker engine is needed. What can be run without one is run: the broker with the very settings
that the Kafka image would get, the registry's health check, the script that makes a password.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pins
import pytest
import yaml
from brokers import OwnBroker, false_broker, free_port
from confluent_kafka.admin import AdminClient

from workbook.stack import jupyter, kafka, postgres
from workbook.stack.folders import ROOT

COMPOSE = ROOT / "docker-compose.yml"
DOCKERFILE = (ROOT / "docker" / "Dockerfile").read_text()
SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
WORKBOOK = pins.pins()["tool"]["workbook"]


def filled_in(value: str) -> str:
    """What Compose makes of a value when no variable is set."""
    value = re.sub(r"\$\{\w+:\+[^}]*\}", "", value)
    return re.sub(r"\$\{\w+:-(\w+)\}", r"\1", value).replace("$$", "$")


def test_it_is_valid_by_the_compose_schema() -> None:
    """By the Compose Specification's schema, which check-jsonschema carries."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    found = subprocess.run([*command, str(COMPOSE)], capture_output=True, text=True, timeout=60)
    assert found.returncode == 0, found.stdout + found.stderr


def test_the_images_have_the_pinned_versions() -> None:
    broker = next(c for c in WORKBOOK["jars"]["kafka"] if c.startswith("org.apache.kafka:kafka_"))
    [registry] = WORKBOOK["jars"]["registry"]
    [cassandra] = WORKBOOK["jars"]["cassandra"]
    ours = [postgres.binaries() / "postgres", "--version"]
    told = subprocess.run(ours, capture_output=True, text=True, check=True).stdout
    assert told == f"postgres (PostgreSQL) {WORKBOOK['images']['postgres']}\n"
    images = {name: service["image"] for name, service in SERVICES.items()}
    assert images == {
        "kafka": f"apache/kafka:{broker.rpartition(':')[2]}",
        "postgres": f"postgres:{WORKBOOK['images']['postgres']}",
        "registry": f"apicurio/apicurio-registry-mem:{registry.split(':')[2]}",
        "cassandra": f"cassandra:{cassandra.rpartition(':')[2]}",
        "jupyter": "workbook",
    }
    assert f"\nFROM python:{WORKBOOK['python']}-slim" in DOCKERFILE
    assert f"\nCOPY --from=eclipse-temurin:{WORKBOOK['java']}-jdk " in DOCKERFILE


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_on_loopback_with_a_health_check_and_a_limit(name: str) -> None:
    published = SERVICES[name]["ports"]
    assert published
    assert all(re.fullmatch(r"127\.0\.0\.1:\d+:\d+", filled_in(port)) for port in published)
    assert SERVICES[name]["healthcheck"]["test"][0] in ("CMD", "CMD-SHELL")
    assert SERVICES[name]["mem_limit"]


def test_the_services_reach_each_other_by_name() -> None:
    inside = SERVICES["jupyter"]["environment"]
    assert inside["KAFKA_BOOTSTRAP_SERVERS"] == "kafka:19092"
    assert "INSIDE://kafka:19092," in SERVICES["kafka"]["environment"]["KAFKA_ADVERTISED_LISTENERS"]
    assert inside["SCHEMA_REGISTRY_URL"].startswith("http://registry:8080/")
    assert inside["DATABASE_URL"].endswith("@postgres:5432/workbook")


def test_without_its_profile_cassandra_is_neither_started_nor_looked_for() -> None:
    profiles = {name: service.get("profiles") for name, service in SERVICES.items()}
    assert [name for name, asked in profiles.items() if asked] == ["cassandra"]
    place = SERVICES["jupyter"]["environment"]["CASSANDRA_CONTACT_POINTS"]
    assert place == "${COMPOSE_PROFILES:+cassandra:9042}"
    assert "cassandra" not in SERVICES["jupyter"]["depends_on"]


# The broker.

ADDRESSES = {
    *("listeners", "advertised.listeners", "listener.security.protocol.map"),
    *("controller.quorum.voters", "inter.broker.listener.name", "log.dirs"),
}


def image_settings() -> dict[str, str]:
    """The server.properties that the Kafka image makes of its environment."""
    environment = SERVICES["kafka"]["environment"]
    return {
        name.removeprefix("KAFKA_").lower().replace("_", "."): filled_in(value)
        for name, value in environment.items()
        if name != "KAFKA_HEAP_OPTS"
    }


def test_the_broker_has_the_settings_of_the_embedded_one() -> None:
    lines = kafka.SETTINGS.splitlines()
    ours = dict(line.split("=", 1) for line in lines)
    theirs = image_settings()
    assert {k: v for k, v in theirs.items() if k not in ADDRESSES} == {
        k: v for k, v in ours.items() if k not in ADDRESSES
    }


@pytest.mark.slow
def test_a_broker_starts_on_them_and_sends_each_client_to_its_listener(tmp_path: Path) -> None:
    text = "\n".join(f"{name}={value}" for name, value in image_settings().items())
    moved = {"9092": "{port}", "19092": "{inside}", "9093": "{controller}"}
    text = re.sub(r":(9092|19092|9093)\b", lambda port: f":{moved[port[1]]}", text)
    text = text.replace("//kafka:", "//127.0.0.1:").replace("://:", "://127.0.0.1:")
    text = text.replace("/var/lib/kafka/data", "{folder}/data")
    with OwnBroker(tmp_path, text, inside=(inside := free_port())) as server:
        for address in (server.bootstrap, f"127.0.0.1:{inside}"):
            admin = AdminClient({"bootstrap.servers": address})
            [told] = admin.list_topics(timeout=20).brokers.values()
            assert f"127.0.0.1:{told.port}" == address


# Health checks and passwords.


@pytest.mark.parametrize(("status", "code"), [(200, 0), (503, 1)])
def test_the_registrys_health_check_tells_ready_from_not(status: int, code: int) -> None:
    def answer(request: bytes) -> bytes:
        return b"HTTP/1.1 %d X\r\n\r\n" % (status if b" /health/ready " in request else 404)

    _, *command = SERVICES["registry"]["healthcheck"]["test"]
    with false_broker(answer) as address:
        script = filled_in(command[-1]).replace("8080", address.rpartition(":")[2])
        assert subprocess.run([*command[:-1], script], timeout=10).returncode == code


def test_no_password_is_in_the_file_and_none_of_env_in_git_or_the_image() -> None:
    secrets = re.findall(r"PASSWORD\S*: (.+)|workbook:([^@\s]+)@", COMPOSE.read_text())
    told = [word.strip('"') for pair in secrets for word in pair if word]
    assert told
    assert all(word.startswith("${POSTGRES_PASSWORD:?") for word in told)
    assert "/.env" in (ROOT / ".gitignore").read_text().splitlines()
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in rules
    assert not any(rule.startswith("!.env") for rule in rules)


def test_a_password_is_made_once(tmp_path: Path) -> None:
    (tmp_path / "docker").mkdir()
    script = shutil.copy(ROOT / "docker" / "env.sh", tmp_path / "docker")
    subprocess.run(["sh", script], check=True, cwd="/", capture_output=True)
    made = (tmp_path / ".env").read_text()
    assert re.fullmatch(r"POSTGRES_PASSWORD=[0-9a-f]{48}\n", made)
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    again = subprocess.run(["sh", script], check=True, capture_output=True, text=True)
    assert "stays" in again.stdout
    assert (tmp_path / ".env").read_text() == made


# JupyterLab's image.


def test_what_the_image_copies_is_let_through() -> None:
    copied = re.findall(r"^COPY (?:--chown=\S+ )?([\w.]+) ", DOCKERFILE, re.MULTILINE)
    rules = (ROOT / ".dockerignore").read_text().splitlines()
    assert {f"!{path}" for path in copied} == {rule for rule in rules if rule.startswith("!")}
    assert all((ROOT / path).exists() for path in copied)


def test_learners_work_stays_when_the_container_goes() -> None:
    folder = re.search(r"^WORKDIR (\S+)$", DOCKERFILE, re.MULTILINE)[1]
    assert f"my_notebooks:{folder}/my_notebooks" in SERVICES["jupyter"]["volumes"]


def test_jupyterlab_listens_on_loopback_unless_told_otherwise(monkeypatch) -> None:
    monkeypatch.delenv("WORKBOOK_LISTEN", raising=False)
    assert jupyter.listen_address() == "127.0.0.1"
    monkeypatch.setenv("WORKBOOK_LISTEN", SERVICES["jupyter"]["environment"]["WORKBOOK_LISTEN"])
    assert jupyter.listen_address() == "0.0.0.0"

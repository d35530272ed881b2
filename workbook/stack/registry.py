"""Starts a schema registry: Apicurio's, by the API of Confluent's, on loopback.

What it calls its in-memory storage is an H2 database. Ours is in a file of the run folder, since
topics still hold the ids of schemas after the registry has been stopped or killed.
"""

from pathlib import Path
from signal import SIGKILL, SIGTERM

from workbook.stack import jars, ports
from workbook.stack.java import find_java
from workbook.stack.server import ANSWER_WITHIN, advice

NAME, SUBJECT, KEEPS = "Schema Registry", "registry", "schemas"
VARIABLE, PORT, TAKES = "SCHEMA_REGISTRY_URL", 8081, "four seconds"
END, LAST_WISH = SIGTERM, SIGKILL

# Without the delay of half a second in H2, a schema whose id was given survives any kill.
DATABASE = "jdbc:h2:file:./registry;WRITE_DELAY=0"


def prepare(folder: Path, port: int) -> tuple[list[str], str]:
    """Return the registry's command and its address; its schemas will be in ``folder``."""
    [jar] = jars.unpacked("registry").glob("*-runner.jar")
    command = [
        *(str(find_java().command), "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-XX:-UsePerfData", f"-Djava.io.tmpdir={folder}"),
        *(f"-Dquarkus.http.host={ports.LOOPBACK}", f"-Dquarkus.http.port={port}"),
        *(f"-DREGISTRY_DATASOURCE_URL={DATABASE}", "-jar", str(jar)),
    ]
    return command, f"http://{ports.LOOPBACK}:{port}/apis/ccompat/v7"


def answers(address: str) -> bool:
    """Return True if the registry answers."""
    return ports.serves(f"{address}/subjects")


def check(address: str, within: float = ANSWER_WITHIN) -> None:
    """Raise ``RegistryUnreachable`` with the likely cause unless it lists its schemas."""
    from workbook.kafka.registry import FORM, subjects

    subjects(address, within, advice("registry", VARIABLE, FORM))

"""Runs Kafka's own command-line tools, as they print."""

import json
import subprocess
import tempfile
from pathlib import Path

from workbook.errors import ServerFailed
from workbook.kafka.broker import Broker
from workbook.kafka.config import TOKENS
from workbook.stack.jars import class_path
from workbook.stack.java import environment, find_java

CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"

ANSWER_WITHIN = 60.0
"""Seconds: Java starts in two, on a quiet machine."""


def consumer_groups(broker: Broker, *arguments: str) -> str:
    """Run ``kafka-consumer-groups`` with these arguments; return what it prints.

    Raises ServerFailed with its words where it fails, or takes too long.
    """
    jars = ":".join(map(str, [*class_path("kafka"), *class_path("tools")]))
    options = broker.spark_options().items()  # Java's names, behind "kafka."
    with tempfile.TemporaryDirectory() as folder:
        login = Path(folder, "client.properties")
        login.write_text(  # Java reads JSON's escapes
            "".join(f"{n.removeprefix('kafka.')}={json.dumps(v)[1:-1]}\n" for n, v in options)
        )
        command = [
            *(str(find_java().command), "-Xmx128m", "-XX:TieredStopAtLevel=1"),
            *("-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"),
            f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={broker.security.get(TOKENS, '')}",
            *("-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", jars, CONSUMER_GROUPS),
            *("--bootstrap-server", broker.bootstrap, "--command-config", str(login), *arguments),
        ]
        try:
            ended = subprocess.run(
                command, capture_output=True, encoding="utf-8", errors="replace",
                env=environment(), timeout=ANSWER_WITHIN, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise ServerFailed(
                f"kafka-consumer-groups hasn't answered within {ANSWER_WITHIN:.0f} s. Does the "
                "broker run? Look with: python -m workbook doctor"
            ) from None
    if ended.returncode:
        why = " ".join((ended.stderr or ended.stdout).strip().splitlines()[:3])
        raise ServerFailed(
            f"kafka-consumer-groups failed: {why}. Check its arguments and the broker."
        )
    return ended.stdout

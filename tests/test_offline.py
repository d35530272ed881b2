"""After `workbook prefetch` the lab works with the network cut.

Each test runs in a network namespace of its own, which has a loopback interface and nothing else.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import OwnLab

from workbook.stack.folders import ROOT

PLACES = [ROOT, Path(__file__).parent]

INSIDE = ["sh", "-c", 'ip link set lo up && exec "$0" "$@"']
"""Only root may make a namespace as it is; others need one of their own around it, if they may."""

WAYS = [["unshare", "-n", *INSIDE], ["unshare", "-n", "--map-current-user", "--keep-caps", *INSIDE]]

OPEN_LAB = """
import re, socket, subprocess, sys
from urllib.parse import urljoin
from urllib.request import urlopen
from labs import interrupt, read_until

try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError as error:
    print("network:", error.strerror)

command = [sys.executable, "-m", "workbook", "lab", "--no-browser"]
lab = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
try:
    address = read_until(lab, "The lab is open").split()[-1]
    page = urlopen(address, timeout=30).read().decode()
    print("JupyterLab:", "jupyter-config-data" in page)
    print("fetched from elsewhere:", re.findall(r'(?:src|href)="(?:https?:)?//[^"]*', page))
    print("health check:", urlopen(urljoin(address, "/api"), timeout=30).status)

    from workbook.streams.generators.clicks import ClickStream
    from workbook.spark.session import spark_session
    from workbook.streams.stream_producer import generate
    from workbook.sources.kafka import kafka_stream
    from workbook.stack.addresses import kafka
    from workbook.topics import new_topic

    broker, topic = kafka("offline"), new_topic("clicks", "offline")
    broker.create(topic)
    generate(broker.client_config(), topic.name, ClickStream(), 300)
    spark = spark_session(quiet=True)
    clicks = kafka_stream(spark, broker, topic.name)
    query = clicks.writeStream.format("memory").queryName("clicks").start()
    query.processAllAvailable()
    print("messages counted:", spark.table("clicks").count() >= 300)
    spark.stop()
finally:
    said = interrupt(lab)
print("ended:", "Everything the lab started has ended" in said or "The servers stay for" in said)
"""


@pytest.fixture(scope="module")
def cut() -> list[str]:
    """What to put before a command to run it without a network; skips where that is forbidden."""
    if not (shutil.which("unshare") and shutil.which("ip")):
        pytest.skip("cutting the network needs `unshare` and `ip` (Linux: util-linux, iproute2)")
    for way in WAYS:
        if subprocess.run([*way, "true"], capture_output=True).returncode == 0:
            return way
    pytest.skip("this user may not make a network namespace")


@pytest.fixture
def offline(cut: list[str], lab: OwnLab) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run Python with these arguments in the lab, the network cut; further words are variables."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*cut, sys.executable, *arguments],
            env={**lab.env, "PYTHONPATH": os.pathsep.join(map(str, PLACES)), **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=180,
        )

    return run


def test_the_doctor_finds_no_fault_and_prefetch_has_nothing_to_do(offline) -> None:
    seen = offline("-m", "workbook", "doctor")
    assert seen.returncode == 0, seen.stdout
    fetched = offline("-m", "workbook", "prefetch")
    assert fetched.returncode == 0, fetched.stdout
    assert ", 0 of them fetched now" in fetched.stdout


def test_the_servers_start(offline) -> None:
    code = "print(kafka().bootstrap, registry(), database())"
    seen = offline("-c", f"from workbook.stack.addresses import *; {code}")
    assert re.search("127.* http://127.* postgresql://workbook:", seen.stdout), seen.stdout


@pytest.mark.slow
def test_the_lab_opens_and_spark_counts_what_kafka_took(offline) -> None:
    said = offline("-c", OPEN_LAB).stdout
    expected = [
        "network: Network is unreachable",
        "JupyterLab: True",
        "fetched from elsewhere: []",
        "health check: 200",
        "messages counted: True",
        "ended: True",
    ]
    assert [line for line in said.splitlines() if line in expected] == expected, said

"""Nothing outlives the lab, and nothing that is still used ends."""

import itertools
import json
import os
import re
import shlex
import signal
import socket
import sys
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from jupyter_client import BlockingKernelClient
from labs import OwnLab, interrupt, listening, lives, read_until, until

from workbook.errors import ServerFailed
from workbook.stack import client

USER = """
import sys
import psycopg
from workbook.stack.addresses import database, kafka
client = psycopg.connect(database("user"))
print("broker", kafka("user").bootstrap, flush=True)
sys.stdin.readline()
"""

SERVERS = ["kafka.Kafka", "bin/postgres"]

SPARK_CELL = """
from workbook.spark.session import spark_session
from workbook.stack.addresses import database, kafka, registry
from confluent_kafka import Consumer
import psycopg
broker, spark = kafka(), spark_session(quiet=True)
client = registry() and psycopg.connect(database())
consumer = Consumer({**broker.client_config(), "group.id": "kernel"})
consumer.list_topics(timeout=20)
print("counted", spark.range(7).count())
"""

OWN_CELL = """
import subprocess, sys
from workbook.stack.client import lease
sleeps = [sys.executable, "-c", "import time; time.sleep(600)", "sleeps"]
apart = subprocess.Popen(sleeps, start_new_session=True)  # as Spark's Java is
lease().ask("own", pid=apart.pid)
print("counted 7")
"""

FORKS = """
import multiprocessing, time
child = multiprocessing.get_context("fork").Process(target=print, args=("counted 7",))
child.start(), child.join(), time.sleep(0.5)  # the kernel hears it by a socket of its own
"""

BROWSER = """
import os, sys, urllib.request
told, url = sys.argv[1:]
page = urllib.request.url2pathname(url.removeprefix("file://"))
with open(page) as file, open(told + ".new", "w") as answer:
    answer.write(f"{url}\\n{os.fstat(file.fileno()).st_mode:o}\\n{file.read()}")
os.rename(told + ".new", told)
"""


def open_lab(lab: OwnLab, folder: Path):
    """Start JupyterLab by the command, and a kernel in it; returns the process and its ports."""
    told, browser = folder / "told", folder / "browser.py"
    browser.write_text(BROWSER)
    lab.env |= {
        "WORKBOOK_NOTEBOOKS": str(folder / "mine"),
        "BROWSER": shlex.join([sys.executable, str(browser), str(told)]) + " %s",
    }
    process = lab.start("-m", "workbook", "lab")
    line = read_until(process, "The lab is open")
    port, token = re.search(r":(\d+)/lab/tree/00_start_here\.ipynb\?token=(\w+)", line).groups()

    def post(path: str, data: object = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/kernels{path}",
            data=json.dumps(data).encode(),
            headers={"Authorization": f"token {token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.loads(answer.read() or "null")

    kernel = post("", {"name": "python3"})["id"]
    client = BlockingKernelClient()
    client.load_connection_file(str(lab.folder / "jupyter" / f"kernel-{kernel}.json"))
    client.start_channels()
    until(lambda: is_ready(client), "a kernel that answers")
    run_cell(client, FORKS)
    assert_closed_to_others(lab, port)
    client.execute("print('asleep'); import time; time.sleep(600)")
    until(lambda: "asleep" in str(client.get_iopub_msg(timeout=60)), "a cell that runs")
    post(f"/{kernel}/interrupt")
    assert client.get_shell_msg(timeout=60)["content"]["ename"] == "KeyboardInterrupt"
    run_cell(client, OWN_CELL)
    before = [p.pid for p in lab.servers("kafka.Kafka")]
    [own] = lab.servers("sleeps")
    post(f"/{kernel}/restart")
    until(lambda: not lives(own), "the end of what the restarted kernel owned")
    assert [p.pid for p in lab.servers("kafka.Kafka")] == before
    run_cell(client, SPARK_CELL)  # a kernel that uses all servers and has a Spark
    client.stop_channels()
    ports = lab.ports()
    assert int(port) in ports
    assert_on_loopback(lab)
    until(told.exists, "a browser")
    command, mode, page = told.read_text().splitlines()
    assert (token in command, mode, f"token={token}" in page) == (False, "100600", True)
    return process, ports


def assert_closed_to_others(lab: OwnLab, port: str) -> None:
    """Another user of the machine sees neither the run folder nor a kernel nor JupyterLab."""
    assert [listening(process) for process in lab.servers("ipykernel_launcher")] == [[]]
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/api/kernels")
    sockets = [str(path) for path in lab.folder.rglob("*") if path.is_socket()]
    assert len(sockets) == 7
    for path in sockets if os.getuid() == 0 else ():  # only root can become another user
        os.seteuid(65534)
        try:
            with pytest.raises(PermissionError), socket.socket(socket.AF_UNIX) as link:
                link.connect(path)
        finally:
            os.seteuid(0)


def assert_on_loopback(lab: OwnLab) -> None:
    """All servers, Spark with its Py4J and JupyterLab listen on loopback only.

    Asked of the sockets themselves, since a setting may be misspelt.
    """
    for server, least in (
        *(("kafka.Kafka", 2), ("apicurio", 1), ("bin/postgres", 1), ("pyspark-shell", 2)),
        ("jupyterlab", 1),
    ):
        addresses = [a for process in lab.servers(server) for a in listening(process)]
        assert len(addresses) >= least, f"{server} listens at {addresses} only"
    found = {address for process in lab.processes() for address, _ in listening(process)}
    assert found <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)]
)
def test_whatever_ends_the_lab_ends_everything(
    lab: OwnLab, number: signal.Signals, tmp_path: Path
) -> None:
    process, ports = open_lab(lab, tmp_path)
    process.send_signal(number)
    if number == signal.SIGINT:
        read_until(process, "Ending the lab")
        said = interrupt(process)  # a second Ctrl-C doesn't cut the clearing short
        assert "Everything the lab started has ended" in said
        assert not list((tmp_path / "mine").glob(".open*")), "the page with the token stays"
    process.communicate(timeout=60)
    lab.assert_nothing_is_left(ports)


OPEN_AND_SMALL = """
import sys
from argparse import Namespace
from workbook.cli import lab

def jupyterlab(lease, folder):
    sleeps = [sys.executable, "-c", "import time; time.sleep(600)"]
    lease.ask("spawn", command=sleeps, env={}, cwd="/", log=f"{folder}/log")
    return "jupyterlab"

lab.addresses.kafka = lab.jars.prefetch = lab._prepare_spark = lambda *_: None
lab.jupyter.start = jupyterlab
lab.lab(Namespace(no_browser=True))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_service_manager_and_a_closed_terminal_end_the_lab_as_ctrl_c_does(
    lab: OwnLab, number: signal.Signals, tmp_path: Path
) -> None:
    """With another process in JupyterLab's place, and without a broker: this takes seconds."""
    lab.env |= {"WORKBOOK_NOTEBOOKS": str(tmp_path / "mine")}
    process = lab.start("-c", OPEN_AND_SMALL)
    read_until(process, "The lab is open: jupyterlab")
    [server] = [child for owned in lab.servers("supervisor") for child in owned.children()]
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    assert "Everything the lab started has ended" in said
    assert not server.is_running()
    lab.assert_nothing_is_left(set())


def test_servers_stay_for_another_user_and_end_with_a_killed_supervisor(lab: OwnLab) -> None:
    first, second = lab.start("-c", USER), lab.start("-c", USER)
    where = {read_until(user, "broker 127") for user in (first, second)}
    assert len(where) == 1, "two users of one lab got two brokers"
    ports, lease = lab.ports(), client.Lease("test")
    first.communicate("\n", timeout=30)
    assert all(map(lab.servers, SERVERS)), "a server ended although it was still used"
    for supervisor in lab.servers("workbook.stack.supervisor"):
        supervisor.kill()
    until(lambda: not any(map(lab.servers, SERVERS)), "the end of the servers", within=10)
    for _ in range(2):
        with pytest.raises(ServerFailed, match="Restart the kernel or the lab"):
            lease.ask("status")
    second.communicate("\n", timeout=30)
    _, cleared = lab.workbook("down")
    assert "Cleared leftovers" in cleared
    lab.assert_nothing_is_left(ports)


def is_ready(client) -> bool:
    """Whether the kernel answers; on a busy machine it may first seem to be dead."""
    try:
        client.wait_for_ready(timeout=10)
    except RuntimeError:
        return False
    return True


def run_cell(client, code: str) -> None:
    """Run a cell and expect it to have counted."""
    said = []

    def hear(message) -> None:
        content = message["content"]
        said.append(content.get("text", "") + "\n".join(content.get("traceback", [])))

    until(lambda: is_ready(client), "a kernel that answers")
    client.execute_interactive(code, timeout=300, output_hook=hear)
    assert "counted 7" in "".join(said), "".join(said)


def test_ctrl_c_anywhere_in_a_request_shifts_no_answer(lab: OwnLab) -> None:
    lease = client.Lease("test", patience=10)

    def ctrl_c_at(step: int) -> None:
        steps = itertools.count()

        def each(frame: FrameType, event: str, _: object) -> Any:
            if frame.f_code is client.Lease.ask.__code__:
                if event == "line" and next(steps) == step:
                    raise KeyboardInterrupt
                return each
            return None

        sys.settrace(each)

    for step in range(100):
        try:
            ctrl_c_at(step)
            assert "servers" in lease.ask("status")
            break
        except KeyboardInterrupt:
            sys.settrace(None)
            assert lease.ask("hello", pid=step, role="test") == {"pid": lease.supervisor}
        finally:
            sys.settrace(None)
    assert step > 8
    lease._socket.sendall(b'{"id": 1, "as')  # a long one may be sent in part
    assert lease.ask("pin", value=False) is True
    lease.close()


def test_two_threads_share_one_lease_and_two_leases_one_folder(
    lab: OwnLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_current", None)
    with ThreadPoolExecutor(4) as at_once:
        first, *others = at_once.map(lambda _: client.lease("test"), range(4))
    assert {*others} == {first}
    second = client.Lease("test")
    folder = Path(first.ask("scratch"))
    assert second.ask("scratch") == str(folder)
    second.close()
    until(lambda: not first.ask("status")["users"], "the end of the second lease")
    assert folder.exists()
    first.close()
    lab.assert_nothing_is_left(set())

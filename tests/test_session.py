"""The one Spark session: what it promises, asked in fresh processes."""

import gc
import logging
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from py4j.java_gateway import GatewayClient
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from workbook.errors import SparkFailed
from workbook.spark import session, settings


def test_a_spark_that_cannot_start_says_what_to_check() -> None:
    code = (
        "from workbook.errors import SparkFailed\n"
        "try:\n    spark_session(quiet=True)\n"
        "except SparkFailed as error:\n    print(error)"
    )
    began = time.monotonic()
    assert "Check SPARK_DRIVER_MEMORY (now lots)" in fresh(code, SPARK_DRIVER_MEMORY="lots")
    assert time.monotonic() - began < 30


def test_a_spark_that_refuses_its_heap_is_heard_above_its_trace(tmp_path: Path) -> None:
    trace = "".join(f"\tat org.apache.spark.Made(Up.scala:{n})\n" for n in range(9))
    (log := tmp_path / "log").write_text(f"ERROR SparkContext: x\nSystem memory 1 must\n{trace}")
    said = str(session._not_started(RuntimeError("py4j"), log))
    assert ("System memory 1 must" in said, "Made(Up" in said) == (True, False)


def test_a_standalone_master_that_is_not_there_is_named_before_java_starts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://127.0.0.1:1")
    monkeypatch.setattr(session, "_start_java", lambda *_: pytest.fail("started"))
    with pytest.raises(SparkFailed, match="No Spark master answers at spark://127"):
        session.start(tmp_path, "any", [])


def fresh(code: str, **env: str) -> str:
    """What a fresh Python prints."""
    command = [sys.executable, "-c", f"from workbook.spark.session import *\n{code}"]
    environment = {**os.environ, **env}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_session_is_on_utc_and_runs_this_python(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    [row] = spark.sql("SELECT date_format(timestamp_seconds(0), 'yyyy-MM-dd HH:mm') AS t").collect()
    assert row.t == "1970-01-01 00:00"
    import_path = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).collect()
    assert import_path == [sys.executable]


def test_who_lacks_its_secret_gets_no_answer_from_it(spark: SparkSession) -> None:
    jvm, port = spark.sparkContext._jvm, spark.conf.get("spark.driver.port")
    conf, manager = jvm.org.apache.spark.SparkConf(False), jvm.org.apache.spark.SecurityManager
    defaults = (getattr(manager, f"$lessinit$greater$default${n}")() for n in (2, 3))
    without = manager(conf, *defaults)
    stranger = jvm.org.apache.spark.rpc.RpcEnv.create("x", "127.0.0.1", 0, conf, without, True)
    driver = jvm.org.apache.spark.rpc.RpcAddress("127.0.0.1", int(port))
    try:
        with pytest.raises(Py4JError, match=r"Connection .* closed|SaslMessage"):
            stranger.setupEndpointRef(driver, "BlockManagerMaster")
    finally:
        stranger.shutdown()
    ensure_callback_server_started(gateway := spark.sparkContext._gateway)
    gateway._callback_server._create_connection(socket.socket(), None)  # of one that has gone
    with socket.create_connection(("127.0.0.1", gateway._python_proxy_port)) as caller:
        caller.sendall(b"c\np0\ntoString\ne\n")
        assert caller.recv(9) == b""  # where a function for each batch would have answered


ENDS = """
import subprocess, threading
import psutil
from pyspark import SparkContext
from pyspark.sql import functions as F
from workbook.spark import session

def processes():
    mine = psutil.Process().children(recursive=True)  # the supervisor is none of Spark's
    living = [p for p in mine if p.status() != psutil.STATUS_ZOMBIE]
    others = {"workbook.stack.supervisor", "sleep"}
    return [p.name() for p in living if not others & {*p.cmdline()}]

def counted(spark):
    plus = F.udf(lambda n: n + 1, "long")  # on Python workers
    return spark.range(7).select(plus("id").alias("n")).agg(F.sum("n")).first()[0]

def interrupted(*args):
    raise KeyboardInterrupt

other = subprocess.Popen(["sleep", "600"])
adopt, session.spare.adopt = session.spare.adopt, interrupted  # once Java runs
try:
    spark_session(quiet=True)
except KeyboardInterrupt:
    print("interrupted", SparkContext._gateway, processes(), other.poll())
session.spare.adopt = adopt

first = spark_session()
print(first.sparkContext.master, first.conf.get("spark.python.unix.domain.socket.enabled"))
first._jvm.org.slf4j.LoggerFactory.getLogger("x").error("loud")
print("loud" in (scratch_dir() / "spark.log").read_text())
print(counted(first), len(processes()) > 2)
waits = threading.Event()

def keep(batch, number):
    waits.set()
    batch.sparkSession._jvm.java.lang.Thread.sleep(10**6)

rows = first.readStream.format("rate").load()
rows.writeStream.foreachBatch(keep).option("checkpointLocation", checkpoint("busy")).start()
assert waits.wait(100)
stop_spark(first)  # although a function for each batch waits for Java
stop_spark(first)
print(processes(), SparkContext._gateway)

second = spark_session(quiet=True)
stop_spark(first)  # it has ended, and must not end the other one
print(counted(second), second is not first)
SparkContext._gateway.proc.kill()
SparkContext._gateway.proc.wait()

third = spark_session(quiet=True)
print(third.range(3).count(), third is not second)
SparkContext._gateway.proc.kill()
SparkContext._gateway.proc.wait()
stop_spark(third)
print(processes(), SparkContext._gateway, other.poll())
other.kill()
"""


def test_spark_starts_again_after_an_interrupted_start_a_stop_and_the_death_of_its_java() -> None:
    """What has ended leaves no process, and nobody else's process ends with it.

    Where the lab's name is too long for a socket, workers are reached through ports.
    """
    said = fresh(ENDS, SPARK_MASTER="local[1]", WORKBOOK_LAB="y" * 60).splitlines()
    assert said[0] == "interrupted None [] None"
    assert "Starting Spark" in said[1]
    assert "is ready after" in said[2]
    assert said[3:] == [
        *("local[1] false", "True", "28 True", "[] None", "28 True", "3 True", "[] None None")
    ]


def test_a_call_to_java_that_ctrl_c_interrupts_prints_no_traceback(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_: str) -> str:
        raise KeyboardInterrupt

    client = GatewayClient()
    connection = SimpleNamespace(send_command=interrupted, socket=None)
    monkeypatch.setattr(client, "_get_connection", lambda: connection)
    session._quiet_logs()
    with pytest.raises(KeyboardInterrupt):
        client.send_command("")
    assert not caplog.records


@pytest.mark.parametrize("kind", ["DataFrame", "SQL"])
def test_the_error_of_a_query_is_not_printed_as_json_above_it(
    spark: SparkSession, kind: str
) -> None:
    printed: list[str] = []
    handler = logging.StreamHandler()
    handler.emit = lambda record: printed.append(record.name)  # type: ignore[method-assign]
    (logger := logging.getLogger(f"{kind}QueryContextLogger")).addHandler(handler)
    with pytest.raises(AnalysisException):
        spark.sql("SELECT idd") if kind == "SQL" else spark.range(3).select("idd")
    logger.removeHandler(handler)
    assert printed == []


@pytest.mark.parametrize(
    ("master", "address"),
    [
        ("local[*]", "127.0.0.1"), ("", "127.0.0.1"), ("local-cluster[2,1,1024]", "127.0.0.1"),
        ("spark://127.0.0.1:7077", None), ("spark://far:7077", None), ("yarn", None),
    ],
)  # fmt: skip
def test_only_a_local_spark_keeps_to_loopback_and_to_this_python(
    monkeypatch: pytest.MonkeyPatch, master: str, address: str | None
) -> None:
    given = {"SPARK_MASTER": master, "PYSPARK_PYTHON": "/opt/python"}
    monkeypatch.setattr(os, "environ", given)
    settings.settle_environment()
    assert os.environ.get("SPARK_LOCAL_IP") == address
    assert os.environ["PYSPARK_PYTHON"] == (sys.executable if address else "/opt/python")
    os.environ["SPARK_LOCAL_IP"] = "192.0.2.7"
    settings.settle_environment()
    assert os.environ["SPARK_LOCAL_IP"] == "192.0.2.7", "the user's own choice holds"


# --- the process from which Python workers are forked -------------------------------------------

SHOW = """
import os
import workbook.spark.worker_daemon
tasks = os.listdir("/proc/self/task")
print(*sorted(open(f"/proc/self/task/{task}/comm").read().strip() for task in tasks), sep=",")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_nothing_runs_in_it_that_a_fork_would_lose() -> None:
    # As Spark starts it: with one thread for whatever computes by OpenMP.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    found = subprocess.run(
        [sys.executable, "-c", SHOW], capture_output=True, text=True, env=environment, check=True
    )
    others = set(found.stdout.strip().split(",")) - {"jemalloc_bg_thd"}
    assert len(others) == 1, others  # Python itself


def test_a_task_leaves_no_hundred_thousand_objects_to_be_looked_through(
    spark: SparkSession,
) -> None:
    counted = spark.sparkContext.parallelize([0], 1).map(lambda _: len(gc.get_objects()))
    assert counted.first() < 30_000  # 98,000 where the imports aren't frozen

"""Builds the SparkSession; nothing else does."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from workbook.errors import SparkFailed
from workbook.kafka import protocol
from workbook.spark import state_store, warm_up
from workbook.stack.client import lease, scratch_dir
from workbook.stack.folders import cache_dir
from workbook.stack.jars import class_path
from workbook.stack.java import PLAIN_LOCALE, find_java
from workbook.stack.ports import LOOPBACK
from workbook.stack.process import end_now, family

ANSWER_S = 5.0
"""Seconds that a Spark master may take to accept a connection."""

END_S = 30.0
"""Seconds that Spark's Java process may take to end by itself."""

LATE_C2 = [
    # The compiler of long-lived servers costs more than it gives in a query's first seconds: it
    # waits four times as long as by default. Measured by benchmarks/share_holders.py.
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
]

HERE = r"local(\[.*\])?|local-cluster\[.*\]|spark://(127(\.\d+){3}|localhost|\[::1\])(:\d+)?"
"""The masters on this machine that no other one can reach."""


def spark_session(name: str = "workbook", *, quiet: bool = False) -> SparkSession:
    """Return the running Spark session, or start one with the Kafka source, UTC and quiet logs.

    ``SPARK_MASTER`` chooses the cluster (default ``local[*]``), ``SPARK_DRIVER_MEMORY`` the
    driver's heap (default ``2g``). Logs are in ``spark.log`` of the process's scratch folder.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    began = time.monotonic()
    if not quiet:
        print("Starting Spark (about five seconds) ...", flush=True)
    archive = class_archive()
    flags = [f"-XX:SharedArchiveFile={archive}"] if archive.exists() else []
    spark = _start(name, flags)
    if not quiet:
        print(f"Spark {spark.version} is ready after {time.monotonic() - began:.1f} s.")
    return spark


def stop_spark(spark: SparkSession, within: float = END_S) -> None:
    """Stop the session, end its Java process and its Python workers, and wait until they are gone.

    ``spark.stop()`` alone leaves a gigabyte of Java behind. A later ``spark_session()`` starts
    anew. Does nothing for a session that ended before the one that runs now.
    """
    if SparkContext._active_spark_context not in (None, spark.sparkContext):
        return
    gateway: Any = SparkContext._gateway
    java = getattr(gateway, "proc", None)
    if java is None:  # ended before, or another program's, as with spark-submit
        spark.sparkContext.stop()
        return
    processes = family(java.pid)
    with suppress(Py4JError, OSError):  # Java may have ended on its own
        spark.stop()
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None  # by these pyspark knows that Java runs
    with suppress(subprocess.TimeoutExpired):
        java.stdin.close()  # its sign to exit
        java.wait(within)
    end_now(processes)


def checkpoint(name: str, *, fresh: bool = True) -> Path:
    """Return a checkpoint folder of this process: a ``fresh`` one, or the query's last again.

    Fresh means another folder: a query that still runs keeps its own.
    """
    folder = scratch_dir() / "checkpoints" / name
    folder.mkdir(parents=True, exist_ok=True)
    made = len(list(folder.iterdir()))
    chosen = folder / str(made + 1 if fresh else max(made, 1))
    chosen.mkdir(exist_ok=True)
    return chosen


def class_archive() -> Path:
    """Return where Java keeps Spark's classes ready to map; ``make_class_archive`` makes it.

    With it a session starts in two thirds of the time. Java checks that it fits, and does without
    if it does not.
    """
    java = find_java()
    made_for = f"{java.command.resolve()} {java.command.stat().st_mtime} {pyspark.__file__}"
    made_by = Path(warm_up.__file__).read_bytes()
    digest = hashlib.sha256(f"{made_for} {pyspark.__version__}".encode() + made_by).hexdigest()[:12]
    return cache_dir() / f"spark-classes-{digest}.jsa"


def make_class_archive() -> Path:
    """Run a small query of each kind and let Java write down the classes it needed (a minute)."""
    archive = class_archive()
    if archive.exists():
        return archive
    unfinished = archive.with_suffix(f".{os.getpid()}")
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    for stale in archive.parent.glob("spark-classes-*.[0-9]*"):
        stale.unlink()
    spark = _start("class archive", [f"-XX:ArchiveClassesAtExit={unfinished}"])
    warm_up.run_all(spark)
    stop_spark(spark, within=120)  # Java writes the archive while it exits
    return unfinished.replace(archive)


def _start(name: str, flags: list[str]) -> SparkSession:
    scratch = scratch_dir()
    builder = SparkSession.builder.appName(name)
    for key, value in _settings(scratch, flags).items():
        builder = builder.config(key, value)
    _settle_environment()
    _quiet_query_contexts()
    _require_master(os.environ.get("SPARK_MASTER", ""))
    log = scratch / "spark.log"
    before = set(psutil.Process().children(recursive=True))
    try:
        with _stderr_to(log):
            _start_java(_settings(scratch, flags))
            spark = builder.getOrCreate()
        _let_the_lab_end(spark)
    except BaseException as error:
        _end_all(set(psutil.Process().children(recursive=True)) - before)
        if isinstance(error, Exception):
            raise _not_started(error, log) from None
        raise
    threading.Thread(target=_start_workers, args=(spark,), daemon=True).start()
    return spark


def _end_all(processes: set[psutil.Process]) -> None:
    """End the Java of an interrupted start: in a session of its own it gets no Ctrl-C."""
    for process in processes:
        with suppress(psutil.Error):
            process.kill()


def _start_java(settings: dict[str, str]) -> None:
    """Start Spark's Java in a session of its own, as PySpark alone would not.

    A service manager sends SIGTERM, and a closed terminal SIGHUP, to the whole process group. Java
    would end at once, and the query could not be stopped any more. It ends with this process all
    the same: by the end of its input, and because the lab's supervisor ends what we own.
    """
    if SparkContext._gateway is None:
        wanted = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        gateway = launch_gateway(wanted, {"start_new_session": True})
        SparkContext._ensure_initialized(gateway=gateway)


def _start_workers(spark: SparkSession) -> None:
    """Start Python workers early, so that the first query need not wait for their imports."""
    with suppress(Exception):  # the session may be on its way out, and nobody has asked for this
        warm_up.start_workers(spark)


def _require_master(master: str) -> None:
    """Ask a standalone master for a connection, since Spark itself would wait for minutes."""
    if not master.startswith("spark://"):
        return
    for named in master.removeprefix("spark://").split(","):
        address = protocol.host_and_port(named)
        if address and protocol.listens(*address, ANSWER_S):
            return
    raise SparkFailed(
        f"No Spark master answers at {master}. Check SPARK_MASTER and that the master runs, or "
        f"unset SPARK_MASTER to use Spark on this machine."
    )


def _not_started(error: Exception, log: Path) -> SparkFailed:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    told = [line for line in lines if "WARN" not in line][-4:] or [str(error)[:300]]
    return SparkFailed(
        "Spark did not start. It said:\n  " + "\n  ".join(told) + "\nCheck SPARK_DRIVER_MEMORY "
        f"(now {os.environ.get('SPARK_DRIVER_MEMORY', '2g')}) and SPARK_MASTER, then run: "
        "python -m workbook doctor"
    )


def _settle_environment() -> None:
    """Set what Spark's processes and this one need, whatever the user's shell says."""
    # Workers must run this very Python, or they miss its packages.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(_paths())  # and this very package
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ.update(PLAIN_LOCALE)
    if runs_here(os.environ.get("SPARK_MASTER") or "local[*]"):
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)  # else a cluster could not reach us
    # The session's zone holds for SQL and pandas only: collect() gives times of the process's zone.
    os.environ["TZ"] = "UTC"
    time.tzset()


def runs_here(master: str) -> bool:
    """Return True if all of Spark runs on this machine, so that loopback is all that it needs."""
    return re.fullmatch(HERE, master) is not None


def _quiet_query_contexts() -> None:
    """Keep pyspark from printing each error of a query as JSON, above the error itself."""
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def _paths() -> list[str]:
    here = str(Path(__file__).parents[1])
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [here, *(path for path in others if path and path != here)]


def _settings(scratch: Path, flags: list[str]) -> dict[str, str]:
    cores = os.cpu_count() or 2
    log4j = Path(__file__).with_name("stack") / "log4j2.properties"
    memory = os.environ.get("SPARK_DRIVER_MEMORY") or "2g"
    java_options = [
        "-XX:+UseParallelGC",
        f"-Xms{memory.lower().removesuffix('b')}",  # a heap that grows collects all the time
        *LATE_C2,
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={scratch}",
        f"-Dlog4j2.configurationFile={log4j.as_uri()}",
        "-Xlog:disable",
        f"-XX:ErrorFile={scratch}/java-error-%p.log",
        *flags,
    ]
    return {
        "spark.master": os.environ.get("SPARK_MASTER") or "local[*]",
        "spark.jars": ",".join(map(str, class_path("spark"))),
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": " ".join(map(_quoted, java_options)),
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(min(cores, 4)),
        state_store.PROVIDER: state_store.IN_MEMORY,
        "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
        # A restart needs the last two micro-batches, and whoever looks into the state of a running
        # query the one that was the last when looking began. By default a hundred are kept.
        "spark.sql.streaming.minBatchesToRetain": "10",
        # Small commits, and what changed in each micro-batch can be read.
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.python.daemon.module": "workbook.spark.worker_daemon",
        # Off, since transformWithState knows it not: another setting means another daemon.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
    }


def _quoted(option: str) -> str:
    """Quote a Java option: Spark splits them at blanks, and a folder's name may hold one."""
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _let_the_lab_end(spark: SparkSession) -> None:
    gateway = spark.sparkContext._gateway
    java = getattr(gateway, "proc", None)
    if java is not None:
        lease().ask("own", pid=java.pid)


@contextmanager
def _stderr_to(log: Path) -> Iterator[None]:
    """Let a child process started meanwhile write its errors to a file, for all its life."""
    kept = os.dup(2)
    file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.dup2(file, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(file)


if __name__ == "__main__":
    make_class_archive()

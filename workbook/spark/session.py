"""Builds the SparkSession; nothing else does."""

import logging
import os
import subprocess
import threading
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import psutil
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from workbook.errors import SparkFailed
from workbook.spark import cluster, spare, warm_up
from workbook.spark.settings import settings, settle_environment
from workbook.stack.client import lease, scratch_dir
from workbook.stack.ports import require_master
from workbook.stack.process import end_now, family

BRIEF = ["-XX:TieredStopAtLevel=1"]
"""Java's first compiler only: the second one's work would not pay within minutes."""

END_S = 30.0
"""Seconds that Spark's Java process may take to end by itself."""

LAUNCHERS = ("spark-submit", "spark-class", "org.apache.spark.deploy.SparkSubmit")
"""What a notebook's own Spark runs as, on its way to Java."""

_starting = threading.Lock()
"""Held while a session starts: a chapter starts one in the background."""


def spark_session(
    name: str = "workbook", *, quiet: bool = False, brief: bool = False
) -> SparkSession:
    """Return the running Spark session, or start one with the Kafka source, UTC and quiet logs.

    ``SPARK_MASTER`` chooses the cluster (default ``local[*]``), ``PYSPARK_PYTHON`` its workers'
    Python, ``SPARK_DRIVER_MEMORY`` the driver's heap (default ``2g``). A ``brief`` one, for minutes
    and few records, is never compiled for speed in the long run, and so starts queries sooner.
    Logs are in ``spark.log`` of the process's scratch folder.
    """
    if not quiet and _starting.locked():
        print("Spark is starting (about five seconds) ...", flush=True)
    with _starting:
        return _running() or _start_first(name, quiet, BRIEF if brief else [])


def running_session() -> SparkSession | None:
    """Return the session that runs, or is starting just now; None where there is none."""
    with _starting:
        return _running()


def _running() -> SparkSession | None:
    """Return the session that runs, and make it this thread's own."""
    session: Any = SparkSession._instantiatedSession
    java = getattr(SparkContext._gateway, "proc", None)
    if java is not None and java.poll() is not None:  # it has died: out of memory, say
        _forget()
        return None
    if session is None or session.sparkContext._jsc is None:
        return None
    if SparkSession.getActiveSession() is None:
        session._jvm.SparkSession.setActiveSession(session._jsparkSession)
    return SparkSession.getActiveSession()


def _start_first(name: str, quiet: bool, flags: list[str]) -> SparkSession:
    began = time.monotonic()
    settle_environment()
    _quiet_logs()

    @cache
    def say() -> None:
        if not quiet:
            print("Starting Spark (about five seconds) ...", flush=True)

    spark = spare.take(say) if cluster.is_local() else None
    if spark is None:
        say()
        spark = start(scratch_dir(), name, flags)
        try:
            _let_the_lab_end(spark)
        except BaseException:
            _end_java()
            raise
    if not quiet:
        print(f"Spark {spark.version} is ready after {time.monotonic() - began:.1f} s.")
    return spark


def stop_spark(spark: SparkSession, within: float = END_S) -> None:
    """Stop the session, end its Java process and its Python workers, and wait until they are gone.

    ``spark.stop()`` alone leaves a gigabyte of Java behind. A later ``spark_session()`` starts
    again. Does nothing for a session that ended before the one that runs now.
    """
    if SparkContext._active_spark_context not in (None, spark.sparkContext):
        return
    gateway: Any = SparkContext._gateway
    java = getattr(gateway, "proc", None)
    if isinstance(java, spare.Java):
        spare.give_back(spark)
        _forget()
        return
    if java is None:  # ended before, or another program's, as with spark-submit
        spark.sparkContext.stop()
        return
    processes = family(java.pid)
    with suppress(Py4JError, OSError):  # Java may have ended on its own
        spark.stop()
    with suppress(subprocess.TimeoutExpired):
        java.stdin.close()  # its sign to exit
        java.wait(within)
    end_now(processes)
    gateway.shutdown()  # not before: a `foreachBatch` may wait for Java, and this would for it
    _forget()


def checkpoint(name: str) -> Path:
    """Return a new checkpoint folder of this process; a query that still runs keeps its own."""
    own = scratch_dir() if cluster.is_local() else cluster.own_folder()
    folder = own / "checkpoints" / name
    folder.mkdir(parents=True, exist_ok=True)
    chosen = folder / str(len(list(folder.iterdir())) + 1)
    chosen.mkdir()
    return chosen


def start(scratch: Path, name: str, flags: list[str], apart: bool = True) -> SparkSession:
    """Start a Spark whose temporary files are in ``scratch``; raise ``SparkFailed`` if it fails.

    Java is in a session ``apart`` from this process's, see ``_start_java``.
    """
    wanted = settings(scratch, flags)
    builder = SparkSession.builder.appName(name).config(map={**wanted})
    if cluster.master().startswith("spark://"):
        require_master(cluster.master())
    log = scratch / "spark.log"
    try:
        _start_java(wanted, log, apart)
        spark = builder.getOrCreate()
    except BaseException as error:
        _end_java()
        if isinstance(error, Exception):
            raise _not_started(error, log) from None
        raise
    if cluster.is_local():
        threading.Thread(target=_start_workers, args=(spark,), daemon=True).start()
        return spark
    try:
        warm_up.require_executors(spark)
    except BaseException:
        stop_spark(spark)
        raise
    return spark


def _end_java() -> None:
    """End the Java of an interrupted start: in a session of its own it gets no Ctrl-C."""
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any(name in " ".join(child.cmdline()) for name in LAUNCHERS):
                end_now(family(child.pid))
    _forget()


def _forget() -> None:
    """Let PySpark know that its Java is gone, so that the next session starts another."""
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = None


def _start_java(settings: dict[str, str], log: Path, apart: bool) -> None:
    """Start Spark's Java in a session of its own, as PySpark alone would not.

    A service manager sends SIGTERM, and a closed terminal SIGHUP, to the whole process group. Java
    would end at once, and the query could not be stopped any more. It ends with this process all
    the same: by the end of its input, and because the lab's supervisor ends what we own.
    """
    if SparkContext._gateway is None:
        wanted = SparkConf(loadDefaults=False).setAll(list(settings.items()))
        with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "w") as errors:
            gateway = launch_gateway(wanted, {"start_new_session": apart, "stderr": errors})
        spare.adopt(gateway)


def _start_workers(spark: SparkSession) -> None:
    """Start Python workers early, so that the first query need not wait for their imports."""
    with suppress(Exception):  # the session may be on its way out, and nobody has asked for this
        warm_up.start_workers(spark)


def _not_started(error: Exception, log: Path) -> SparkFailed:
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    telling = [line for line in lines if "WARN" not in line and not line.startswith("\tat ")]
    printed = telling[-4:] or [str(error)[:300]]
    return SparkFailed(
        "Spark did not start. It printed:\n  " + "\n  ".join(printed) + "\n"
        f"Check SPARK_DRIVER_MEMORY (now {os.environ.get('SPARK_DRIVER_MEMORY', '2g')}) and "
        "SPARK_MASTER, then run: python -m workbook doctor"
    )


def _quiet_logs() -> None:
    """Keep PySpark from printing a query's error as JSON, too, and Py4J from printing Ctrl-C's."""
    logging.getLogger().addFilter(_is_no_interrupt)
    logging.getLogger("py4j.clientserver").setLevel(logging.CRITICAL)  # foreachBatch raises it, too
    for name in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL)


def _is_no_interrupt(record: logging.LogRecord) -> bool:
    return not (record.exc_info and record.exc_info[0] is KeyboardInterrupt)


def _let_the_lab_end(spark: SparkSession) -> None:
    java = getattr(spark.sparkContext._gateway, "proc", None)
    if java is not None:
        lease().ask("own", pid=java.pid)

"""A Spark that is warm before anybody asks for it: the lab keeps one and hands it over alive.

    python -m workbook.spark.spare FOLDER

starts one, lets it answer a query of each kind, and writes into the folder how to reach it. Then
the process becomes a ``sleep`` that holds Java's standard input: Java ends with it, and it ends
with the lab. Whoever takes the Spark gets a session of its own in it. A Spark whose user ends
without giving it back is killed.
"""

import hashlib
import json
import os
import re
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from py4j.clientserver import ClientServer, JavaParameters, PythonParameters, PythonServer
from py4j.java_gateway import JavaObject, quiet_shutdown
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from workbook.errors import ServerFailed
from workbook.spark import warm_up
from workbook.spark.settings import settings, settle_environment
from workbook.stack.client import lease, scratch_dir
from workbook.stack.doctor import heap_bytes
from workbook.stack.folders import TAKEN_FROM, write_whole
from workbook.stack.java import find_java
from workbook.stack.process import has_port
from workbook.stack.spares import FIT, OFFER

LONGEST_S = 120.0
"""Seconds to wait for a Spark that starts."""

YOUNG = "192m"
"""What Java has for young objects: it touches all of it, and while it waits, nobody else has it."""

STOP_S = 5.0
"""Seconds in which a query must stop, or its Spark isn't given to anybody else."""

ALIKE = ("SPARK_", "PYSPARK_", "JAVA_", "_JAVA_", "JDK_", "HADOOP_", "PYTHONPATH", "PYTHONHASHSEED")
MAY_DIFFER = ("SPARK_DRIVER_MEMORY", "SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE")
"""Variables that must be alike, by how they begin; and those among them that may differ."""


class Java(psutil.Process):
    """The Java of a Spark that was taken, as PySpark's gateway knows its own."""

    def poll(self) -> int | None:
        """Return None while it runs."""
        return None if self.is_running() and self.status() != psutil.STATUS_ZOMBIE else 0


class _Context(SparkContext):
    """Finds files from this process's folder: Java was started in another one."""

    def addFile(self, path: str, recursive: bool = False) -> None:  # noqa: N802
        super().addFile(_from_here(path), recursive)

    def addArchive(self, path: str) -> None:  # noqa: N802
        super().addArchive(_from_here(path))


def _from_here(path: str) -> str:
    return path if urlsplit(path).scheme else os.path.abspath(path)


def take(say: Callable[[], None]) -> SparkSession | None:
    """Take the lab's warm Spark; None if it has none like the one that would start here.

    Waits for one that is warming up, and calls ``say`` meanwhile. Call
    ``settle_environment`` first.
    """
    alike = _fit()
    if alike is None or SparkContext._gateway is not None:  # a Java of one's own goes on
        return None
    deadline, found = time.monotonic() + LONGEST_S, "wait"
    while found == "wait" and time.monotonic() < deadline:
        found = lease().ask("take a spare", **alike)
        if found == "wait":
            say()
            time.sleep(0.1)
    if not isinstance(found, dict):
        return None
    try:
        return _session(found)
    except BaseException as error:  # its Java has just died, or Ctrl-C
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
        SparkSession._instantiatedSession = None
        lease().ask("put back", clean=False)
        if isinstance(error, (Py4JError, OSError, psutil.Error)):
            return None
        raise


def _session(found: dict[str, Any]) -> SparkSession:
    """Return a session of one's own in a Spark that runs."""
    gateway = ClientServer(
        java_parameters=JavaParameters(
            port=found["port"], auth_token=found["secret"], auto_convert=True
        ),
        python_parameters=PythonParameters(port=0, eager_load=False),
    )
    gateway.proc = Java(found["java"])
    # Java tells us what it has collected of its last user's functions: ours need other numbers.
    gateway.gateway_property.pool.next_id = time.monotonic_ns()
    adopt(gateway)
    jvm: Any = gateway.jvm
    first = jvm.org.apache.spark.sql.classic.SparkSession.getDefaultSession().get()
    context = jvm.JavaSparkContext.fromSparkContext(first.sparkContext())
    folder = Path(found["folder"])
    (folder / "cwd.new").symlink_to(os.getcwd())
    os.replace(folder / "cwd.new", folder / "cwd")
    files = jvm.org.apache.hadoop.fs.FileSystem.getLocal(context.hadoopConfiguration())
    files.setWorkingDirectory(jvm.org.apache.hadoop.fs.Path(os.getcwd()))
    with suppress(FileExistsError):
        (scratch_dir() / "spark.log").symlink_to(folder / "spark.log")
    spark = SparkSession(_Context(gateway=gateway, jsc=context), first.newSession())
    gateway.listeners = context.sc().listenerBus().listeners().size()
    gateway.traces = traces(spark)
    return spark


def was_taken(spark: SparkSession) -> bool:
    """Return True for a Spark that another process has started."""
    gateway: Any = spark.sparkContext._gateway
    return isinstance(gateway.proc, Java)


def give_back(spark: SparkSession) -> None:
    """Leave a Spark that was taken: the next process gets it if this one has left nothing in it."""
    context: Any = spark.sparkContext
    gateway, clean = context._gateway, False
    with suppress(Py4JError, OSError, AttributeError):  # it was stopped, or has died
        _stop_queries(spark)
        spark.catalog.clearCache()
        _remove_listeners(context, gateway.listeners)
        if traces(spark) == gateway.traces:
            _leave_to_the_next(gateway)
            _forget_objects(gateway)
            clean = True
    if context._jsc is not None:
        context._accumulatorServer.shutdown()
        context._jsc = None
    gateway.shutdown_callback_server()
    gateway._gateway_client.close()
    with suppress(ServerFailed):  # the lab has ended, and the Spark with it
        lease().ask("put back", clean=clean)


def _stop_queries(spark: SparkSession) -> None:
    """Stop what still runs; one whose function for each micro-batch waits for Java runs on."""

    def stop(query: Any) -> None:
        with suppress(Exception):
            query.stop()

    for query in spark.streams.active:
        stopping = threading.Thread(target=stop, args=(query,), daemon=True)
        stopping.start()
        stopping.join(STOP_S)


def _remove_listeners(context: Any, ours: int) -> None:
    """Remove the listeners that came with our session and its queries, behind the first ones."""
    bus = context._jsc.sc().listenerBus()
    for listener in list(bus.listeners())[ours:]:
        bus.removeListener(listener)


def traces(spark: SparkSession) -> list[str]:
    """Return what a process may leave in a Spark beside its own session, to compare."""
    jvm: Any = spark._jvm
    shared, context = spark._jsparkSession.sharedState(), spark._jsparkSession.sparkContext()
    catalog = shared.externalCatalog()
    found = [
        shared.activeStreamingQueries().size(),
        catalog.listDatabases().mkString(" "),
        catalog.listTables("default").mkString(" "),
        catalog.listFunctions("default", "*").mkString(" "),
        shared.globalTempViewManager().listViewNames("*").mkString(" "),
        shared.cacheManager().isEmpty(),
        context.getPersistentRDDs().size(),
        context.listFiles().mkString(" "),
        context.listArchives().mkString(" "),
        context.listJars().mkString(" "),
        context.getCheckpointDir().toString(),
        context.conf().toDebugString(),
        context.hadoopConfiguration().getValByRegex("^").toString(),
        jvm.java.lang.System.getProperties().toString(),
        jvm.org.apache.logging.log4j.LogManager.getRootLogger().getLevel().toString(),
    ]
    return [str(one) for one in found]


def _forget_objects(gateway: Any) -> None:
    """Let Java forget what this process holds of it, until Python would have collected it."""
    held = JavaObject("GATEWAY_SERVER", gateway._gateway_client).getGateway().getBindings()
    for name in set(re.findall(r"\bo[0-9]+\b", held.keySet().toString())) - {held._target_id}:
        held.remove(name)


def _leave_to_the_next(gateway: Any) -> None:
    """Collect garbage, and end the Python workers: they know our folder and our modules."""
    gateway.jvm.System.gc()
    for daemon in psutil.Process(gateway.proc.pid).children():
        with suppress(psutil.Error):  # one of a query ends meanwhile
            for worker in daemon.children():
                worker.kill()


def adopt(gateway: ClientServer) -> None:
    """Make a gateway PySpark's own; it listens to its Java alone."""
    gateway._create_callback_server = lambda _: _CallsOfItsJava(gateway)
    SparkContext._ensure_initialized(gateway=gateway)


class _CallsOfItsJava(PythonServer):
    """Listens to its own Java alone: Py4J asks for no secret where Java calls Python.

    Else another user of the machine could hand a micro-batch to ``foreachBatch``.
    """

    def __init__(self, gateway: ClientServer) -> None:
        how = (gateway.java_parameters, gateway.python_parameters, gateway.gateway_property)
        super().__init__(gateway._gateway_client, *how)
        self.java = gateway.proc.pid

    def _create_connection(self, caller: socket.socket, stream: Any) -> Any:
        with suppress(OSError):  # the caller is gone already
            if not has_port(self.java, caller.getpeername()[1]):
                caller.shutdown(socket.SHUT_RDWR)
        return super()._create_connection(caller, stream)

    def shutdown(self) -> None:
        """End the calls, too: to close one alone would wait for Java's next."""
        for call in list(self.connections):
            quiet_shutdown(call.socket)
        super().shutdown()


# --- the keeper -----------------------------------------------------------------------------------


def _fit() -> dict[str, Any] | None:
    """Return what must be alike in the keeper and in who takes its Spark, and the heap's bytes.

    Returns None for a heap that Java can't have.
    """
    alike = settings(Path("/spare"), [])
    memory = alike.pop("spark.driver.memory")
    java = alike.pop("spark.driver.extraJavaOptions").split()
    options = [option for option in java if not option.startswith('"-Xms')]
    shell = {k: v for k, v in os.environ.items() if k.startswith(ALIKE) and k not in MAY_DIFFER}
    print_of = json.dumps([alike, options, str(find_java().command), shell], sort_keys=True)
    size = heap_bytes(memory)
    return {"fit": hashlib.sha256(print_of.encode()).hexdigest(), "memory": size} if size else None


def keep(folder: Path) -> None:
    """Start a Spark, warm it up, say how to reach it, and become a ``sleep``."""
    from workbook.spark import session

    settle_environment()
    fit = json.dumps(_fit())
    link = str(folder / "cwd")
    os.environ[TAKEN_FROM] = link
    os.environ["PYTHONPATH"] += os.pathsep + link
    spark = session.start(folder, "warm", [f"-Xmn{YOUNG}"], apart=False)
    write_whole(folder / FIT, fit)  # from now on it's quicker to wait for it than to start one
    tempfile.tempdir = str(folder)
    with suppress(Exception):  # on a machine that is too busy it's less warm, and as good
        warm_up.run_all(spark.newSession())
    gateway: Any = spark.sparkContext._gateway
    _leave_to_the_next(gateway)
    own, java = gateway.gateway_parameters, gateway.proc
    offer = {"port": own.port, "secret": own.auth_token, "java": java.pid, "folder": str(folder)}
    write_whole(folder / OFFER, json.dumps(offer))
    os.set_inheritable(java.stdin.fileno(), True)
    os.execvp("sleep", ["sleep", str(2**31 - 1)])


if __name__ == "__main__":
    keep(Path(sys.argv[1]))

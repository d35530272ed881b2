"""How Spark is set up here: the processes' environment, and the session's settings."""

import os
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from workbook.spark import cluster
from workbook.stack.folders import LONGEST_SOCKET
from workbook.stack.jars import class_path
from workbook.stack.java import PLAIN_LOCALE, fetched_home, find_java
from workbook.stack.ports import LOOPBACK
from workbook.streams.events.ad_actions import MAX_ACTION_BYTES

LATE_C2 = [
    # The compiler of long-lived servers costs more than it gives in a query's first seconds: it
    # waits four times as long as by default. Measured by benchmarks/compare.py.
    "-XX:Tier4InvocationThreshold=20000",
    "-XX:Tier4MinInvocationThreshold=2400",
    "-XX:Tier4CompileThreshold=60000",
    "-XX:Tier4BackEdgeThreshold=160000",
]
AVRO_LIMITS = [
    # Avro allocates the length that a value declares, before it looks for the bytes.
    f"-Dorg.apache.avro.limits.{of}.maxLength={MAX_ACTION_BYTES}"
    for of in ("string", "bytes", "collectionItems")
]
ROOT = Path(__file__).parents[2]

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
IN_MEMORY = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


@contextmanager
def in_rocksdb(spark: SparkSession) -> Iterator[None]:
    """Let queries started in the block keep their state in RocksDB; else it is in memory."""
    before = spark.conf.get(PROVIDER)
    spark.conf.set(PROVIDER, ROCKSDB)
    try:
        yield
    finally:
        spark.conf.set(PROVIDER, before or "")


def settle_environment() -> None:
    """Set what Spark's processes and this one need, whatever the user's shell says."""
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(_paths())
    if find_java().fetched:
        os.environ["JAVA_HOME"] = str(fetched_home())
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    os.environ.update(PLAIN_LOCALE)
    if cluster.is_local():  # a cluster has a Python of its own, and must be able to reach us
        os.environ["PYSPARK_PYTHON"] = sys.executable  # another one would miss its packages
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    # The session's zone holds for SQL and pandas only: collect() gives times of the process's zone.
    os.environ["TZ"] = "UTC"
    time.tzset()


def settings(scratch: Path, flags: list[str]) -> dict[str, str]:
    """Return the session's settings; ``flags`` are more options for the driver's Java."""
    cores = os.cpu_count() or 2
    log4j = ROOT / "workbook" / "stack" / "log4j2.properties"
    memory = os.environ.get("SPARK_DRIVER_MEMORY") or "2g"
    java_options = [
        "-XX:+UseParallelGC",
        f"-Xms{memory.lower().removesuffix('b')}",  # a heap that grows collects all the time
        *LATE_C2,
        *AVRO_LIMITS,
        "-XX:-UsePerfData",
        f"-Djava.io.tmpdir={scratch}",
        f"-Dlog4j2.configurationFile={log4j.as_uri()}",
        "-Xlog:disable",
        f"-XX:ErrorFile={scratch}/java-error-%p.log",
        *flags,
    ]
    return {
        "spark.master": cluster.master(),
        "spark.jars": ",".join(map(str, class_path("spark"))),
        "spark.driver.memory": memory,
        "spark.driver.extraJavaOptions": " ".join(map(_quoted, java_options)),
        "spark.executor.extraJavaOptions": " ".join(AVRO_LIMITS),
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.ui.enabled": "false",
        # By default Java keeps a thousand of each for Spark's web pages, which are off.
        "spark.sql.ui.retainedExecutions": "20",
        "spark.ui.retainedJobs": "20",
        "spark.ui.retainedStages": "50",
        "spark.ui.showConsoleProgress": "false",
        # Spark's own, and a private key: it is an option of Kafka's source.
        "spark.redaction.regex": "(?i)secret|password|passphrase|token|access[.]?key|private key",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": str(min(cores, 4)),
        PROVIDER: IN_MEMORY,
        "spark.sql.streaming.forceDeleteTempCheckpointLocation": "true",
        # A query without new records asks Kafka for them ten times a second, not a hundred times.
        "spark.sql.streaming.pollingDelay": "100ms",
        # A restart needs the last two micro-batches, and whoever looks into the state of a running
        # query the one that was the last when looking began. By default a hundred are kept.
        "spark.sql.streaming.minBatchesToRetain": "10",
        # Small commits, and what changed in each micro-batch can be read.
        "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.python.daemon.module": "workbook.spark.worker_daemon",
        # Off, since transformWithState knows it not: another setting means another daemon.
        "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
        **(_on_this_machine(scratch) if cluster.is_local() else cluster.settings(scratch)),
    }


def _on_this_machine(scratch: Path) -> dict[str, str]:
    """Return what saves time where Java and its Python workers share a machine.

    They talk through files instead of ports, since a micro-batch with two stateful operators asks
    for its state in a few dozen small messages; where a socket's path would be too long, ports it
    is. And Java writes a checkpoint's files by itself: Hadoop starts a ``chmod`` for each of them,
    some twenty in such a micro-batch, a third of its time.
    """
    jars = os.pathsep.join(map(str, class_path("local-files")))
    alone = not cluster.master().startswith("local-cluster")  # where Spark makes itself no secret
    fits = len(os.fsencode(scratch / f".{uuid.UUID(int=0)}.sock")) <= LONGEST_SOCKET
    return {
        # Else whoever reaches its port may end a run, another user of this machine, too.
        "spark.authenticate": str(alone).lower(),
        "spark.python.unix.domain.socket.enabled": str(fits).lower(),
        "spark.python.unix.domain.socket.dir": str(scratch),
        "spark.driver.extraClassPath": jars,
        "spark.executor.extraClassPath": jars,  # of local-cluster
        "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing"
            ".FileSystemBasedCheckpointFileManager"
        ),
    }


def _quoted(option: str) -> str:
    """Quote a Java option: Spark splits them at blanks, and a folder's name may hold one."""
    return '"' + option.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _paths() -> list[str]:
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [str(ROOT), *(path for path in others if path and path != str(ROOT))]

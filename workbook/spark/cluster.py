"""Spark on a cluster: what its executors get from here, and what they must be able to reach."""

from __future__ import annotations

import atexit
import os
import re
import secrets
import shutil
import time
import zipfile
from functools import cache
from pathlib import Path
from typing import cast

from pyspark.sql import SparkSession

from workbook.errors import CannotGoOn, SparkFailed
from workbook.spark import warm_up

BUCKETS = 8
"""Tables have their state in so many parts, so that more tasks would have nothing to do."""

EXECUTORS_S = 60.0
"""Seconds in which the first executor must have started."""


def master() -> str:
    """Return the master that ``SPARK_MASTER`` names, by default this machine's cores."""
    return os.environ.get("SPARK_MASTER") or "local[*]"


def is_local() -> bool:
    """Return True if all of Spark runs on this machine, as this user."""
    return master().startswith("local")  # local-cluster, too


def shared_folder() -> Path | None:
    """Return the folder that ``WORKBOOK_SHARED`` names, None where it isn't set.

    It is mounted on this machine and on all of the cluster, at the same path, and both this user
    and that of the executors may write into it.
    """
    named = os.environ.get("WORKBOOK_SHARED")
    return _absolute(Path(named)) if named else None


def _absolute(folder: Path) -> Path:
    """Return it without ``..``, and with its links, which may differ elsewhere."""
    return Path(os.path.abspath(folder))


def require_reachable(checkpoint: Path | None) -> None:
    """Refuse a checkpoint that the executors can't reach; None stands for a fresh one.

    State is written by the executors, offsets by the driver: one folder for all. Raises
    ``CannotGoOn``.
    """
    shared = shared_folder()
    if is_local() or (shared and _absolute(checkpoint or shared).is_relative_to(shared)):
        return
    came = f"{checkpoint} isn't below it" if shared and checkpoint else "it isn't set"
    raise CannotGoOn(
        f"Expected a checkpoint that the executors of {master()} reach too, below WORKBOOK_SHARED, "
        f"but {came}. Set WORKBOOK_SHARED to a folder that is mounted at the same path on this "
        "machine and on each worker, and name a --checkpoint in there."
    )


@cache
def own_folder() -> Path:
    """Return this process's folder in the shared one, removed with it; it isn't made yet."""
    require_reachable(None)
    folder = cast(Path, shared_folder()) / f"workbook-{secrets.token_hex(4)}"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def settings(scratch: Path) -> dict[str, str]:
    """Return what ships this package to the executors, and no path of this machine with it.

    Spark copies the archive into the folder in which an executor works. ``PYTHONPATH`` is for the
    worker daemon, which starts before Spark itself would put the archive on a worker's path.
    """
    archive = _archived(scratch)
    return {
        "spark.submit.pyFiles": str(archive),
        "spark.executorEnv.PYTHONPATH": archive.name,
        "spark.executorEnv.TZ": "UTC",
        # Hadoop's file systems have a umask of their own, by default one that shares nothing.
        "spark.hadoop.fs.permissions.umask-mode": f"{_umask():03o}",
        # Two attempts at a task side by side would write a table's rows twice, and out of order.
        "spark.speculation": "false",
    }


def _umask() -> int:
    mask = os.umask(0o077)  # to ask for it is to set it
    os.umask(mask)
    return mask


def _archived(scratch: Path) -> Path:
    """Write this package into an archive from which Python imports."""
    package, archive = Path(__file__).parents[1], scratch / "workbook.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
        for module in sorted(package.rglob("*.py")):
            written.write(module, module.relative_to(package.parent))
    return archive


def require_executors(spark: SparkSession, within: float = EXECUTORS_S) -> None:
    """Wait for an executor and run Python on it: else the first query would wait, or fail.

    Queries get as many tasks as the cluster has cores now, within limits. Raises ``SparkFailed``.
    """
    status = spark.sparkContext._jsc.sc().statusTracker()
    deadline = time.monotonic() + within
    while len(status.getExecutorInfos()) < 2:  # the driver is among them
        if time.monotonic() > deadline:
            raise SparkFailed(
                f"Expected {master()} to start an executor within {within:.0f} s, but none came. "
                "Check on the master's web page that workers are alive and have cores and memory "
                "free, and that they can connect to this machine (SPARK_LOCAL_IP)."
            )
        time.sleep(0.1)
    try:
        warm_up.start_workers(spark)
    except Exception as error:
        python = os.environ.get("PYSPARK_PYTHON", "python3")
        raise SparkFailed(
            f"Expected the workers' Python, {python}, to run Spark's tasks, but it failed: "
            f"{_cause(str(error))}. Install the packages of requirements.lock on each worker, and "
            "set PYSPARK_PYTHON to the Python there that has them, in this version."
        ) from None
    cores = min(spark.sparkContext.defaultParallelism, BUCKETS)
    spark.conf.set("spark.sql.shuffle.partitions", cores)


_ERROR = re.compile(r"\w(Error|Exception): \S")


def _cause(text: str) -> str:
    """Return the line of an error that says what went wrong: Python's, or Java's innermost."""
    lines = [line.strip() for line in text.splitlines() if _ERROR.search(line)]
    causes = [line for line in lines if line.startswith("Caused by: ")]
    return (causes or lines or [text])[-1].removeprefix("Caused by: ")[:300]

"""Spark on a cluster: what its executors get from here, and what they must be able to reach."""

import atexit
import os
import secrets
import shutil
import zipfile
from functools import cache
from pathlib import Path
from typing import cast

from workbook.errors import CannotGoOn
from workbook.stack.doctor import require_known


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


def require_reachable(checkpoint: Path | None, what: str = "checkpoint") -> None:
    """Refuse a checkpoint or folder that the executors can't reach; None: a fresh checkpoint.

    State is written by the executors, offsets by the driver: one folder for all. Raises
    ``CannotGoOn``; ``SparkFailed`` if there is no such cluster.
    """
    shared = shared_folder()
    if is_local() or (shared and _absolute(checkpoint or shared).is_relative_to(shared)):
        return
    require_known(master())
    came = f"{checkpoint} isn't below it" if shared and checkpoint else "it isn't set"
    raise CannotGoOn(
        f"Expected a {what} that the executors of {master()} reach too, below WORKBOOK_SHARED, "
        f"but {came}. Set WORKBOOK_SHARED to a folder that is mounted at the same path on this "
        f"machine and on each worker, and name a --{what} in there."
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

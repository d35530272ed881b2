"""The process from which Spark forks its Python workers."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from pyspark.sql import SparkSession

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
    import gc

    counted = spark.sparkContext.parallelize([0], 1).map(lambda _: len(gc.get_objects()))
    assert counted.first() < 30_000  # 98,000 where the imports aren't frozen

"""Forks Spark's Python workers from a process that has made the slow imports.

Without it each worker, and a query has up to ten, imports them for itself, one to two seconds each.
Named by ``spark.python.daemon.module``. What is imported here may be forked: it opens no connection
and starts no thread but one of jemalloc's, which starts again in a fork. So Polars is not among
them: it has a thread of its own from the beginning.

Each worker collects garbage after each task. What was imported is frozen, or every task would cost
40 ms more of CPU, to look through a hundred thousand objects that stay.
"""

import gc
import os
import sys
from contextlib import suppress
from typing import Any

import confluent_kafka
import msgspec
import pandas
import pyarrow.compute
import pyspark.sql.pandas.serializers
import pyspark.sql.streaming.proto.StateMessage_pb2
import pyspark.sql.streaming.stateful_processor_api_client
import pyspark.worker
from pyspark.daemon import manager

from workbook.stack.folders import TAKEN_FROM

__all__ = ["confluent_kafka", "msgspec", "pandas", "pyarrow", "pyspark"]


def work(*streams: Any) -> None:
    """Work as PySpark's worker does, in the folder of the process that works with Spark now."""
    known = len(sys.modules)
    with suppress(OSError, KeyError):  # nobody takes it, or has yet, or that folder is gone
        os.chdir(os.environ[TAKEN_FROM])
        # Another folder than when somebody last looked there. To forget all takes longer than work.
        sys.path_importer_cache.pop(os.environ[TAKEN_FROM], None)
    working(*streams)
    if len(sys.modules) > known:
        gc.collect()
        gc.freeze()


working = pyspark.worker.main

if __name__ == "__main__":
    os.environ.setdefault("POLARS_MAX_THREADS", "1")  # each core has a task
    pyspark.worker.main = work
    gc.freeze()
    manager()

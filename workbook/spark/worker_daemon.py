"""Forks Spark's Python workers from a process that has made the slow imports.

Without it each worker, and a query has up to ten, imports them for itself, one to two seconds each.
Named by ``spark.python.daemon.module``. What is imported here may be forked: it opens no connection
and starts no thread but one of jemalloc's, which starts again in a fork. So Polars is not among
them: it has a thread of its own from the beginning.

Each worker collects garbage after each task. What was imported here is frozen, or every task would
cost 40 ms more of CPU, to look through a hundred thousand objects that stay.
"""

import gc

import confluent_kafka
import msgspec
import pandas
import pyarrow.compute
import pyspark.sql.pandas.serializers
import pyspark.sql.streaming.proto.StateMessage_pb2
import pyspark.sql.streaming.stateful_processor_api_client
import pyspark.worker
from pyspark.daemon import manager

__all__ = ["confluent_kafka", "msgspec", "pandas", "pyarrow", "pyspark"]

if __name__ == "__main__":
    gc.freeze()
    manager()

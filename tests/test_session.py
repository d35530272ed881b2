"""The one Spark session: what it promises, asked in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from workbook import session
from workbook.stack.home import cache_dir

FAILURES = {
    "heap": ({"SPARK_DRIVER_MEMORY": "lots"}, "Check SPARK_DRIVER_MEMORY (now lots)"),
    "master": ({"SPARK_MASTER": "spark://127.0.0.1:1"}, "No Spark master answers at spark://127"),
}


@pytest.mark.parametrize(("env", "said"), FAILURES.values(), ids=FAILURES)
def test_a_spark_that_cannot_start_says_what_to_check(env: dict[str, str], said: str) -> None:
    code = (
        "from workbook.errors import SparkFailed\n"
        "try:\n    spark_session(quiet=True)\n"
        "except SparkFailed as error:\n    print(error)"
    )
    began = time.monotonic()
    assert said in fresh(code, **env)
    assert time.monotonic() - began < 30


def fresh(code: str, **env: str) -> str:
    """What a fresh Python prints."""
    done = subprocess.run(
        [sys.executable, "-c", f"from workbook.session import *\n{code}"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_session_is_on_utc_and_runs_this_python(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    [row] = spark.sql("SELECT date_format(timestamp_seconds(0), 'yyyy-MM-dd HH:mm') AS t").collect()
    assert row.t == "1970-01-01 00:00"
    import_path = spark.sparkContext.parallelize([0], 1).map(lambda _: sys.executable).collect()
    assert import_path == [sys.executable]


def test_asked_twice_it_is_the_same(spark: SparkSession) -> None:
    assert session.spark_session() is spark


def test_the_state_store_is_chosen_per_query(spark: SparkSession) -> None:
    for store, provider in session.STATE_STORES.items():
        session.choose_state_store(spark, store)
        query = (
            spark.readStream.format("rate").load().groupBy("value").count()
            .writeStream.outputMode("update").format("noop").start()
        )  # fmt: skip
        query.processAllAvailable()
        query.stop()
        custom = query.lastProgress.stateOperators[0].customMetrics
        assert ("rocksdbCommitCheckpointLatency" in str(custom)) == (store == "rocksdb"), provider
    session.choose_state_store(spark, "memory")


def test_it_says_how_long_it_takes_and_honours_the_master() -> None:
    said = fresh("print(spark_session().sparkContext.master)", SPARK_MASTER="local[1]")
    assert "Starting Spark" in said
    assert "is ready after" in said
    assert said.splitlines()[-1] == "local[1]"


@pytest.mark.parametrize("content", [b"", b"no class archive" * 1000])
def test_a_damaged_class_archive_does_no_harm(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "jars").symlink_to(cache_dir() / "jars")
    code = (
        f"class_archive().write_bytes({content!r})\n"
        "print(spark_session(quiet=True).range(7).count())"
    )
    assert fresh(code, WORKBOOK_CACHE=str(tmp_path)).split() == ["7"]


def test_logs_go_to_a_file_not_into_the_notebook() -> None:
    code = (
        "spark = spark_session(quiet=True)\n"
        "spark._jvm.org.slf4j.LoggerFactory.getLogger('x').error('loud')\n"
        "print('loud' in (scratch_dir() / 'spark.log').read_text())"
    )
    assert fresh(code).split() == ["True"]

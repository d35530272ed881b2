"""A system on a standalone cluster that can read nothing of ours, while a worker is killed."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import pytest
from clusters import Cluster, cluster, environment, unfit
from labs import end, until, workbook
from test_session import fresh

from workbook.errors import CannotGoOn
from workbook.kafka.readers import latest_rows, read_dead_letters, read_messages
from workbook.spark.cluster import settings
from workbook.spark.runner import start_query
from workbook.stack.folders import ROOT
from workbook.streams.generators.positions import PositionStream
from workbook.streams.ledgers.tables import TableLedger
from workbook.streams.stream_producer import generate
from workbook.topics import new_compacted_topic

WITHIN = 420.0


# --- what executors get, without a cluster ----------------------------------------------------


def test_the_package_is_shipped_and_no_path_with_it(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        shipped = settings(tmp_path)
        assert os.umask(0o002) == 0o002, "to ask for it changes nothing"
    finally:
        os.umask(before)
    assert shipped["spark.hadoop.fs.permissions.umask-mode"] == "002"
    assert (shipped["spark.executorEnv.TZ"], shipped["spark.speculation"]) == ("UTC", "false")
    archive = Path(shipped.pop("spark.submit.pyFiles"))
    assert archive.parent == tmp_path
    assert not [value for value in shipped.values() if "/" in value], "the executors see these"
    code = "import workbook.spark.worker_daemon, workbook.sinks.topics as t; print(t.__file__)"
    environment = {**os.environ, "PYTHONPATH": shipped["spark.executorEnv.PYTHONPATH"]}
    command = [sys.executable, "-c", code]
    said = subprocess.check_output(command, env=environment, cwd=tmp_path, text=True)
    assert said.strip() == str(archive / "workbook" / "sinks" / "topics.py")


def test_a_query_whose_checkpoint_executors_cannot_reach_is_refused(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://far:7077")
    monkeypatch.setenv("WORKBOOK_SHARED", str(tmp_path / "shared"))
    nothing: Any = None
    with pytest.raises(CannotGoOn, match="/mine isn't below it"):
        start_query(nothing, [], tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_a_fresh_checkpoint_is_in_the_shared_folder_and_goes_with_the_process(tmp_path) -> None:
    code = "from workbook.spark.session import checkpoint as c\nprint(c('a'), c('a'))"
    said = fresh(code, SPARK_MASTER="spark://far:7077", WORKBOOK_SHARED=str(tmp_path))
    one, two = map(Path, said.split())
    assert one.is_relative_to(tmp_path)
    assert one != two
    assert not list(tmp_path.iterdir())


# --- a cluster --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    if why := unfit():
        pytest.skip(why)
    with environment() as made:
        yield made


@pytest.fixture
def spark_cluster(folder: Path) -> Iterator[Cluster]:
    with cluster(folder) as started:
        yield started


def on(started: Cluster, *words: str) -> subprocess.Popen[str]:
    """``workbook run`` with this cluster as its Spark."""
    ours = {
        "SPARK_MASTER": started.master,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DRIVER_MEMORY": "1g",
        "PYSPARK_PYTHON": str(started.python),
        "WORKBOOK_SHARED": str(started.shared),
    }
    # Both users must be able to write into the checkpoint.
    return workbook("run", *words, env={**os.environ, **ours}, umask=0)


def while_it_runs(process: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    """Wait for something that the run brings about."""

    def happened_yet() -> bool:
        assert process.poll() is None, process.communicate()[0]
        return happened()

    until(happened_yet, "what the run brings about", WITHIN)


def nothing_is_left(started: Cluster) -> None:
    """Of what ran on the cluster: executors and their Pythons, and fresh checkpoints."""
    until(lambda: not started.executors(), "the end of the executors", within=60)
    pythons = [p for p in started.processes() if "python" in p.name()]
    until(lambda: not any(p.is_running() for p in pythons), f"the end of {pythons}", within=60)
    assert sorted(path.name for path in started.shared.iterdir()) == ["state"]


POSITIONS = PositionStream(
    seed=3, rate=200, partitions=2, positions=150, clients=40, bad_share=0.02, duplicate_share=0.02
)
CHANGED = 8_000


@pytest.mark.slow
def test_the_table_in_the_topic_is_right_though_a_worker_is_killed(broker, spark_cluster) -> None:
    ours = (ROOT / "workbook" / "cli", ROOT / ".venv" / "bin" / "python", Path.home())
    assert not any(spark_cluster.can_read(path) for path in ours)
    assert spark_cluster.can_read(spark_cluster.python)
    positions = new_compacted_topic("positions", "test-cluster", partitions=2)
    holders = new_compacted_topic("holders", "test-cluster", partitions=2)
    broker.create(positions, positions.dead_letters, holders)
    config, out = broker.client_config(), holders.name
    stream = POSITIONS.ending_by(int(time.time() * 1000), CHANGED, speed=1)
    sending = {"target": generate, "args": (config, positions.name, stream, CHANGED)}
    (sender := Thread(**sending, kwargs={"speed": 1})).start()
    expected = stream.expected(0, CHANGED)
    words = ("share_holders", "--in", positions.name, "--out", out)
    process = on(spark_cluster, *words, "--checkpoint", str(spark_cluster.shared / "state"))
    while_it_runs(process, lambda: bool(read_messages(config, out)))
    assert len(spark_cluster.executors()) == 2
    spark_cluster.kill_worker()
    assert len(spark_cluster.executors()) == 1
    sender.join()
    while_it_runs(process, lambda: judged(expected, config, out).clean)
    end(process, signal.SIGTERM)
    nothing_is_left(spark_cluster)
    assert judged(expected, config, out).clean
    letters = read_dead_letters(config, positions.dead_letters.name)
    letters = letters.drop_duplicates(["partition", "offset"])  # each at least once
    assert len(letters) == expected["reason"].notna().sum() > 40


def judged(expected: pd.DataFrame, config: dict[str, str], topic: str) -> Any:
    rows = list(latest_rows(read_messages(config, topic)).values())
    table = pd.DataFrame(rows, columns=["client", "positions", "tickers"])
    return TableLedger(expected).judge(table)


@pytest.mark.slow
def test_workers_that_lack_the_packages_are_named_at_once(spark_cluster: Cluster) -> None:
    ours = {"SPARK_MASTER": spark_cluster.master, "PYSPARK_PYTHON": "/usr/bin/no-python"}
    said = fresh(STARTED, **ours, SPARK_LOCAL_IP="127.0.0.1", SPARK_DRIVER_MEMORY="1g")
    assert "Expected the workers' Python, /usr/bin/no-python, to run Spark's tasks, but" in said
    until(lambda: not spark_cluster.executors(), "the end of the executors", within=60)


STARTED = """
from workbook.errors import SparkFailed
from workbook.spark.session import spark_session
try:
    spark_session(quiet=True)
except SparkFailed as error:
    print(error)
"""

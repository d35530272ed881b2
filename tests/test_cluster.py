"""Each system on a standalone cluster that can read nothing of ours, while a worker is killed."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import psycopg
import pytest
from clusters import Cluster, cluster, environment, unfit
from labs import end, until, workbook

from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.readers import latest_rows, read_dead_letters, read_messages
from workbook.spark.cluster import settings
from workbook.spark.runner import start_query
from workbook.stack.addresses import database, registry
from workbook.stack.folders import ROOT
from workbook.streams.events.clicks import ClickType
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.generators.positions import PositionStream
from workbook.streams.ledgers.actions import judge
from workbook.streams.ledgers.tables import TableLedger
from workbook.streams.metrics import read_metrics
from workbook.streams.records import send_replicated
from workbook.streams.stream_producer import generate
from workbook.topics import Topic, new_compacted_topic, new_topic

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
    code = "import workbook.spark.worker_daemon, workbook.sinks.table_topic as t; print(t.__file__)"
    environment = {**os.environ, "PYTHONPATH": shipped["spark.executorEnv.PYTHONPATH"]}
    command = [sys.executable, "-c", code]
    said = subprocess.check_output(command, env=environment, cwd=tmp_path, text=True)
    assert said.strip() == str(archive / "workbook" / "sinks" / "table_topic.py")


def test_a_query_whose_checkpoint_executors_cannot_reach_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://far:7077")
    monkeypatch.setenv("WORKBOOK_SHARED", str(tmp_path / "shared"))
    nothing: Any = None
    with pytest.raises(CannotGoOn, match="/mine isn't below it"):
        start_query(nothing, [], tmp_path / "mine")
    assert not (tmp_path / "mine").exists()


def test_a_fresh_checkpoint_is_in_the_shared_folder_and_goes_with_the_process(
    tmp_path: Path,
) -> None:
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


@pytest.mark.slow
def test_its_workers_can_read_nothing_of_ours(spark_cluster: Cluster) -> None:
    ours = (ROOT / "workbook" / "cli.py", ROOT / ".venv" / "bin" / "python", Path.home())
    assert not any(spark_cluster.can_read(path) for path in ours)
    assert spark_cluster.can_read(spark_cluster.python)


def in_the_background(broker: Broker, topic: Topic, stream: Any, count: int) -> Thread:
    """Send a stream in real time."""
    config = broker.client_config()
    sender = Thread(target=generate, args=(config, topic.name, stream, count), kwargs={"speed": 1})
    sender.start()
    return sender


def while_it_runs(process: subprocess.Popen[str], happened: Callable[[], bool]) -> None:
    """Wait for something that the run brings about."""

    def happened_yet() -> bool:
        assert process.poll() is None, process.communicate()[0]
        return happened()

    until(happened_yet, "what the run brings about", WITHIN)


def without_a_worker(
    started: Cluster, words: Sequence[str], sender: Thread,
    began: Callable[[], bool], done: Callable[[], bool],
) -> str:  # fmt: skip
    """Run a system until it's ``done``, and kill a worker once it ``began``; return what it said.

    The records of ``sender`` come meanwhile.
    """
    process = on(started, *words, "--checkpoint", str(started.shared / "state"))
    while_it_runs(process, began)
    assert len(started.executors()) == 2
    started.kill_worker()
    assert len(started.executors()) == 1
    sender.join()
    while_it_runs(process, done)
    said = end(process, signal.SIGTERM)
    nothing_is_left(started)
    return said


def nothing_is_left(started: Cluster) -> None:
    """Of what ran on the cluster: executors and their Pythons, and fresh checkpoints."""
    until(lambda: not started.executors(), "the end of the executors", within=60)
    pythons = [p for p in started.processes() if "python" in p.name()]
    until(lambda: not any(p.is_running() for p in pythons), f"the end of {pythons}", within=60)
    assert sorted(path.name for path in started.shared.iterdir()) == ["state"]


CLICKS = ClickStream(
    seed=4, rate=200, partitions=2, bad_share=0.05, late_share=0.05, late_by_ms=20_000
)
CLICKED = 8_000


@pytest.mark.slow
def test_every_page_view_is_counted_or_rejected(broker: Broker, spark_cluster: Cluster) -> None:
    clicks, out = new_topic("clicks", "test-cluster", 2), new_topic("metrics", "test-cluster")
    broker.create(clicks, clicks.dead_letters, out)
    config = broker.client_config()
    stream = CLICKS.ending_by(int(time.time() * 1000), CLICKED, speed=1)
    sender = in_the_background(broker, clicks, stream, CLICKED)
    sent = stream.expected(0, CLICKED)
    views = sent[sent["reason"].isna() & (sent["click_type"] == ClickType.PAGE)]
    rejected = sent["reason"].dropna()

    def letters() -> pd.DataFrame:
        return once(read_dead_letters(config, clicks.dead_letters.name))

    def counted() -> pd.DataFrame:
        late = letters().query("reason == 'too late'")["value"]
        return views[~views["event_id"].isin({json.loads(value)["event_id"] for value in late})]

    def right() -> bool:
        seconds = (counted()["timestamp"] // 1000).value_counts().to_dict()
        return seconds_in(config, out) == seconds and len(letters()) >= len(rejected)

    words = ("page_views", "--in", clicks.name, "--out", out.name)
    began = lambda: len(read_metrics(config, out.name)) > 2  # noqa: E731
    said = without_a_worker(spark_cluster, words, sender, began, right)
    late = letters().query("reason == 'too late'")
    assert f"{len(counted()):,} counted + 0 in open seconds + {len(late):,} too late" in said
    assert sorted(letters()["reason"]) == sorted([*rejected, *late["reason"]])


def once(letters: pd.DataFrame) -> pd.DataFrame:
    """At least once: a letter may come again."""
    return letters.drop_duplicates(["partition", "offset"])


def seconds_in(config: dict[str, str], topic: Topic) -> dict[int, int]:
    """What a reader knows who keeps the last metric of each second."""
    return {int(m.second): int(m.views) for m in read_metrics(config, topic.name).itertuples()}


POSITIONS = PositionStream(
    seed=3, rate=200, partitions=2, positions=150, clients=40, bad_share=0.02, duplicate_share=0.02
)
CHANGED = 8_000


@pytest.mark.slow
def test_the_table_in_the_topic_is_right(broker: Broker, spark_cluster: Cluster) -> None:
    positions = new_compacted_topic("positions", "test-cluster", partitions=2)
    broker.create(positions, positions.dead_letters)
    config, out = broker.client_config(), f"{positions.name}.holders"
    stream = POSITIONS.ending_by(int(time.time() * 1000), CHANGED, speed=1)
    sender = in_the_background(broker, positions, stream, CHANGED)
    expected = stream.expected(0, CHANGED)
    words = ("share_holders", "--in", positions.name, "--out", out)
    began = lambda: bool(read_messages(config, out))  # noqa: E731
    right = lambda: judged(expected, config, out).clean  # noqa: E731
    without_a_worker(spark_cluster, words, sender, began, right)
    assert right()
    letters = once(read_dead_letters(config, positions.dead_letters.name))
    assert len(letters) == expected["reason"].notna().sum() > 40


def judged(expected: pd.DataFrame, config: dict[str, str], topic: str) -> Any:
    rows = list(latest_rows(read_messages(config, topic)).values())
    table = pd.DataFrame(rows, columns=["client", "positions", "tickers"])
    return TableLedger(expected).judge(table)


ACTED = 9_000


@pytest.mark.slow
def test_each_action_counts_once(broker: Broker, spark_cluster: Cluster) -> None:
    topic = new_topic("ad-actions", "test-cluster", 2)
    broker.create(topic, topic.dead_letters)
    subject, schema = f"{topic.name}-value", f"cluster_{os.getpid()}"
    stream = AdActionStream(seed=3, rate=200, bad_share=0.02, **prepare(topic.name, registry()))
    stream = stream.ending_by(int(time.time() * 1000), ACTED, speed=1)

    def send() -> None:
        for first in range(0, ACTED, 300):
            until(lambda last=first + 300: stream.due(time.time() * 1000) >= last, "it's due", 60)
            block = stream.block(first, first + 300)
            records = zip(block["value"].to_pylist(), block["arrival"].to_pylist(), strict=True)
            send_replicated(broker.client_config(), topic.name, records)

    sender = Thread(target=send)
    sender.start()

    def ask(query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(database(), options=f"-c search_path={schema}") as connection:
            found = connection.execute("SELECT to_regclass('fates') IS NOT NULL").fetchone()
            return connection.execute(query).fetchall() if found and found[0] else []

    by_fate = "SELECT fate, sum(count)::bigint FROM fates GROUP BY fate"
    words = ("ad_statistics", "--in", topic.name, "--subject", subject, "--schema", schema)
    began = lambda: bool(ask("SELECT * FROM fates"))  # noqa: E731
    done = lambda: sum(n for _, n in ask(by_fate)) >= ACTED  # noqa: E731
    without_a_worker(spark_cluster, words, sender, began, done)
    columns = ["ad", "day", "type", "source", "count"]
    counts = pd.DataFrame(ask("SELECT * FROM counts"), columns=columns)
    letters = read_dead_letters(broker.client_config(), topic.dead_letters.name)
    verdict = judge(stream.expected(0, ACTED), counts, dict(ask(by_fate)), letters)
    assert verdict.clean, str(verdict)


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


def fresh(code: str, **more: str) -> str:
    """What a fresh Python prints."""
    command, env = [sys.executable, "-c", code], {**os.environ, **more}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=180).stdout

"""Each system on a standalone cluster that can read nothing of ours, while a worker is killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from threading import Thread
from typing import Any

import pandas as pd
import psycopg
import pytest
from clusters import Cluster, cluster, environment, unfit
from labs import end, read_until, until, workbook
from test_active_groups import observed_in

from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import committed_by
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import latest_rows, read_dead_letters, read_messages
from workbook.sinks.migration import Migration
from workbook.sinks.store import Store
from workbook.spark.cluster import settings
from workbook.spark.runner import start_query
from workbook.stack.addresses import cassandra, database, registry
from workbook.stack.cassandra import connected
from workbook.stack.folders import ROOT
from workbook.streams.events.clicks import ClickType
from workbook.streams.events.visits import Heartbeat
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.generators.groups import GroupWorkload
from workbook.streams.generators.legacy_counts import fill, legacy_counts
from workbook.streams.generators.positions import PositionStream
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.ledgers.actions import judge
from workbook.streams.ledgers.groups import GroupsVerdict
from workbook.streams.ledgers.groups import judge as judge_groups
from workbook.streams.ledgers.merges import MergeLedger, MergeVerdict
from workbook.streams.ledgers.tables import TableLedger
from workbook.streams.metrics import read_metrics
from workbook.streams.records import read_merged, read_no_visits, send_replicated
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


def lose_a_worker(started: Cluster) -> None:
    assert len(started.executors()) == 2
    started.kill_worker()
    assert len(started.executors()) == 1


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
    state = str(spark_cluster.shared / "state")
    process = on(
        spark_cluster, "page_views", "--in", clicks.name, "--out", out.name, "--checkpoint", state
    )
    while_it_runs(process, lambda: len(read_metrics(config, out.name)) > 2)
    lose_a_worker(spark_cluster)
    sender.join()

    sent = stream.expected(0, CLICKED)
    read_until(process, f"{len(sent):,} read = ")
    read_until(process, " 0 in open seconds")
    said = end(process, signal.SIGTERM)
    letters = once(read_dead_letters(config, clicks.dead_letters.name))
    late = letters[letters["reason"] == "too late"]
    too_late = {json.loads(value)["event_id"] for value in late["value"]}
    views = sent[sent["reason"].isna() & (sent["click_type"] == ClickType.PAGE)]
    counted = views[~views["event_id"].isin(too_late)]
    rejected = sent["reason"].dropna()
    assert (
        f"{len(sent):,} read = {len(counted):,} counted + 0 in open seconds + {len(late):,} too "
        f"late + {len(rejected):,} rejected + "
    ) in said
    assert seconds(config, out) == (counted["timestamp"] // 1000).value_counts().to_dict()
    assert sorted(letters["reason"]) == sorted([*rejected, *late["reason"]])
    nothing_is_left(spark_cluster)


def once(letters: pd.DataFrame) -> pd.DataFrame:
    """At least once: a letter may come again."""
    return letters.drop_duplicates(["partition", "offset"])


def seconds(config: dict[str, str], topic: Topic) -> dict[int, int]:
    """What a reader knows who keeps the last metric of each second."""
    return {int(m.second): int(m.views) for m in read_metrics(config, topic.name).itertuples()}


VISITS: dict[str, Any] = {"partitions": 2, "visit_s": 3.0, "seed": 5, "bad_share": 0.03}
TRACKED, ORDERED = 6_000, 1_200


@pytest.mark.slow
def test_every_visit_is_merged(broker: Broker, spark_cluster: Cluster) -> None:
    tracking, orders = new_topic("tracking", "test-cluster", 2), new_topic("orders", "cluster", 2)
    broker.create(tracking, tracking.dead_letters, orders)
    config, out = broker.client_config(), f"{tracking.name}.visits"
    streams = [
        (tracking, VisitStream(rate=150.0, **VISITS), TRACKED),
        (orders, VisitStream(kind=Kind.ORDERS, rate=30.0, tracking_rate=150.0, **VISITS), ORDERED),
    ]
    now = int(time.time() * 1000)
    placed = [(topic, each.ending_by(now, n, speed=1), n) for topic, each, n in streams]
    senders = [in_the_background(broker, *each) for each in placed]
    state = str(spark_cluster.shared / "state")
    process = on(
        *(spark_cluster, "event_time_merge", "--in", tracking.name, "--orders", orders.name),
        *("--out", out, "--timeout", "6 seconds", "--checkpoint", state),
    )
    read_until(process, "Its new checkpoint")
    while_it_runs(process, lambda: bool(read_merged(config, out)))
    lose_a_worker(spark_cluster)
    for sender in senders:
        sender.join()
    end_of = int(time.time() * 1000) + 10_000
    for topic in (tracking, orders):
        with DeliveringProducer(config, topic.name) as producer:
            for partition in range(2):
                producer.produce(Heartbeat(end_of).to_json(), None, partition, timestamp=end_of)

    ledger = MergeLedger(pd.concat([each.expected(0, n) for _, each, n in placed]))

    def verdict() -> MergeVerdict:
        rejected = read_no_visits(config, tracking.dead_letters.name)
        return ledger.judge(read_merged(config, out), rejected)

    while_it_runs(process, lambda: not verdict().counts["lost"])
    end(process, signal.SIGTERM)
    found = verdict()
    assert found.clean, str(found)
    assert found.counts["fragments"] == found.counts["apart"] == 0
    nothing_is_left(spark_cluster)


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
    state = str(spark_cluster.shared / "state")
    process = on(
        *(spark_cluster, "share_holders", "--in", positions.name),
        *("--out", out, "--no-store", "--checkpoint", state),
    )
    read_until(process, "Its new checkpoint")
    while_it_runs(process, lambda: bool(read_messages(config, out)))
    lose_a_worker(spark_cluster)
    sender.join()

    expected = stream.expected(0, CHANGED)

    while_it_runs(process, lambda: judged(expected, config, out).clean)
    end(process, signal.SIGTERM)
    assert judged(expected, config, out).clean
    letters = once(read_dead_letters(config, positions.dead_letters.name))
    assert len(letters) == expected["reason"].notna().sum() > 40
    nothing_is_left(spark_cluster)


def judged(expected: pd.DataFrame, config: dict[str, str], topic: str) -> Any:
    rows = list(latest_rows(read_messages(config, topic)).values())
    table = pd.DataFrame(rows, columns=["client", "positions", "tickers"])
    return TableLedger(expected).judge(table)


@pytest.mark.slow
def test_the_active_groups_are_those_of_the_broker(
    broker: Broker, spark_cluster: Cluster, tmp_path: Path
) -> None:
    topics = [new_topic("read", "test-cluster", 2) for _ in range(2)]
    broker.create(*topics)
    config, file = broker.client_config(), tmp_path / "groups.db"
    before, after = (GroupWorkload(config, each.name, 2, seed=5, groups=20) for each in topics)
    expected = [before.run()]  # the broker makes its topic of offsets for the first group
    state = str(spark_cluster.shared / "state")
    process = on(spark_cluster, "active_groups", "--store", str(file), "--checkpoint", state)
    read_until(process, "Its new checkpoint")

    def observed() -> pd.DataFrame:
        if not file.exists():
            return pd.DataFrame(columns=expected[0].columns)
        store = Store(file, "group", reading=True)
        return pd.concat([observed_in(store, f"{each.name}.") for each in topics])

    while_it_runs(process, lambda: len(observed()) > 0)
    lose_a_worker(spark_cluster)
    expected.append(after.run())
    wanted = pd.concat(expected)

    def verdict() -> GroupsVerdict:
        found = observed()
        groups = sorted({*wanted["group"], *found["group"]})
        return judge_groups(wanted, found, committed_by(config, groups))

    while_it_runs(process, lambda: verdict().clean)
    end(process, signal.SIGTERM)
    found = verdict()
    assert found.clean, str(found)
    assert wanted["group"].nunique() == 2 * 16, "of 20, four are deleted"
    nothing_is_left(spark_cluster)


ACTED = 9_000


@pytest.mark.slow
def test_each_action_is_copied_under_its_hash(broker: Broker, spark_cluster: Cluster) -> None:
    topic = new_topic("ad-actions", "test-cluster", 2)
    broker.create(topic)
    config, out = broker.client_config(), f"{topic.name}.long-lived"
    stream = AdActionStream(
        seed=3, rate=200, partitions=2, bad_share=0.02, **prepare(topic.name, registry())
    ).ending_by(int(time.time() * 1000), ACTED, speed=1)
    sender = in_the_background(broker, topic, stream, ACTED)
    state = str(spark_cluster.shared / "state")
    process = on(spark_cluster, "replicate", "--in", topic.name, "--checkpoint", state)
    read_until(process, "Its new checkpoint")
    while_it_runs(process, lambda: bool(read_messages(config, out)))
    lose_a_worker(spark_cluster)
    sender.join()

    sent = {message.value() for message in read_messages(config, topic.name)}

    def copied() -> dict[bytes, set[tuple[bytes, int]]]:
        places = defaultdict[bytes, set[tuple[bytes, int]]](set)
        for message in read_messages(config, out):
            places[message.value()].add((message.key(), message.partition()))
        return places

    while_it_runs(process, lambda: copied().keys() == sent)
    end(process, signal.SIGTERM)
    copies = copied()
    assert copies.keys() == sent
    for value, places in copies.items():  # at least once, and all copies in one partition
        [(key, _)] = places
        assert key == hashlib.sha1(value).digest()
    nothing_is_left(spark_cluster)


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
    state = str(spark_cluster.shared / "state")
    process = on(
        *(spark_cluster, "ad_statistics", "--in", topic.name, "--subject", subject),
        *("--schema", schema, "--checkpoint", state),
    )
    read_until(process, "Its new checkpoint")

    def ask(query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(database(), options=f"-c search_path={schema}") as connection:
            found = connection.execute("SELECT to_regclass('fates') IS NOT NULL").fetchone()
            return connection.execute(query).fetchall() if found and found[0] else []

    while_it_runs(process, lambda: bool(ask("SELECT * FROM fates")))
    lose_a_worker(spark_cluster)
    sender.join()
    by_fate = "SELECT fate, sum(count)::bigint FROM fates GROUP BY fate"
    while_it_runs(process, lambda: sum(n for _, n in ask(by_fate)) >= ACTED)
    end(process, signal.SIGTERM)
    columns = ["ad", "day", "type", "source", "count"]
    counts = pd.DataFrame(ask("SELECT * FROM counts"), columns=columns)
    letters = read_dead_letters(broker.client_config(), topic.dead_letters.name)
    verdict = judge(stream.expected(0, ACTED), counts, dict(ask(by_fate)), letters)
    assert verdict.clean, str(verdict)
    nothing_is_left(spark_cluster)


@pytest.mark.slow
def test_an_old_table_is_migrated(spark_cluster: Cluster) -> None:
    name = f"cluster_{os.getpid()}"
    table, rows = f"{name}.counts", legacy_counts(date(2026, 1, 31), 60, 20)
    with connected(cassandra()) as filled:
        fill(filled, table, (row for row, _ in rows))
    target = Migration(database(), table, name)
    process = on(
        *(spark_cluster, "migrate", "--table", table, "--schema", name),
        *("--ranges", "20", "--rate", "300"),
    )

    def some() -> bool:
        try:
            return target.progress().finished > 2
        except CannotGoOn:
            return False

    while_it_runs(process, some)
    lose_a_worker(spark_cluster)
    assert target.progress().finished < 20
    said = process.communicate(timeout=WITHIN)[0]
    assert process.returncode == 0, said
    assert "All 20 days are equal in both tables" in said
    until(lambda: not spark_cluster.executors(), "the end of the executors", within=60)


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

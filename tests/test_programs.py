"""Each program to take home is killed once, started again, and judged by the ledger."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg
from confluent_kafka import Consumer, TopicPartition
from labs import until
from test_hostile_programs import load, newest, on_spark, views_per_second

from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_messages
from workbook.stack import jars
from workbook.stack.addresses import database, registry
from workbook.streams.events.metrics import Metric
from workbook.streams.events.visits import Merged, OrderMessage, TrackingMessage
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.generators.positions import PositionStream
from workbook.streams.generators.visits import Kind, VisitStream
from workbook.streams.ledgers.actions import LOST, TWICE, judge
from workbook.streams.ledgers.merges import MergeLedger
from workbook.streams.ledgers.tables import TableLedger
from workbook.streams.stream_producer import StreamProducer

PROGRAMS = Path(__file__).parents[1] / "programs"
SPARK = ["counts_into_postgres", "merge_visits", "table_by_key", "views_per_second"]
HALF, ALL = 3_000, 6_000


def command(program: str, options: dict[str, object]) -> list[str]:
    """A program's command line: by spark-submit, with the lab's jars, if it is one for Spark."""
    words = [str(PROGRAMS / f"{program}.py")]
    for name, value in options.items():
        words += [f"--{name}", str(value)] if name != "kafka" else []
    if program not in SPARK:
        return [sys.executable, *words]
    submit = str(Path(sys.executable).with_name("spark-submit"))
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",  # starts faster
    }
    flags = [word for pair in settings.items() for word in ("--conf", "=".join(pair))]
    paths = ",".join(map(str, jars.class_path("spark")))
    return [submit, "--master", "local[2]", "--jars", paths, *flags, *words]


@contextmanager
def running(program: str, options: dict[str, object], log: Path) -> Iterator[subprocess.Popen]:
    """The program, killed by SIGKILL at the end with all its processes."""
    with log.open("a") as out:
        process = subprocess.Popen(
            command(program, options), stdout=out, stderr=out, start_new_session=True,
            env={**os.environ, "PYSPARK_PYTHON": sys.executable},
        )  # fmt: skip
    try:
        yield process
        assert not process.poll(), f"it ended by itself:\n{log.read_text()[-3000:]}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def killed_once(spark, program, options, log, halves, begun, done, *more) -> None:
    """Send a half, wait for a result, send the other half, kill the program, and go on.

    It goes on in the tests' own Spark, whose start nobody has to wait for.
    """
    first, second = halves
    first()
    with running(program, options, log) as process:
        until(lambda: process.poll() is not None or begun(), "a first result", every=0.5)
        second()
    with on_spark(spark, load(program), options, *more) as query:
        until(lambda: not query.isActive or done(), "the last result", every=0.5)


def halves(config, topic: str, stream) -> list:
    """Two functions that send the first and the second half of a stream."""

    def sender(first: int, last: int):
        def send() -> None:
            producer = StreamProducer(config, topic)
            producer.send_block(stream.block(first, last))
            producer.close()

        return send

    return [sender(0, HALF), sender(HALF, ALL)]


def of_key(broker: Broker, topic: str) -> dict:
    """The newest record of each key: its value as text."""
    found = newest(broker, topic)
    return {key.decode(): value and value.decode() for key, value in found.items()}


def test_seconds_are_counted_in_full(broker, topic, spark, tmp_path) -> None:
    clicks, metrics = topic(partitions=2), topic("metrics")
    stream = ClickStream(rate=100, partitions=2, seed=7)
    options = {"servers": broker.bootstrap, "topic": clicks.name, "out": metrics.name}
    options["checkpoint"] = tmp_path / "checkpoint"
    views = stream.expected(0, ALL).query("click_type == 'Page'")
    expected = (views.timestamp // 1000).astype(str).value_counts().to_dict()
    newest = views.timestamp.max() // 1000 - 5
    complete = {each: str(n) for each, n in expected.items() if int(each) < newest}

    def found() -> dict:
        return of_key(broker, metrics.name)

    first, second = halves(broker.client_config(), clicks.name, stream)
    first()
    with running("views_per_second", options, tmp_path / "log") as process:
        until(lambda: process.poll() is not None or found(), "a first result", every=0.5)
    second()
    (checkpoint,) = options["checkpoint"].iterdir()
    goes_on = views_per_second(broker, clicks.name, metrics.name, checkpoint)
    with on_spark(spark, load("views_per_second"), goes_on):
        until(lambda: found() == complete, "the last result", every=0.5)
    assert all(Metric.from_record(k.encode(), v.encode()) for k, v in found().items())


def test_another_copy_takes_over_and_no_second_is_lost(broker, topic, tmp_path) -> None:
    clicks, metrics = topic(partitions=4), topic("metrics")
    config, stream = broker.client_config(), ClickStream(rate=100, partitions=4, seed=8)
    options = {"servers": broker.bootstrap, "topic": clicks.name, "out": metrics.name}
    options |= {"group": clicks.name, "config": tmp_path / "client.properties"}
    # What ends or joins is noticed sooner.
    with options["config"].open("a") as file:
        file.write("session.timeout.ms=6000\nheartbeat.interval.ms=300\n")
    first, second = halves(config, clicks.name, stream)
    views = stream.expected(0, ALL).query("click_type == 'Page'")
    key = (views.timestamp // 1000).astype(str) + "/" + views.partition.astype(str)
    last = views.groupby("partition").timestamp.max() // 1000
    complete = key.value_counts().astype(str).drop([f"{s}/{p}" for p, s in last.items()])

    def found() -> dict:
        return of_key(broker, metrics.name)

    first()
    with running("commit_on_delivery", options, tmp_path / "zero"):  # kill -9 ends it
        until(found, "a first metric")
    before = len(found())
    second()
    with running("commit_on_delivery", options, tmp_path / "one") as one:
        until(lambda: len(found()) > before, "a metric of the next copy")
        with running("commit_on_delivery", options, tmp_path / "two"):
            one.send_signal(signal.SIGTERM)
            until(lambda: one.poll() == 0, "the end of the first copy")
            until(lambda: found() == complete.to_dict(), "all seconds")


def test_every_message_is_in_a_visit(broker, topic, spark, tmp_path) -> None:
    config = broker.client_config()
    tracking, orders = topic("tracking", partitions=2), topic("orders", partitions=2)
    visits = topic("visits", partitions=2)
    both = {"rate": 60.0, "seed": 3, "partitions": 2, "visit_s": 10.0, "tracking_rate": 60.0}
    streams = [
        (tracking.name, VisitStream(kind=Kind.TRACKING, **both)),
        (orders.name, VisitStream(kind=Kind.ORDERS, **{**both, "rate": 6.0})),
    ]
    options = {"servers": broker.bootstrap, "tracking": tracking.name, "orders": orders.name}
    options |= {"out": visits.name, "checkpoint": tmp_path / "checkpoint", "timeout": 20}
    options["kafka"] = config

    def send(first: float, last: float) -> None:
        for name, stream in streams:
            producer, rate = StreamProducer(config, name), stream.rate
            producer.send_block(stream.block(int(first * rate), int(last * rate)))
            producer.close()

    sent = pd.concat([stream.expected(0, int(60 * stream.rate)) for _, stream in streams])
    newest = sent.groupby("ssid").timestamp.max()
    end = min(stream.arrivals(np.array([60 * stream.rate - 1])).max() for _, stream in streams)
    due = newest[newest < end - 25_000].index

    def found() -> list[tuple[int, Merged]]:
        read = []
        for message in read_messages(config, visits.name):
            parts = json.loads(message.value())["messages"]
            kinds = {"tracking": [], "order": []}
            for part in parts:
                kind = part.pop("type")
                kinds[kind].append(
                    (TrackingMessage if kind == "tracking" else OrderMessage)(**part)
                )
            one = Merged(message.key().decode(), *map(tuple, kinds.values()))
            read.append((message.partition(), one))
        return read

    def done() -> bool:
        return set(due) <= {one.ssid for _, one in found()}

    halves = [lambda: send(0, 30), lambda: send(30, 60)]
    killed_once(spark, "merge_visits", options, tmp_path / "log", halves, found, done)
    written = {one.ssid for _, one in found()}
    verdict = MergeLedger(sent[sent.ssid.isin(written)]).judge(found())
    assert verdict.clean, verdict
    assert not len(verdict.apart) + len(verdict.duplicated), verdict


def test_the_table_has_what_is_true_now(broker, topic, spark, tmp_path) -> None:
    positions, table = topic("positions", partitions=2), topic("table")
    stream = PositionStream(rate=100, partitions=2, seed=5, positions=500)
    options = {
        "servers": broker.bootstrap, "topic": positions.name, "out": table.name,
        "checkpoint": tmp_path / "checkpoint", "kafka": broker.client_config(),
        "where": "get_json_object(value, '$.exchange') IN ('NYSE', 'NASDAQ')",
    }  # fmt: skip
    facts = stream.expected(0, ALL)

    def verdict():
        held = [
            (json.loads(value)["client"], json.loads(value)["ticker"], key)
            for key, value in of_key(broker, table.name).items()
            if value is not None
        ]
        rows = pd.DataFrame(held, columns=["client", "tickers", "positions"])
        by_client = rows.groupby("client").agg(
            {"positions": list, "tickers": lambda t: sorted({*t})}
        )
        return TableLedger(facts).judge(by_client.reset_index())

    parts = halves(broker.client_config(), positions.name, stream)
    killed_once(
        spark, "table_by_key", options, tmp_path / "log", parts,
        lambda: of_key(broker, table.name), lambda: verdict().clean,
    )  # fmt: skip
    tombstones = [value for value in of_key(broker, table.name).values() if value is None]
    assert tombstones


def test_each_action_is_counted_once(broker, topic, spark, tmp_path) -> None:
    actions, address = topic("ad_actions", partitions=2), registry("tests")
    url = f"{database('tests')}"
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("DROP TABLE IF EXISTS action_counts, fence")
    ids = prepare(actions.name, address)
    stream = AdActionStream(rate=100, partitions=2, seed=4, ads=50, too_old_share=0.0, **ids)
    facts = stream.expected(0, ALL)
    options = {"servers": broker.bootstrap, "topic": actions.name, "registry": address}
    options |= {"database": url, "checkpoint": tmp_path / "checkpoint", "horizon": "1 hour"}
    options["kafka"] = broker.client_config()
    known = load("counts_into_postgres").schemas(address, f"{actions.name}-value")

    def verdict():
        with psycopg.connect(url) as db:
            rows = db.execute("SELECT ad, day, type, 'x', count FROM action_counts").fetchall()
        counts = pd.DataFrame(rows, columns=["ad", "day", "type", "source", "count"])
        return judge(facts.assign(source="x"), counts, {})

    def begun() -> bool:
        with psycopg.connect(url) as db:
            return db.execute("SELECT to_regclass('fence')").fetchone()[0] is not None and bool(
                db.execute("SELECT FROM fence WHERE batch >= 0").fetchall()
            )

    parts = halves(broker.client_config(), actions.name, stream)
    killed_once(
        spark, "counts_into_postgres", options, tmp_path / "log", parts,
        begun, lambda: not verdict().counts[LOST], known,
    )  # fmt: skip
    assert not verdict().counts[TWICE], verdict().found[TWICE].to_string()


def test_lag_is_the_end_minus_the_commit(broker, topic, tmp_path) -> None:
    clicks, group = topic(), "programs-lag"
    stream = ClickStream(rate=100, seed=1)
    first, second = halves(broker.client_config(), clicks.name, stream)
    reader = Consumer({**broker.client_config(), "group.id": group})
    options, log = {"servers": broker.bootstrap, "every": 0.5}, tmp_path / "log"
    first()

    def shows(lag: int, at_least: str) -> bool:
        row = rf"{group} +{re.escape(clicks.name)}/0 +{lag:,} +{at_least}\d+$"
        return bool(re.search(row, log.read_text(), re.MULTILINE))

    with running("lag_by_group", options, log):
        reader.commit(offsets=[TopicPartition(clicks.name, 0, 1_000)], asynchronous=False)
        until(lambda: shows(HALF - 1_000, "≥ "), "the lag in the log")
        reader.commit(offsets=[TopicPartition(clicks.name, 0, HALF)], asynchronous=False)
        until(lambda: shows(0, ""), "no lag")
        second()
        until(lambda: shows(ALL - HALF, ""), "a lag that began while it looked")
    log.write_text("")
    with running("lag_by_group", options, log):  # after a kill, it asks again
        until(lambda: shows(ALL - HALF, "≥ "), "the same lag, of unknown age")
    assert not shows(ALL - HALF, ""), "it can't know since when"
    reader.close()


def test_without_a_broker_there_is_one_line() -> None:
    started = {}
    for path in sorted(PROGRAMS.glob("*.py")):
        source = path.read_text()
        assert not re.search(r"\bworkbook\b", source), "it must run without the package"
        assert "\nWhat it loses" in source
        needed = re.findall(r'"--(\w+)"', source.split("command.parse_args()")[0])
        values = dict.fromkeys(needed, "127.0.0.1:1") | {"every": "1", "timeout": "1"}
        values["config"] = os.devnull
        words = [word for name in needed for word in (f"--{name}", values[name])]
        command = [sys.executable, str(path), *words]
        started[path.stem] = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    for program, process in started.items():
        said = process.communicate(timeout=180)[1]  # librdkafka's own lines may come behind ours
        expected = "No broker answers at 127.0.0.1:1. Does it run?"
        assert (expected in said, process.returncode) == (True, 1), program
        assert "Traceback" not in said, program

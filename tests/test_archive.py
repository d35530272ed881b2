"""The archive: each record is one row with its facts, once, and a folder belongs to one query."""

import json
import secrets
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from pyspark.sql import SparkSession

from workbook.cli.main import main
from workbook.crashlab.crashes.archive import rows_in
from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.readers import reread
from workbook.kafka.registry import register
from workbook.sinks.parquet_folder import ParquetFolder
from workbook.spark import session
from workbook.spark.runner import Batch, OnPoint, Running
from workbook.stack.addresses import registry
from workbook.streams.events.ad_actions import VERSIONS, AdAction, encode, head
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.ledgers.archive import judge
from workbook.streams.records import send_replicated
from workbook.systems import SYSTEMS
from workbook.systems.base import Job
from workbook.topics import Topic

SYSTEM = SYSTEMS["archive"]
NOW = 1_790_000_000_000


class Run:
    """Runs over one topic of one partition, into one folder."""

    def __init__(self, broker: Broker, spark: SparkSession, topic: Topic, folder: Path) -> None:
        self.spark, self.broker, self.folder = spark, broker, folder
        self.config, self.topic = broker.client_config(), topic.name
        self.subject = f"{secrets.token_hex(4)}-value"
        self.ids = prepare(self.subject.removesuffix("-value"), registry("test"))["ids"]

    def start(self, checkpoint: Path, folder: Path | None = None, most: int = 1_000) -> Running:
        words = f"--in {self.topic} --subject {self.subject} --folder {folder or self.folder}"
        options = SYSTEM.options([*words.split(), "--every", "0.1", "--max-per-batch", str(most)])
        return SYSTEM.start(Job(self.spark, self.broker, options, checkpoint, OnPoint())).running

    def through(self, *how: Any, **more: Any) -> None:
        with self.start(*how, **more) as running:
            running.process_all()


@pytest.fixture
def run(broker: Broker, spark: SparkSession, topic, tmp_path: Path) -> Run:
    return Run(broker, spark, topic("ad_actions"), tmp_path / "messages")


def test_each_record_is_one_row_with_its_facts(run: Run) -> None:
    stream = AdActionStream(
        ids=run.ids, rate=5, ads=200, duplicate_share=0.1, bad_share=0.05, too_old_share=0.02
    )
    block, facts = stream.block(0, 3_000), stream.expected(0, 3_000)
    values, arrivals = block["value"].to_pylist(), block["arrival"].to_pylist()
    send_replicated(run.config, run.topic, zip(values, arrivals, strict=True))
    run.through(session.checkpoint("archive"))
    expected, found = facts.assign(value=values, offset=facts["number"]), rows_in(run.folder)
    assert (verdict := judge(expected, found)).clean, str(verdict)
    assert (set(found["topic"]), set(found["batch"])) == ({run.topic}, {0, 1, 2})
    ids = [int.from_bytes(value[1:5]) if len(value) >= 5 else -1 for value in values]
    assert found.sort_values("offset")["schema_id"].fillna(-1).tolist() == ids
    assert set(found["reason"].dropna()) == set(facts["reason"].dropna()) - {Reason.TOO_OLD}
    # The judge sees what is wrong.
    damaged = found.assign(ad=found["ad"].where(found["offset"] != 7, "other"))
    one = found[found["offset"] == 9]
    more = pd.concat([damaged[damaged["offset"] > 2], one, one.assign(offset=3_000)])
    assert judge(expected, more).counts == {"lost": 3, "twice": 1, "wrong": 2}

    # Other readers find the same rows, and the value is read from Kafka by its place.
    glob = f"{run.folder}/batch=*/*/*.parquet"
    (run.folder / "_3").mkdir()
    shutil.copytree(run.folder / "batch=2", run.folder / "_3", dirs_exist_ok=True)
    assert run.spark.read.parquet(str(run.folder)).count() == len(found)
    assert pl.scan_parquet(glob, hive_partitioning=True).select(pl.len()).collect().item() == 3_000
    [message] = reread(run.config, run.topic, {0: [1_234]})
    assert message.value() == values[1_234]


def test_a_repeated_micro_batch_is_written_once_and_another_query_is_refused(
    run: Run, tmp_path: Path
) -> None:
    checkpoint = session.checkpoint("archive")
    send_replicated(run.config, run.topic, [(b"%d" % n, NOW) for n in range(5)])
    run.through(checkpoint, most=2)
    for file in (checkpoint / "0" / "commits").glob("*2*"):
        file.unlink()  # as if killed before it was committed
    before = set(run.folder.rglob("*.parquet"))  # each has a random number in its name
    run.through(checkpoint, most=2)
    assert set(run.folder.rglob("*.parquet")) == before
    assert sorted(rows_in(run.folder)["offset"]) == [0, 1, 2, 3, 4]

    with pytest.raises(CannotGoOn, match=r"another query has filled it.*--checkpoint that filled"):
        run.through(session.checkpoint("archive"))
    with pytest.raises(CannotGoOn, match="3 finished micro-batches of its query, and the folder 0"):
        run.through(checkpoint, tmp_path / "new")
    (run.folder / "batch=2").rename(tmp_path / "gone")
    with pytest.raises(CannotGoOn, match="Bring both back"):
        run.through(checkpoint)


def test_files_of_a_failed_attempt_are_replaced(spark: SparkSession, tmp_path: Path) -> None:
    rows, batch = spark.sql("SELECT DATE'2026-01-01' AS day, id FROM range(9)"), Batch("query", 0)
    failing = ParquetFolder(tmp_path, "day", "id", check=lambda rows: 1 / (rows.count() - 9))
    with pytest.raises(ZeroDivisionError):
        failing.through(rows, batch)
    assert not list(tmp_path.glob("batch=*"))
    ParquetFolder(tmp_path, "day", "id").through(rows, batch)
    assert spark.read.parquet(str(tmp_path)).count() == 9


def test_a_schema_registered_meanwhile_is_read(run: Run) -> None:
    newer = json.loads(VERSIONS[1])
    newer["fields"].append({"name": "device", "type": "string", "default": "phone"})
    with run.start(session.checkpoint("archive")) as running:
        running.process_all()  # of an empty topic
        new = register(registry("test"), run.subject, json.dumps(newer))
        action = AdAction(1, "a", "view", 5, False, "search", "Firefox", NOW)
        value = head(new) + encode(action, 1, new)[5:] + b"\x06abc"
        sent = ((sent, NOW) for sent in (value, head(999) + b"x", None))
        send_replicated(run.config, run.topic, sent)
        running.process_all()
    found = rows_in(run.folder).sort_values("offset")
    assert found["reason"].tolist() == [None, Reason.UNKNOWN_SCHEMA, Reason.EMPTY]
    assert found["ad"].tolist() == ["a", None, None]


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path, capsys, monkeypatch) -> None:
    (file := tmp_path / "holiday.jpg").touch()
    for words, why in [
        ([], "Expected a folder for the Parquet files"),
        (["--folder", str(file)], f"--folder {file} isn't one: {file} is a file"),
        (["--folder", str(tmp_path)], "it has files of something else"),
    ]:
        assert main(["run", "archive", *words]) == 1
        assert why in " ".join(capsys.readouterr().err.split())
    monkeypatch.setenv("SPARK_MASTER", "spark://far:7077")
    with pytest.raises(CannotGoOn, match="a folder that the executors of spark://far:7077 reach"):
        SYSTEM.check(SYSTEM.options(["--folder", str(tmp_path / "new")]))


def test_of_two_queries_that_find_an_empty_folder_one_gets_it(tmp_path: Path, monkeypatch) -> None:
    touch, other = Path.touch, tmp_path / "_query-other"
    monkeypatch.setattr(Path, "touch", lambda mark: (touch(other), touch(mark)))
    with pytest.raises(CannotGoOn, match="another query has filled it"):
        ParquetFolder(tmp_path, "day", "ad")._claim("mine")
    assert [*tmp_path.iterdir()] == [other]

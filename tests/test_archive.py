"""The archive: each record is one row with its facts, once, and a folder belongs to one query."""

import json
import os
import secrets
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from labs import until, workbook
from pyspark.sql import SparkSession

from workbook.cli.main import main
from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.readers import reread
from workbook.kafka.registry import register
from workbook.spark import checkpoints, session
from workbook.spark.runner import OnPoint, Running
from workbook.stack.addresses import registry
from workbook.streams.events.ad_actions import (
    MAX_AGE_MS,
    VERSIONS,
    AdAction,
    Fate,
    day_of,
    encode,
    head,
)
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.stream_producer import send_replicated
from workbook.systems import SYSTEMS
from workbook.systems.archive import LOG, claim
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


def send(run: Run, count: int) -> pd.DataFrame:
    """Send generated actions, and return their facts as the archive has them."""
    stream = AdActionStream(
        ids=run.ids, rate=5, ads=200, duplicate_share=0.1, bad_share=0.05, too_old_share=0.02
    )
    block, facts = stream.block(0, count), stream.expected(0, count)
    values, arrivals = block["value"].to_pylist(), block["arrival"].to_pylist()
    send_replicated(run.config, run.topic, zip(values, arrivals, strict=True))
    rejected = facts["fate"] == Fate.REJECTED.value
    return facts.assign(
        offset=facts["number"],
        value=values,
        reason=facts["reason"].where(rejected, None),
        day=facts["day"].where(~rejected, facts["arrival"].map(day_of)),
        too_old=facts["arrival"] - facts["time"] > MAX_AGE_MS,
        schema_id=[int.from_bytes(value[1:5]) if len(value) >= 5 else None for value in values],
        readable=~rejected,
    )


def rows_in(spark: SparkSession, folder: Path) -> pd.DataFrame:
    return spark.read.parquet(str(folder)).toPandas().sort_values("offset", ignore_index=True)


def assert_equal(found: pd.DataFrame, right: pd.DataFrame) -> None:
    """Each message is in the archive once, with its own facts; of a rejected one, those of all."""
    assert found["offset"].tolist() == right["offset"].tolist()
    same = partial(pd.testing.assert_series_equal, check_dtype=False, check_exact=True)
    for name in ("arrival", "reason", "day", "schema_id"):
        same(found[name], right[name])
    good = right["readable"]
    for name in ("too_old", "event_id", "ad", "type", "source", "user", "time"):
        same(found[name][good], right[name][good])
    of_bytes = right.assign(hash=found["hash"]).groupby("value")["hash"]
    assert found["hash"].nunique() == of_bytes.ngroups
    assert of_bytes.nunique().eq(1).all()


def test_each_record_is_one_row_with_its_facts(run: Run) -> None:
    right = send(run, 3_000)
    run.through(session.checkpoint("archive"))
    found = rows_in(run.spark, run.folder)
    assert_equal(found, right)
    assert set(found["topic"]) == {run.topic}
    assert set(found["reason"].dropna()) > {Reason.UNKNOWN_SCHEMA}

    # Other readers find the same rows in the files that Spark names, and Kafka has the value.
    files = run.spark.read.parquet(str(run.folder)).inputFiles()
    paths = [file.removeprefix("file://") for file in files]
    assert pl.scan_parquet(paths).select(pl.len()).collect().item() == 3_000
    [message] = reread(run.config, run.topic, {0: [1_234]})
    assert message.value() == right["value"][1_234]


def test_killed_while_it_writes_each_record_is_there_once(run: Run, tmp_path: Path) -> None:
    right = send(run, 4_000)
    words = ["run", "archive", "--in", run.topic, "--subject", run.subject, "--every", "0.1"]
    words += ["--folder", str(run.folder), "--checkpoint", str(tmp_path / "state")]
    running = workbook(*words, "--max-per-batch", "200")
    until(partial(is_writing, running, tmp_path / "state" / "0", 3), "micro-batches")
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    run.through(tmp_path / "state")
    assert_equal(rows_in(run.spark, run.folder), right)


def is_writing(running: Any, state: Path, least: int) -> bool:
    """Whether a run has committed so many micro-batches and has planned another one."""
    assert running.poll() is None, running.communicate()[0]
    committed, planned = (len([*(state / log).glob("[0-9]*")]) for log in ("commits", "offsets"))
    return planned > committed >= least


def test_a_micro_batch_is_written_once_a_new_schema_is_read_and_another_query_is_refused(
    run: Run, tmp_path: Path
) -> None:
    checkpoint = session.checkpoint("archive")
    send_replicated(run.config, run.topic, [(b"%d" % n, NOW) for n in range(5)])
    run.through(checkpoint, most=2)
    for file in (checkpoint / "0" / "commits").glob("*2*"):
        file.unlink()  # as if killed before it was committed
    newer = json.loads(VERSIONS[1])
    newer["fields"].append({"name": "device", "type": "string", "default": "phone"})
    with run.start(checkpoint) as running:
        running.process_all()
        new = register(registry("test"), run.subject, json.dumps(newer))
        action = AdAction(1, "a", "view", 5, False, "search", "Firefox", NOW)
        value = head(new) + encode(action, 1, new)[5:] + b"\x06abc"
        sent = ((sent, NOW) for sent in (value, head(999) + b"x", None))
        send_replicated(run.config, run.topic, sent)
        running.process_all()
    found = rows_in(run.spark, run.folder)
    assert found["offset"].tolist() == [*range(8)]
    assert found["reason"].tolist()[5:] == [None, Reason.UNKNOWN_SCHEMA, Reason.EMPTY]
    assert found["ad"].tolist()[5:] == ["a", None, None]

    with pytest.raises(CannotGoOn, match=r"has filled it.*--checkpoint that filled"):
        run.through(session.checkpoint("archive"))
    with pytest.raises(CannotGoOn, match="4 finished micro-batches of its query, and the folder 0"):
        run.through(checkpoint, tmp_path / "new")
    (run.folder / LOG / "3").rename(tmp_path / "gone")
    with pytest.raises(CannotGoOn, match="Bring both back"):
        run.through(checkpoint)


def test_a_folder_that_cannot_be_one_is_refused(tmp_path: Path, capsys, monkeypatch) -> None:
    (file := tmp_path / "holiday.jpg").touch()
    for words, why in [
        ([], "Expected a folder for the Parquet files"),
        (["--folder", str(file)], f"--folder {file} isn't one: {file} is a file"),
        (["--folder", str(tmp_path)], "something else has filled it"),
    ]:
        assert main(["run", "archive", *words]) == 1
        assert why in " ".join(capsys.readouterr().err.split())
    monkeypatch.setenv("SPARK_MASTER", "spark://far:7077")
    with pytest.raises(CannotGoOn, match="a folder that the executors of spark://far:7077 reach"):
        SYSTEM.check(SYSTEM.options(["--folder", str(tmp_path / "new")]))


def test_of_two_queries_that_find_an_empty_folder_one_gets_it(tmp_path: Path, monkeypatch) -> None:
    link, folder, mine = Path.symlink_to, tmp_path / "folder", tmp_path / "mine"
    monkeypatch.setattr(
        Path, "symlink_to", lambda mark, to: (link(mark, tmp_path / "other"), link(mark, to))
    )
    with pytest.raises(CannotGoOn, match="other has filled it"):
        claim(folder, mine)


def test_a_checkpoint_at_the_path_of_a_lost_one_does_not_get_its_folder(tmp_path: Path) -> None:
    """Its micro-batches may have the same numbers, and its offsets are others."""
    checkpoint = tmp_path / "state"
    (checkpoint / "0" / "offsets" / "0").mkdir(parents=True)
    of_folder = [SYSTEM.remembers(SYSTEM.options(["--folder", str(tmp_path / n)])) for n in "ab"]
    checkpoints.record(checkpoint, of_folder[0])
    checkpoints.require(checkpoint, of_folder[0])
    with pytest.raises(CannotGoOn, match=f"folder: made for {tmp_path}/a, came {tmp_path}/b"):
        checkpoints.require(checkpoint, of_folder[1])

"""What a checkpoint was made for, and who has it: asked before Spark starts."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock, PropertyMock

import pytest
from brokers import delete_before
from feeds import Feed
from labs import until
from py4j.protocol import Py4JNetworkError
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from workbook.cli import run
from workbook.cli.screen import Writes
from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.require import ABSENT, topic_ids
from workbook.spark import checkpoints
from workbook.spark.checkpoints import checkpoint_files, hold, planned, record, release, require
from workbook.spark.progress import Progress
from workbook.spark.runner import Running
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.stream_producer import StreamProducer
from workbook.systems import SYSTEMS
from workbook.systems.base import Job
from workbook.topics import Topic

MADE_FOR = {"system": "shop", "version": 3, "reads": {"clicks": "aaa"}, "lateness": None}


def begin(place: Path) -> None:
    """As Spark does, before a query's first micro-batch."""
    offsets = place / "0" / "offsets"
    offsets.mkdir(parents=True)
    (offsets / "0").write_text("v1")


def test_once_a_query_has_begun_its_own_identity_alone_fits(tmp_path: Path) -> None:
    place = tmp_path / "new" / "checkpoint"
    require(place, MADE_FOR)
    assert not place.exists()
    record(place, {"system": "another"})
    require(place, MADE_FOR)  # the other one never started
    record(place, MADE_FOR)
    begin(place)
    require(place, MADE_FOR)
    assert [path.name for path in place.glob("*.json*")] == [checkpoints.FILE]
    with pytest.raises(CannotGoOn, match="more: made for nothing, came True\nAsk"):
        require(place, MADE_FOR | {"more": True})
    (place / checkpoints.FILE).write_text("{")
    with pytest.raises(CannotGoOn, match="it cannot be read: it is of an older version"):
        require(place, MADE_FOR)
    (place / checkpoints.FILE).unlink()
    with pytest.raises(CannotGoOn, match="there is none: it is of an older version"):
        require(place, MADE_FOR)


def test_run_refuses_other_options_before_spark_starts(broker, topic, tmp_path) -> None:
    here, out = ["--in", topic("clicks").name, "--checkpoint", str(tmp_path)], topic("metrics").name

    def prepare(system: str, *words: str) -> None:
        run._prepare(broker, SYSTEMS[system], SYSTEMS[system].options([*here, *words]))

    prepare("page_views", "--out", out)
    begin(tmp_path)
    prepare("page_views", "--out", out)
    for system, words, says in (
        ("page_views", f"--out {out} --lateness 9s", "lateness: made for 5 seconds, came 9 second"),
        ("page_views", "", "counts: made for the views of each second, came the views of each p"),
        ("share_holders", "", "system: made for page_views, came share"),
        ("page_views", "--out m2", r"writes: made for \S+ \(\S+\), came m2 \(isn't there\)\nAsk"),
    ):
        with pytest.raises(CannotGoOn, match=says):
            prepare(system, *words.split())
    release(hold(tmp_path))


@pytest.mark.parametrize(
    "words", [["--timeout", "9 s"], ["--max-age", "9 s"], ["--max-lead", "9 s"]]
)
def test_a_merge_remembers_its_times_and_its_source(words: list[str]) -> None:
    merge = SYSTEMS["event_time_merge"]
    assert merge.remembers(merge.options(words)) != merge.remembers(merge.options([]))


def test_a_checkpoint_belongs_to_one_process_which_kill_9_ends(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from workbook.spark.checkpoints import hold\n"
        "hold(Path(sys.argv[1])); print('held', flush=True); time.sleep(600)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(CannotGoOn, match="another process runs a query on it"):
            hold(tmp_path)
    finally:
        other.send_signal(signal.SIGKILL)
        other.wait()
    first = hold(tmp_path)
    assert hold(tmp_path) is first
    release(first)
    second = hold(tmp_path)
    release(first)  # an old handle frees nothing
    assert hold(tmp_path) is second
    release(second)


def test_a_topic_recreated_under_a_running_query_ends_it_before_a_wrong_count(
    spark: Any, broker: Broker, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    made, config, system = topic("clicks"), broker.client_config(), SYSTEMS["page_views"]
    options = system.options(["--in", made.name, "--checkpoint", str(tmp_path)])
    made_for, ids = run._prepare(broker, system, options), topic_ids(config, [made.name])

    def send(count: int) -> None:
        with StreamProducer(config, made.name) as producer:
            producer.send_block(ClickStream(seed=1).block(0, count))

    def recreated() -> bool:
        broker.create(made)
        return topic_ids(config, [], [made.name]) not in ({made.name: ABSENT}, ids)

    class Recreates(Writes):
        def __call__(self, point: str) -> None:
            super().__call__(point)
            if point == "before-compute" and self.begun == 2:  # after it was planned
                broker.delete([made.name])
                until(recreated, "the new topic")
                send(5000)

    at = Recreates(lambda timeout: require(tmp_path, made_for(timeout)))
    send(1000)
    started = system.start(Job(spark, broker, options, tmp_path, at))
    started.running.process_all()
    counted = started.shown().rows
    send(1000)
    with pytest.raises(StreamingQueryException, match=r"reads: made for workbook-clicks|offset"):
        started.running.process_all()
    assert started.shown().rows == counted
    with pytest.raises(CannotGoOn, match=r"reads: made for \S*-clicks.* came \S*-clicks.*\n"):
        at.ask()
    assert topic_ids(config, [], ["nowhere"]) == {"nowhere": ABSENT}


def test_a_cut_topic_is_not_counted_again_over_the_seconds_of_a_former_run(broker, topic) -> None:
    made, out, config = topic("clicks"), topic("metrics"), broker.client_config()
    system = SYSTEMS["page_views"]
    options = system.options(["--in", made.name, "--out", out.name])
    for name in (made.name, out.name):
        with StreamProducer(config, name) as producer:
            producer.send_block(ClickStream(seed=1).block(0, 20))
    system.check_topics(broker, options)
    delete_before(config, made.name, 5)
    with pytest.raises(CannotGoOn, match="are gone, so counts would get smaller"):
        system.check_topics(broker, options)
    options.out = f"{out.name}.new"
    system.check_topics(broker, options)


# --- a checkpoint's files, as Spark names them ------------------------------------------------


PLAN = 'v1\n{"batchWatermarkMs":0,"conf":{}}\n{"clicks":{"0":%d}}'


def write(path: Path, at: float, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))


def test_each_kind_has_its_micro_batch_and_time_and_other_files_are_left_out(tmp_path) -> None:
    """A snapshot beside its changelog too: a thread of its own makes it, at any time."""
    for name in (
        "offsets/.7.crc", "offsets/7.compact", "metadata", "sources/0/0", "state/0/_metadata/v2/0",
        "state/0/_stateSchema/default/0_aea1", "state/0/0/.8.delta.crc", "state/0/0/8.snapshot",
        "state/0/1/SSTs/000008-153d.sst",
    ):  # fmt: skip
        write(tmp_path / name, 1)
    assert checkpoint_files(tmp_path) == []
    assert checkpoint_files(tmp_path / "there is none") == []
    for at, name in enumerate((
        "offsets/7", "state/0/0/8.delta", "state/0/1/8.changelog", "state/0/1/8.zip",
        "state/1/left-keyToNumValues/0/8_5f0c.changelog", "commits/7", "state/0/1/9.zip",
    )):  # fmt: skip
        write(tmp_path / name, at)
    assert sorted(checkpoint_files(tmp_path)) == [
        ("commits", 7, 5.0), ("offsets", 7, 0.0),
        ("state", 7, 1.0), ("state", 7, 2.0), ("state", 7, 4.0), ("state", 8, 6.0),
    ]  # fmt: skip


def test_up_to_which_offset_each_micro_batch_reads(tmp_path: Path) -> None:
    write(tmp_path / "offsets/0", 1, PLAN % 100)
    write(tmp_path / "offsets/1", 1, PLAN % 200)
    write(tmp_path / "offsets/2", 1, "v1\n{}\n" + '{"other":{"0":5}}\n{"clicks":{"0":300}}')
    write(tmp_path / "offsets/3", 1, "v1\n{}\n" + '{"clicks":{"0":300,"1":5}}')
    write(tmp_path / "offsets/4", 1, "v1\n{half")
    write(tmp_path / "offsets/5", 1)
    clamped = '{"offsets":{"clicks":{"0":400}},"tops":{}}'
    write(tmp_path / "offsets/6", 1, "v1\n{}\n" + clamped)
    assert planned(tmp_path, "clicks") == {0: 100, 1: 200, 2: 300, 6: 400}
    assert planned(tmp_path, "others") == {}
    assert planned(tmp_path / "there is none", "clicks") == {}


# --- a query that has ended, or whose Spark has -----------------------------------------------


@pytest.mark.parametrize(
    "gone", [ConnectionRefusedError("refused"), Py4JNetworkError("Gateway is not connected.")]
)
def test_a_query_can_be_stopped_after_spark_has_ended(gone: Exception, tmp_path: Path) -> None:
    query = Mock(id="1", **{"stop.side_effect": gone})
    type(query).isActive = PropertyMock(side_effect=gone)
    running = Running(query, Mock(), hold(tmp_path), Progress())
    assert not running.is_active
    running.stop()


def test_leaving_the_with_block_starts_no_query_again(tmp_path: Path) -> None:
    query, spark, started = Mock(id="1", isActive=False), Mock(), list[str]()
    running = Running(query, spark, hold(tmp_path), Progress())
    running.progress.ended.set()
    running.again = started.append  # type: ignore
    with pytest.raises(ValueError, match="NewSchema"), running:
        query.exception.return_value = ValueError("NewSchema")
    assert started == []


def test_a_query_goes_on_where_python_workers_did_not_start_in_time(
    spark: SparkSession, tmp_path: Path
) -> None:
    attempts, fails = tmp_path / "attempts", tmp_path / "fails"
    attempts.write_text("")

    def late(frames: Iterator[Any]) -> Iterator[Any]:
        with attempts.open("a") as file:
            file.write("1")
        if len(attempts.read_text()) <= int(fails.read_text()):
            raise OSError("Python worker failed to connect back")  # as Spark says it
        yield from frames

    feed = Feed(spark, tmp_path, "word STRING, offset INT")
    fails.write_text("2")
    feed.start(lambda rows: rows.coalesce(1).mapInPandas(late, rows.schema))
    assert feed.send({"word": "once"}) == [{"word": "once", "offset": 0}]
    fails.write_text("99")
    with pytest.raises(StreamingQueryException, match="failed to connect back"):
        feed.send({"word": "never"})
    feed.stop()

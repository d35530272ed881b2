"""What a checkpoint was made for, and who has it: asked before Spark starts."""

import signal
import subprocess
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient
from labs import until
from pyspark.errors import StreamingQueryException

from workbook.cli import run
from workbook.cli.screen import Writes
from workbook.errors import CannotGoOn
from workbook.kafka.broker import Broker
from workbook.kafka.require import ABSENT, topic_ids
from workbook.spark import checkpoints
from workbook.spark.checkpoints import hold, record, release, require
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


def test_before_anything_has_begun_everything_fits(tmp_path: Path) -> None:
    place = tmp_path / "new" / "checkpoint"
    require(place, MADE_FOR)
    assert not place.exists()
    record(place, {"system": "another"})
    require(place, MADE_FOR)  # the other one never started
    record(place, MADE_FOR)
    begin(place)
    require(place, MADE_FOR)
    assert [path.name for path in place.glob("*.json*")] == [checkpoints.FILE]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"version": 4}, "version: made for 3, came 4\nAsk"),
        ({"reads": {"clicks": "bbb"}}, r"reads: made for clicks \(aaa\), came clicks \(bbb\)"),
        ({"more": True}, "more: made for nothing, came True"),
    ],
)
def test_any_difference_is_refused(tmp_path: Path, other: dict[str, Any], says: str) -> None:
    record(tmp_path, MADE_FOR)
    begin(tmp_path)
    with pytest.raises(CannotGoOn, match=says):
        require(tmp_path, MADE_FOR | other)


@pytest.mark.parametrize(("damage", "says"), [(None, "there is none"), ("{", "cannot be read")])
def test_a_checkpoint_that_does_not_say_what_it_was_made_for_is_refused(
    tmp_path: Path, damage: str | None, says: str
) -> None:
    begin(tmp_path)
    if damage:
        (tmp_path / checkpoints.FILE).write_text(damage)
    with pytest.raises(CannotGoOn, match=f"{says}: it is of an older version"):
        require(tmp_path, MADE_FOR)


OPTIONS = {
    "system": "page_views",
    "source": "clicks",
    "dead_letters": "letters",
    "out": "metrics",
    "lateness": None,
    "with_events": False,
}


@pytest.mark.parametrize(
    ("other", "ids_now", "says"),
    [
        ({"lateness": "9 seconds"}, {}, "lateness: made for 5 seconds, came 9 seconds\nAsk"),
        ({"out": None}, {}, "counts: made for the views of each second, came the views of each p"),
        ({"system": "share_holders", "out": None}, {}, "system: made for page_views, came share"),
        ({}, {"clicks": "bbb"}, r"reads: made for clicks \(a\), came clicks \(bbb\)\nAsk"),
        ({"out": "m2"}, {}, r"writes: made for metrics \(c\), came m2 \(isn't there\)\nAsk"),
    ],
)
def test_run_refuses_other_options_before_spark_starts(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    other: dict[str, Any],
    ids_now: dict[str, str],
    says: str,
) -> None:
    ids = {"clicks": "a", "metrics": "c"}
    monkeypatch.setattr(
        run,
        "topic_ids",
        lambda _, names, maybe=(): {name: ids.get(name, ABSENT) for name in (*names, *maybe)},
    )
    monkeypatch.setattr(run, "require_topic", lambda config, topic: 1)
    monkeypatch.setattr("workbook.kafka.offsets.partition_offsets", lambda *asked: [])
    monkeypatch.setattr(Broker, "create", lambda *topics: None)
    nowhere = Broker("127.0.0.1:1", {})
    options = Namespace(**OPTIONS, checkpoint=str(tmp_path))
    run._prepare(nowhere, SYSTEMS["page_views"], options)
    begin(tmp_path)
    run._prepare(nowhere, SYSTEMS["page_views"], options)
    ids |= ids_now
    asked = Namespace(**{**vars(options), **other})
    with pytest.raises(CannotGoOn, match=says):
        run._prepare(nowhere, SYSTEMS[asked.system], asked)
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


def test_a_cut_topic_is_not_counted_again_over_the_seconds_of_a_former_run(
    broker: Broker, topic: Callable[..., Topic]
) -> None:
    made, out, config = topic("clicks"), topic("metrics"), broker.client_config()
    system = SYSTEMS["page_views"]
    options = system.options(["--in", made.name, "--out", out.name])
    for name in (made.name, out.name):
        with StreamProducer(config, name) as producer:
            producer.send_block(ClickStream(seed=1).block(0, 20))
    system.check_topics(broker, options)
    admin = AdminClient(config)
    [gone] = admin.delete_records([TopicPartition(made.name, 0, 5)]).values()
    gone.result(30)
    with pytest.raises(CannotGoOn, match="are gone, so counts would get smaller"):
        system.check_topics(broker, options)
    options.out = f"{out.name}.new"
    system.check_topics(broker, options)

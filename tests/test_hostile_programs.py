"""Whatever arrives, a program to take home goes on, and says what it has lost."""

import importlib.util
import re
import time
from argparse import Namespace
from collections import Counter, defaultdict, deque
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest
from brokers import commit, delete_before, message, produce
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from hostile import BEYOND, good, records, send
from labs import until

from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_messages
from workbook.topics import FOREVER, Topic, new_topic

AT = 1_767_225_600_000
COUNTED = {"event id 2^64", "an object 100 deep in place of a text", "half a surrogate pair"} | {
    "a name that is a number", "a name that is an object",
}  # fmt: skip
"""Hostile clicks with a readable type and time, which is all that the programs look at."""


def load(name: str) -> ModuleType:
    """A program as a module."""
    path = Path(__file__).parents[1] / "programs" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lost(said: str) -> int:
    """How many records the lines of a program call lost."""
    lines = re.findall(r"lost: (.*)", said)
    return sum(int(n) for line in lines for n in re.findall(r"(?:^|, )(\d+) ", line))


def newest(broker: Broker, name: str) -> dict[bytes, bytes]:
    """The last value of each key."""
    return {one.key(): one.value() for one in read_messages(broker.client_config(), name)}


def hostile_clicks(broker: Broker, beyond: bool) -> tuple[str, int, int, int]:
    """A topic of hostile clicks: its name, its end, how many are to be counted, and are lost."""
    name = new_topic("hostile", "programs").name
    broker.create(Topic(name, 1, {**FOREVER, **BEYOND, "max.message.bytes": "10000000"}))
    hostile, config = records("click", AT, beyond=beyond), broker.client_config()
    counted, reasons = send(config, name, "click", hostile, lambda n: good("click", n, AT))
    also = sum(each.name in COUNTED for each in hostile)
    other = 1  # of another type
    return name, 2 * len(hostile) + 1, counted + also, len(reasons) - also - other


def click(broker: Broker, topic: str, *seconds: int) -> None:
    """Send a page view at each of these seconds after AT."""
    values = (good("click", n, AT + second * 1000)[1] for n, second in enumerate(seconds))
    produce(broker.client_config(), topic, *((value, None, 0) for value in values))


def by_hand(module: ModuleType, broker: Broker, topic: str, out: str, end: int) -> dict:
    """Run commit_on_delivery.py until it has read up to this offset; return its metrics."""
    program = module.Program(broker.client_config(), topic, out, topic)
    say, deadline = program.say, time.monotonic() + 120

    def stop_at_the_end() -> None:
        say()
        assert time.monotonic() < deadline
        if (state := program.partitions.get(0)) and state.next == end:
            program.running = bool(state.sent or state.position is not state.asked)

    program.say = stop_at_the_end
    program.run()
    return {int(key[:-2]) - AT // 1000: int(n) for key, n in newest(broker, out).items()}


def test_no_record_ends_the_loop_and_each_is_said(broker, topic, capfd) -> None:
    module, out = load("commit_on_delivery"), topic("metrics").name
    clicks, end, counted, gone = hostile_clicks(broker, beyond=True)
    click(broker, clicks, 1)
    for _ in range(2):
        assert by_hand(module, broker, clicks, out, end + 1) == {0: counted}
    assert lost(capfd.readouterr().err) == gone


def test_a_full_queue_and_a_failed_commit_are_tried_again(
    broker, topic, monkeypatch, capfd
) -> None:
    module, clicks, out = load("commit_on_delivery"), topic().name, topic("metrics").name
    full, refused = [], []

    class Small(Producer):
        def __init__(self, config):
            super().__init__({**config, "queue.buffering.max.messages": 5})

        def produce(self, *args, **kwargs):
            try:
                super().produce(*args, **kwargs)
            except BufferError as error:
                full.append(error)
                raise

    class Refused(Consumer):
        def commit(self, offsets, asynchronous):
            if not refused:  # the first commit has more metadata than a broker takes
                refused.extend(offsets)
                place = offsets[0]
                offsets = [TopicPartition(place.topic, place.partition, place.offset, "x" * 9999)]
            return super().commit(offsets=offsets, asynchronous=asynchronous)

    monkeypatch.setattr(module, "Producer", Small)
    monkeypatch.setattr(module, "Consumer", Refused)
    click(broker, clicks, *range(200))
    assert by_hand(module, broker, clicks, out, 200) == dict.fromkeys(range(199), 1)
    assert full
    assert re.search("not committed.*metadata", capfd.readouterr().err, re.IGNORECASE)


def test_a_second_that_retention_has_cut_overwrites_nothing(broker, topic, capfd) -> None:
    module, clicks, out = load("commit_on_delivery"), topic().name, topic("metrics").name
    admin = AdminClient(broker.client_config())
    click(broker, clicks, *[0] * 6, 1, 1, 2)
    assert by_hand(module, broker, clicks, out, 9) == {0: 6, 1: 2}
    delete_before(broker.client_config(), clicks, 3)
    admin.delete_consumer_groups([clicks])[clicks].result()
    assert by_hand(module, broker, clicks, out, 9) == {0: 6, 1: 2}  # without a commit
    assert lost(capfd.readouterr().err) == 3
    click(broker, clicks, 2, 2, 3, 3, 3, 4)
    delete_before(broker.client_config(), clicks, 12)
    assert by_hand(module, broker, clicks, out, 15) == {0: 6, 1: 2}  # with one out of range
    assert lost(capfd.readouterr().err) == 2


def test_what_retention_takes_from_a_running_reader_is_said() -> None:
    module = load("commit_on_delivery")

    class Reader(module.Program):
        def __init__(self):
            self.partitions, self.lost, self.consumer = {}, Counter(), self

        def committed(self, places, timeout):
            return places  # none

        def get_watermark_offsets(self, place, timeout):
            return low, 99

    low, reader = 0, Reader()
    for offset in range(5):
        state = reader.state_of(message(None, offset=offset))
        state.views += 1
    low = 10
    assert reader.state_of(message(None, offset=10)).cut
    assert reader.lost == {"in a second that may be cut": 5}


def test_a_recreated_topic_and_a_group_without_rights_are_said(broker, topic, capsys) -> None:
    class Strict(AdminClient):
        """One group is somebody else's."""

        def list_consumer_group_offsets(self, asked, **more):
            if asked[0].group_id != "programs-secret":
                return super().list_consumer_group_offsets(asked, **more)
            refused = Future()
            refused.set_exception(KafkaException(KafkaError(KafkaError.GROUP_AUTHORIZATION_FAILED)))
            return {asked[0].group_id: refused}

    program, clicks, config = load("lag_by_group"), topic(), broker.client_config()
    admin, sampled = Strict(config), defaultdict(deque)

    def row() -> str:
        program.table(admin, sampled)
        out, err = capsys.readouterr()
        assert "no offsets of programs-secret: Broker: Group authorization failed" in err
        assert "\x1b" not in out
        return next(line for line in out.splitlines() if clicks.name in line)

    click(broker, clicks.name, *range(80))
    for group in ("programs-secret", "programs-\x1b[2Jstale"):
        commit(config, group, clicks.name, 80)
    assert row().split()[2:] == ["0", "0"]
    broker.delete([clicks.name])
    broker.create(clicks)
    click(broker, clicks.name, *range(90))
    for group in ("programs-secret", "programs-\x1b[2Jstale"):
        commit(config, group, clicks.name, 100)
    assert row().split()[2:] == ["recreated", "?"]
    commit(config, "programs-\x1b[2Jstale", clicks.name, 85)
    assert row().split()[2:4] == ["5", "≥"]  # as if it had never been seen before


@contextmanager
def on_spark(spark, program: ModuleType, options: dict, *more):
    """A program's query, in a session of its own of the tests' Spark."""
    session, listener = spark.newSession(), program.Losses()
    session.streams.addListener(listener)
    try:
        query = program.start(session, Namespace(**options), *more)
        try:
            yield query
            assert query.isActive, query.exception()
        finally:
            query.stop()
    finally:
        spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
        session.streams.removeListener(listener)


def views_per_second(broker: Broker, topic: str, out: str, checkpoint: Path) -> dict:
    """What views_per_second.py starts with."""
    own = {"kafka": broker.client_config(), "lateness": "5 seconds"}
    return {**own, "topic": topic, "out": out, "checkpoint": str(checkpoint)}


def test_no_record_ends_the_query_and_each_is_said(broker, topic, spark, tmp_path, capsys) -> None:
    program, out, second = load("views_per_second"), topic("metrics").name, b"%d" % (AT // 1000)
    clicks, _, counted, gone = hostile_clicks(broker, beyond=False)
    click(broker, clicks, 60)
    said = ""

    def says(words: str) -> bool:
        nonlocal said
        said += capsys.readouterr().err
        return words in said

    with on_spark(spark, program, views_per_second(broker, clicks, out, tmp_path)):
        until(lambda: newest(broker, out), "the first second", every=0.5)
        until(lambda: says("micro-batch 0, lost"), "the line of the micro-batch")
    assert newest(broker, out) == {second: b"%d" % counted}
    assert lost(said) == gone - 1  # a list is another click_type: Spark reads it as a text
    click(broker, clicks, 1, 1, 120)
    with on_spark(spark, program, views_per_second(broker, clicks, out, tmp_path)):
        until(lambda: len(newest(broker, out)) == 2, "another second", every=0.5)
        until(lambda: says(", lost: 1 seconds whose"), "the line of the late ones")
    assert newest(broker, out)[second] == b"%d" % counted


def test_a_new_checkpoint_writes_no_smaller_numbers(broker, topic, spark, tmp_path) -> None:
    program, clicks, out = load("views_per_second"), topic().name, topic("metrics").name
    admin, checkpoint = AdminClient(broker.client_config()), str(tmp_path / "new")
    options = Namespace(topic=clicks, out=out, checkpoint=checkpoint)

    def start() -> None:
        topics = admin.list_topics(timeout=60).topics
        program.refuse_smaller_numbers(spark, admin, topics, options)

    click(broker, clicks, 0, 0, 1)
    click(broker, out, 0)
    start()
    delete_before(broker.client_config(), clicks, 1)
    with pytest.raises(SystemExit, match="empty --out"):
        start()
    Path(checkpoint, "offsets").mkdir(parents=True)
    start()


def test_a_visit_is_halved_by_its_bytes() -> None:
    module = load("merge_visits")
    texts = ["観" * 9_000] * 99  # 891,000 characters
    found = module.parts(texts)
    assert [text for part in found for text in part] == texts
    assert max(sum(len(text.encode()) for text in part) for part in found) <= module.FULL

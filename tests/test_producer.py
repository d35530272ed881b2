"""Round trips through a real broker; and what is said when there is none."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import KafkaError, KafkaException
from labs import until

from workbook.errors import BrokerUnreachable, NoSuchStream
from workbook.kafka import producer as producers
from workbook.kafka.producer import HEADERS, DeliveringProducer, Delivery, Record, bounded
from workbook.kafka.readers import read_all
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.generators.positions import PositionStream
from workbook.streams.stream_producer import TICK_S, BackgroundStream, ClickProducer, Sent, generate
from workbook.topics import Topic, new_topic

STREAM = ClickStream(
    seed=9, rate=500, partitions=4, late_share=0.1, duplicate_share=0.05, bad_share=0.05
)


@pytest.fixture
def topic(topic: Callable[..., Topic]) -> Topic:
    return topic(partitions=4)


def sent_to(broker: Any, topic: Topic) -> pd.DataFrame:
    """Every record of the topic, partition by partition."""
    return read_all(broker.client_config(), topic.name).rename(columns={"timestamp": "arrival"})


def test_a_stream_arrives_as_it_was_generated(broker: Any, topic: Topic) -> None:
    count, heard = 30_000, []
    stream = STREAM.ending_by(int(time.time() * 1000), count)
    sent = generate(broker.client_config(), topic.name, stream, count, progress=heard.append)
    expected, records = stream.block(0, count).to_pandas(), sent_to(broker, topic)
    assert sent.events == count
    assert sent.messages == len(expected) == len(records)
    assert [h.events for h in heard] == [20_000, 30_000]
    columns = ["partition", "arrival", "key", "value"]
    by_partition = expected.sort_values("partition", kind="stable")[columns]
    found = records.sort_values(["partition", "offset"])[columns]
    # An empty value and none at all are two things, and arrive as such.
    assert found.to_numpy().tolist() == by_partition.to_numpy().tolist()


class FakeTime:
    """A clock that only moves when somebody sleeps."""

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_pacing_follows_the_clock_with_a_speed(broker: Any, topic: Topic) -> None:
    clock = FakeTime(time.time() - 3600)
    count, speed, heard = 9000, 4.0, []
    stream = replace(STREAM, daily=0).ending_by(int(clock.now * 1000), count, speed)

    def check(sent: Sent) -> None:
        heard.append((sent.seconds, sent.events))
        assert stream.arrivals(pd.Series([sent.events - 1]).to_numpy())[0] <= clock.now * 1000 + 1

    sent = generate(
        broker.client_config(), topic.name, stream, count,
        speed=speed, progress=check, clock=clock, sleep=clock.sleep,
    )  # fmt: skip
    assert sent.seconds == pytest.approx(count / STREAM.rate / speed, abs=2 * TICK_S)
    a_tick = 500 * speed * TICK_S + 5
    assert all(abs(events - seconds * 500 * speed) <= a_tick for seconds, events in heard)
    assert len(heard) > 40


def test_a_clock_ahead_of_the_real_one_and_too_few_partitions_are_refused(broker, topic) -> None:
    ahead = replace(STREAM, start_ms=int(time.time() * 1000) + 60_000)
    for stream, words in ((ahead, "ending_by"), (replace(STREAM, partitions=40), "has 4 part")):
        with pytest.raises(NoSuchStream, match=words):
            generate(broker.client_config(), topic.name, stream, 1000)


class Scripted:
    """A client whose queue is ``full`` until it has been polled so often.

    It refuses a record without a value. The broker answers each other one with the next code; None:
    delivered.
    """

    def __init__(self, *codes: int | None, full: int = 0) -> None:
        self.codes, self.full, self.waiting = list(codes), full, list[Any]()

    def list_topics(self, *asked: Any, **how: Any) -> None:
        pass

    def poll(self, seconds: float) -> None:
        self.full -= 1

    def produce(self, topic: str, value: bytes | None, *more: Any, on_delivery: Any, **rest: Any):
        if self.full > 0:
            raise BufferError
        if value is None:
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
        self.waiting.append(on_delivery)

    def flush(self, seconds: float) -> int:
        reported = self.waiting[: len(self.codes)]
        for report, code in zip(reported, self.codes, strict=False):
            report(None if code is None else KafkaError(code), None)
        self.waiting = self.waiting[len(reported) :]
        return len(self.waiting)


def test_a_producer_waits_where_its_queue_is_full_and_counts_what_is_refused() -> None:
    client, settings = Scripted(None, full=3), dict[str, Any]()

    def connect(its: dict[str, Any]) -> Scripted:
        settings.update(its)
        return client

    producer = DeliveringProducer({"log_level": 3}, "clicks", connect=connect)
    producer.produce(b"1")
    assert (len(client.waiting), client.full) == (1, 0)
    assert settings["enable.idempotence"]
    assert settings["message.timeout.ms"] == 60_000
    assert settings["log_level"] == 3, "the client's own settings win"
    producer.close()
    with pytest.raises(BrokerUnreachable, match="at least 1 records were not delivered"), producer:
        producer.produce(None)


def test_single_clicks_say_where_they_landed(broker: Any, topic: Topic) -> None:
    clicks = [Click(i, ClickType.PAGE, "/home", 1_000 + i, "Firefox", "tab-1") for i in range(5)]
    began = int(time.time() * 1000)
    with ClickProducer(broker.client_config(), topic.name) as shop:
        landed = [shop.send(click) for click in clicks]
        shop.send_now(None)
    assert [where.offset for where in landed] == list(range(5))
    assert all(began <= where.arrival <= time.time() * 1000 for where in landed)
    assert len({where.partition for where in landed}) == 1
    records = sent_to(broker, topic)
    assert [r for r in records["value"] if r is not None] == [c.to_json() for c in clicks]
    assert set(records["key"]) == {b"tab-1", None}


@pytest.mark.parametrize("stream", [STREAM, PositionStream(partitions=4)])
def test_a_generator_names_the_partition_that_a_key_chooses(broker, topic, stream) -> None:
    count = 500
    rows = stream.ending_by(int(time.time() * 1000), count).block(0, count).to_pandas()
    keyed = rows.dropna(subset="key")
    with DeliveringProducer(broker.client_config(), topic.name) as producer:
        producer.produce_all((row.value, row.key, -1, row.arrival) for row in keyed.itertuples())
    columns = ["partition", "arrival", "key", "value"]
    expected = keyed.sort_values("partition", kind="stable")[columns]
    found = sent_to(broker, topic).sort_values(["partition", "offset"])[columns]
    assert found.to_numpy().tolist() == expected.to_numpy().tolist()
    assert found["partition"].nunique() == STREAM.partitions


def test_visitors_come_until_they_are_stopped_or_their_cell_is_run_again(broker: Any) -> None:
    first, again, other = (
        new_topic("clicks", notebook, STREAM.partitions) for notebook in ("07_a", "07_a", "07_b")
    )
    broker.create(first, again, other)
    stream = replace(STREAM, rate=2000).ending_by(int(time.time() * 1000), 1, speed=1)
    old, elsewhere, new = (
        BackgroundStream(broker.client_config(), topic.name, stream)
        for topic in (first, other, again)
    )
    until(lambda: not old._loop._thread.is_alive(), "the end of the first visitors")
    assert elsewhere._loop._thread.is_alive()
    until(lambda: new.sent.events > 500, "visitors")
    old.stop()
    elsewhere.stop()
    sent = new.stop()
    values = stream.block(0, sent.events)["value"].to_pylist()
    assert sorted(map(str, sent_to(broker, again)["value"])) == sorted(map(str, values))


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        ([KafkaError._MSG_TIMED_OUT, None], "timed out.*it is full"),
        ([None, KafkaError.TOPIC_AUTHORIZATION_FAILED], "authorization failed"),
        ([KafkaError._TRANSPORT, KafkaError.TOPIC_AUTHORIZATION_FAILED], "authorization failed"),
        ([None], "it is full"),
    ],
)
def test_what_is_not_delivered_ends_the_batch(
    monkeypatch: pytest.MonkeyPatch, codes: list[int | None], why: str
) -> None:
    """That batch, and no later one of the same producer."""
    records, scripted = [Record(b"1", b"a"), Record(b"2", b"b")], Scripted(*codes)
    config = {"bootstrap.servers": "b:9"}
    producer = DeliveringProducer(config, "visits", patience=2, connect=lambda _: scripted)
    monkeypatch.setattr(producers, "_connected", lambda *of: (1000, producer))
    monkeypatch.setattr(producers, "not_taken", lambda *of: "it is full")
    with pytest.raises(BrokerUnreachable, match=rf"take records into .*{why}.* Start again"):
        Delivery(config, "visits", patience=2).send(records)
    scripted.codes, scripted.waiting = [None], []
    assert Delivery(config, "visits").send(records[:1]) == 1


def test_another_batch_of_the_same_producer_takes_no_failure_with_it(monkeypatch) -> None:
    """Of two queries of one process, say: each must hear what its own records met."""
    config, scripted = {"bootstrap.servers": "b:9"}, Scripted(KafkaError._MSG_TIMED_OUT)
    producer = DeliveringProducer(config, "visits", patience=2, connect=lambda _: scripted)
    monkeypatch.setattr(producers, "_connected", lambda *of: (1000, producer))
    monkeypatch.setattr(producers, "not_taken", lambda *of: "it is full")

    def with_another_between() -> Iterator[Record]:
        yield Record(b"1", b"a")
        producer.flush()
        scripted.codes = [None]
        assert Delivery(config, "visits").send([Record(b"2", b"b")]) == 1

    with pytest.raises(BrokerUnreachable, match=r"timed out.* Start again"):
        Delivery(config, "visits").send(with_another_between())


def test_a_limit_that_nobody_tells_is_asked_for_again_and_never_guessed(monkeypatch) -> None:
    """A guess of 1 MB would put larger rows aside, also once the broker answers again."""
    answers: list[Any] = [KafkaException(KafkaError(KafkaError._TRANSPORT)), 5_000_000]

    def largest(config: Any, topic: str) -> int:
        if isinstance(answers[0], Exception):
            raise answers.pop(0)
        return answers[0]

    monkeypatch.setattr(producers, "largest_record", largest)
    assert bounded({}, "clicks")[0] == 5_000_000 - HEADERS
    answers[:] = [KafkaException(KafkaError(KafkaError._TIMED_OUT))] * 5
    with pytest.raises(BrokerUnreachable, match="for 0 s"):
        bounded({"bootstrap.servers": "b:9"}, "clicks", patience=0)

"""Round trips through a real broker; and what is said when there is none."""

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from confluent_kafka import KafkaError, KafkaException
from labs import until

from workbook.errors import BrokerUnreachable, NoSuchStream, TopicMissing
from workbook.kafka import producer as producers
from workbook.kafka.producer import HEADERS, DeliveringProducer, Delivery, Record, bounded
from workbook.kafka.readers import read_all
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.positions import Position
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.generators.positions import PositionStream
from workbook.streams.stream_producer import TICK_S, BackgroundStream, ClickProducer, Sent, generate
from workbook.topics import Topic, new_compacted_topic, new_topic

STREAM = ClickStream(
    seed=9, rate=500, partitions=4, late_share=0.1, duplicate_share=0.05, bad_share=0.05
)


@pytest.fixture
def topic(broker: Any) -> Topic:
    topic = new_topic("clicks", "test-producer", 4)
    broker.create(topic)
    return topic


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


def test_records_the_broker_refuses_surface(broker: Any) -> None:
    topic = replace(new_topic("clicks", "test-refused", 4), config={"max.message.bytes": "100"})
    broker.create(topic)
    with pytest.raises(BrokerUnreachable, match="not delivered"):
        generate(broker.client_config(), topic.name, STREAM, 5000)


class FullClient:
    """A client whose queue is full for a while, and that refuses a record without a value."""

    def __init__(self, settings: dict[str, Any], full: int = 3) -> None:
        self.settings, self.full, self.polled, self.taken = settings, full, 0, list[Any]()

    def produce(self, topic: str, value: bytes | None, *record: Any, **rest: Any) -> None:
        if self.polled < self.full:
            raise BufferError
        if value is None:
            raise KafkaException(KafkaError(KafkaError.MSG_SIZE_TOO_LARGE))
        self.taken.append(value)

    def list_topics(self, topic: str, timeout: float) -> None:
        pass

    def poll(self, seconds: float) -> None:
        self.polled += 1

    def flush(self, seconds: float) -> int:
        return 0


def test_a_producer_waits_where_its_queue_is_full_and_counts_what_is_refused() -> None:
    clients = list[FullClient]()

    def connect(settings: dict[str, Any]) -> FullClient:
        clients.append(FullClient(settings))
        return clients[0]

    producer = DeliveringProducer({"log_level": 3}, "clicks", connect=connect)
    producer.produce(b"1")
    assert (clients[0].taken, clients[0].polled) == ([b"1"], 3)
    assert clients[0].settings["enable.idempotence"]
    assert clients[0].settings["message.timeout.ms"] == 60_000
    assert clients[0].settings["log_level"] == 3, "the client's own settings win"
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


def test_a_generator_names_the_partition_that_a_key_chooses(broker: Any, topic: Topic) -> None:
    count = 500
    clicks = STREAM.ending_by(int(time.time() * 1000), count).block(0, count).to_pandas()
    keyed = clicks.dropna(subset="key")
    with DeliveringProducer(broker.client_config(), topic.name) as producer:
        producer.produce_all((row.value, row.key, -1, row.arrival) for row in keyed.itertuples())
    columns = ["partition", "arrival", "key", "value"]
    expected = keyed.sort_values("partition", kind="stable")[columns]
    found = sent_to(broker, topic).sort_values(["partition", "offset"])[columns]
    assert found.to_numpy().tolist() == expected.to_numpy().tolist()
    assert found["partition"].nunique() == STREAM.partitions


def test_visitors_keep_coming_until_they_are_stopped(broker: Any, topic: Topic) -> None:
    stream = replace(STREAM, rate=2000).ending_by(int(time.time() * 1000), 1, speed=1)
    visitors = BackgroundStream(broker.client_config(), topic.name, stream)
    until(lambda: visitors.sent.events > 500, "visitors")
    sent = visitors.stop()
    values = stream.block(0, sent.events)["value"].to_pylist()
    assert sorted(map(str, sent_to(broker, topic)["value"])) == sorted(map(str, values))


def test_visitors_of_a_cell_that_is_run_again_end_the_ones_before(broker: Any) -> None:
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
    assert new._loop._thread.is_alive()
    for visitors in (old, elsewhere, new):
        visitors.stop()


def test_visitors_say_at_the_end_what_kept_them_out(broker: Any) -> None:
    visitors = BackgroundStream(broker.client_config(), "no-such-topic", STREAM)
    with pytest.raises(TopicMissing):
        visitors.stop()


class Scripted:
    """A producer whose broker answers each record with the next code; None: delivered."""

    def __init__(self, *codes: int | None) -> None:
        self.codes, self.waiting = list(codes), list[Any]()

    def list_topics(self, *asked: Any, **how: Any) -> None:
        pass

    def produce(self, *record: Any, on_delivery: Any, **rest: Any) -> None:
        self.waiting.append(on_delivery)

    def flush(self, seconds: float) -> int:
        reported = self.waiting[: len(self.codes)]
        for report, code in zip(reported, self.codes, strict=False):
            report(None if code is None else KafkaError(code), None)
        self.waiting = self.waiting[len(reported) :]
        return len(self.waiting)


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


# --- positions in a compacted topic -----------------------------------------------------------


BOB = Position("Bob", "AAPL", 10, "NASDAQ")


def test_a_position_sent_by_hand_lands_where_the_stream_puts_it(broker: Any) -> None:
    topic = new_compacted_topic("positions", "test-compaction", 5)
    broker.create(topic)
    stream = PositionStream(partitions=5, positions=40)
    placed = stream.expected(0, 200).set_index("position")["partition"]
    with DeliveringProducer(broker.client_config(), topic.name) as producer:
        for position in placed.index.unique():
            assert (
                producer.send_now(BOB.to_json(), position.encode()).partition
                == placed.loc[[position]].iloc[0]
            )

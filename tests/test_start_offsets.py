"""Where to read on without a checkpoint: what the last merged messages say, and what is left."""

import json
import time
from collections.abc import Callable

import pytest
from brokers import delete_before
from confluent_kafka import Producer
from labs import until

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.require import topic_ids
from workbook.kafka.start_offsets import EARLIEST, HEADER, headers, look_up
from workbook.topics import PREFIX, Topic

Make = Callable[..., Topic]


class Sink:
    """A sink and two topics of two partitions with ten records each."""

    def __init__(self, broker: Broker, make: Make) -> None:
        self.config = broker.client_config()
        self.visits, self.tracking, self.orders = (make(name, partitions=2) for name in "abc")
        self.topics = [self.tracking.name, self.orders.name]
        self.ids = topic_ids(self.config, self.topics)
        for topic in self.topics:
            with DeliveringProducer(self.config, topic) as producer:
                for number in range(20):
                    producer.produce(b"x", None, number % 2)

    def say(self, partition: int, *offsets: int | None, **ids: str) -> None:
        """Write a merged message; ``ids`` by the names a to c stand for other topics."""
        named = {t: ids.get(t.removeprefix(PREFIX)[0], of) for t, of in self.ids.items()}
        self.write(partition, headers(named, offsets))

    def write(self, partition: int, says: dict[str, bytes], times: int = 1) -> None:
        with DeliveringProducer(self.config, self.visits.name) as producer:
            for _ in range(times):
                producer.produce(b"{}", b"v", partition, headers=says)

    def in_transaction(self, topic: str, says: dict[str, bytes]) -> Producer:
        """Write a record to partition 0 in a transaction that stays open."""
        writer = Producer({**self.config, "transactional.id": topic})
        writer.init_transactions(60)
        writer.begin_transaction()
        writer.produce(topic, b"{}", partition=0, headers=says)
        writer.flush(30)
        return writer

    def found(self) -> list[list[int]]:
        found = look_up(self.config, self.visits.name, self.topics)
        return [list(of.values()) for of in found.offsets.values()]

    def notes(self) -> list[str]:
        return look_up(self.config, self.visits.name, self.topics).notes


@pytest.fixture
def sink(broker: Broker, topic: Make) -> Sink:
    return Sink(broker, topic)


def test_the_last_record_of_each_partition_decides(sink: Sink) -> None:
    sink.say(0, 2, 3)
    sink.say(0, 4, 5)
    sink.say(1, 10, None)  # the end is an offset like any other; of orders nothing had arrived
    assert sink.found() == [[4, 10], [5, EARLIEST]]
    assert look_up(sink.config, sink.visits.name, sink.topics).to_json() == (
        f'{{"{sink.topics[0]}": {{"0": 4, "1": 10}}, "{sink.topics[1]}": {{"0": 5, "1": -2}}}}'
    )


def test_a_sink_that_says_nothing_begins_with_the_first_record(sink: Sink) -> None:
    assert sink.found() == [[EARLIEST] * 2] * 2
    sink.say(0, 2, 3)
    sink.say(1, 6, 7)
    delete_before(sink.config, sink.visits.name, 1)
    assert sink.found() == [[EARLIEST, 6], [EARLIEST, 7]]
    assert sink.notes() == []


def test_records_of_others_are_passed_over_however_many(sink: Sink) -> None:
    """One topic alone is another merge's; the last of these is nested too deeply."""
    sink.write(1, {HEADER: json.dumps(dict.fromkeys(sink.topics, 7)).encode()})  # without ids
    sink.say(0, 4, 5)
    for said in (b"no JSON", b"\xff", b'{"%s":3.0}', b'{"%s":1}', b"[" * 200_000):
        sink.write(0, {HEADER: said.replace(b"%s", sink.topics[0].encode())})
    sink.write(0, {"other": b"header"}, times=100_000)
    began = time.monotonic()
    assert sink.found() == [[4, 7], [5, 7]]
    assert time.monotonic() - began < 10, "in steps of one size this takes ten times as long"


def test_offsets_that_are_deleted_are_named_and_the_first_one_left_is_next(sink: Sink) -> None:
    sink.say(0, 2, 3)
    sink.say(1, 0, 7)
    delete_before(sink.config, sink.topics[0], 5)
    delete_before(sink.config, sink.topics[0], 1, partition=1)
    delete_before(sink.config, sink.topics[1], 3)
    assert sink.found() == [[EARLIEST, EARLIEST], [3, 7]]
    assert sink.notes() == [
        f"Offsets 2 to 4 of partition 0 of {sink.topics[0]} are deleted.",
        f"Offsets 0 to 0 of partition 1 of {sink.topics[0]} are deleted.",
    ]


def test_a_recreated_topic_is_read_from_its_first_record(sink: Sink) -> None:
    """Its id shows it, however long it is by now."""
    sink.say(0, 4, 4, b="another topic's")
    sink.say(1, 2, 2)
    sink.say(1, 8, 8, b="another topic's")  # an older record says enough
    assert sink.found() == [[EARLIEST, 2], [EARLIEST, 2]]
    sink.write(0, {HEADER: json.dumps(dict.fromkeys(sink.topics, 11)).encode()})  # without ids
    assert sink.found() == [[EARLIEST, 2], [EARLIEST, 2]], "beyond the end"


def test_an_open_transaction_holds_nothing_up_and_an_aborted_one_says_nothing(sink: Sink) -> None:
    sink.say(0, 10, 5)
    sink.say(1, 6, 7)
    reading = sink.in_transaction(sink.topics[0], {})  # its source goes on behind this one
    sink.say(0, 11, 5)
    writing = sink.in_transaction(sink.visits.name, headers(sink.ids, [9, 9]))
    sink.say(0, 8, 8)
    began = time.monotonic()
    assert sink.found() == [[11, 6], [5, 7]]
    assert time.monotonic() - began < 30
    for writer in (reading, writing):
        writer.abort_transaction(60)
    delete_before(sink.config, sink.visits.name, 2)
    # The broker shows the end of a transaction a moment later.
    until(lambda: sink.found()[0][0] == 8, "the end of the transactions", within=30)
    assert sink.found() == [[8, 6], [8, 7]]


def test_another_choice_decides_and_is_asked_once_a_partition(sink: Sink) -> None:
    sink.say(0, 4, None)
    asked: list[tuple[int | None, int, int]] = []

    def choose(said: int | None, first: int, end: int) -> int:
        asked.append((said, first, end))
        return len(asked)

    found = look_up(sink.config, sink.visits.name, sink.topics, choose=choose)
    assert asked == [(4, 0, 10), (None, 0, 10), (EARLIEST, 0, 10), (None, 0, 10)]
    assert [list(of.values()) for of in found.offsets.values()] == [[1, 2], [3, 4]]

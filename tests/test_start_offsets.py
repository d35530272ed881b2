"""Where to read on without a checkpoint: what the last merged messages say, and what is left."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from workbook.errors import WorkbookError
from workbook.kafka.broker import Broker
from workbook.kafka.identity import topic_ids
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.start_offsets import (
    EARLIEST,
    HEADER,
    LATEST,
    Start,
    begin,
    headers,
    look_up,
    where_to_begin,
)
from workbook.systems import SYSTEMS
from workbook.systems.merge_start import where_to_start
from workbook.topics import Topic

Make = Callable[..., Topic]


class Sink:
    """A sink and two topics of two partitions with ten records each."""

    def __init__(self, broker: Broker, make: Make) -> None:
        self.config = broker.client_config()
        self.visits, self.tracking, self.orders = (make(name, partitions=2) for name in "abc")
        self.topics = [self.tracking.name, self.orders.name]
        for topic in self.topics:
            with DeliveringProducer(self.config, topic) as producer:
                for number in range(20):
                    producer.produce(b"x", None, number % 2)

    def say(self, partition: int, *offsets: int | None, value: bytes = b"{}") -> None:
        with DeliveringProducer(self.config, self.visits.name) as producer:
            producer.produce(value, b"v", partition, headers=headers(self.topics, offsets))

    def say_nothing(self, partition: int, times: int = 1, said: bytes | None = None) -> None:
        with DeliveringProducer(self.config, self.visits.name) as producer:
            for _ in range(times):
                more = None if said is None else {HEADER: said}
                producer.produce(b"foreign", None, partition, headers=more)

    def look_up(self) -> Start:
        return look_up(self.config, self.visits.name, self.topics, 2)

    def found(self) -> list[list[int]]:
        return [list(of.values()) for of in self.look_up().offsets.values()]

    def start(self, place: Path, from_offsets: dict[str, Any] | None = None) -> str:
        """As a run without a checkpoint begins; it reads and emits nothing."""
        options = Namespace(out=self.visits.name, from_offsets=from_offsets)
        return where_to_start(self.config, options, self.topics, 2, place)

    def delete_before(self, topic: str, partition: int, offset: int) -> None:
        where = TopicPartition(topic, partition, offset)
        admin = AdminClient(self.config)
        admin.delete_records([where])[where].result(30)


@pytest.fixture
def sink(broker: Broker, topic: Make) -> Sink:
    return Sink(broker, topic)


def test_a_new_sink_begins_with_the_first_record_and_says_so(sink: Sink) -> None:
    found = sink.look_up()
    assert found.new
    assert sink.found() == [[EARLIEST, EARLIEST]] * 2
    begin(sink.config, sink.visits.name, 2, found.known())
    again = sink.look_up()
    assert (again.new, again.notes) == (False, [])
    assert sink.found() == [[0, 0]] * 2


def test_what_is_deleted_before_the_first_visit_is_written_is_named(sink: Sink) -> None:
    sink.delete_before(sink.topics[0], 0, 2)
    begin(sink.config, sink.visits.name, 2, sink.look_up().known())
    assert sink.look_up().notes == []
    sink.delete_before(sink.topics[0], 0, 5)
    [note] = sink.look_up().notes
    assert note == f"Offsets 2 to 4 of partition 0 of {sink.topics[0]} are deleted."


def test_offsets_of_ones_own_are_known_by_number(sink: Sink) -> None:
    sink.delete_before(sink.topics[0], 0, 5)
    found = sink.look_up()
    found.offsets = {sink.topics[0]: {0: EARLIEST, 1: LATEST}}
    assert found.known() == {sink.topics[0]: {0: 5, 1: 10}}


def test_a_topic_of_which_nothing_had_come_may_have_lost_something(sink: Sink) -> None:
    sink.say(0, 4, None)
    sink.say(1, 4, 5)
    sink.delete_before(sink.topics[1], 0, 3)
    [note] = sink.look_up().notes
    where = f"partition 0 of {sink.topics[1]}"
    assert note == f"Nothing of {where} had been merged, and its offsets before 3 are deleted."


def test_the_last_record_of_each_partition_decides(sink: Sink) -> None:
    sink.say(0, 2, 3)
    sink.say(0, 4, 5)
    sink.say(1, 7, None)  # of the second topic nothing had come
    assert sink.found() == [[4, 7], [5, EARLIEST]]
    assert sink.look_up().to_json() == (
        f'{{"{sink.topics[0]}": {{"0": 4, "1": 7}}, "{sink.topics[1]}": {{"0": 5, "1": -2}}}}'
    )


def test_records_of_others_are_passed_over_however_many(sink: Sink) -> None:
    sink.say(0, 4, 5)
    sink.say_nothing(0, times=1200)
    sink.say_nothing(0, said=b"no JSON")
    sink.say_nothing(0, said=b"[1]")
    sink.say(1, 6, 7)
    assert sink.found() == [[4, 6], [5, 7]]


def test_records_that_are_deleted_are_named_and_the_first_one_left_is_next(sink: Sink) -> None:
    sink.say(0, 2, 3)
    sink.say(1, 6, 7)
    sink.delete_before(sink.topics[0], 0, 5)
    assert sink.found() == [[EARLIEST, 6], [3, 7]]
    [note] = sink.look_up().notes
    assert note == f"Offsets 2 to 4 of partition 0 of {sink.topics[0]} are deleted."


def test_a_topic_that_was_made_anew_is_read_from_its_first_record(sink: Sink) -> None:
    sink.say(0, 99, 3)
    sink.say(1, 10, 10)  # the end is no loss
    assert sink.found() == [[EARLIEST, 10], [3, 10]]
    assert "ends at 10, before 99" in " ".join(sink.look_up().notes)


def test_a_topic_that_was_made_anew_and_is_longer_now_is_read_from_its_first_record(
    sink: Sink,
) -> None:
    ids = topic_ids(sink.config, sink.topics)
    for partition in (0, 1):
        with DeliveringProducer(sink.config, sink.visits.name) as producer:
            says = headers(sink.topics, [8, 9], {**ids, sink.topics[0]: "of another topic"})
            producer.produce(b"{}", b"v", partition, headers=says)
    assert sink.found() == [[EARLIEST, EARLIEST], [9, 9]]
    notes = sink.look_up().notes
    assert len(notes) == 2
    where = f"Partition 0 of {sink.topics[0]}"
    assert notes[0] == f"{where} was made anew: what wasn't merged of the one before is gone."
    begin(sink.config, sink.visits.name, 2, sink.look_up().known())
    assert sink.found() == [[0, 0], [9, 9]]
    assert sink.look_up().notes == []


def test_a_sink_that_has_lost_what_it_said_starts_at_the_end_and_says_so(sink: Sink) -> None:
    sink.say(0, 2, 3)
    sink.say(1, 6, 7)
    sink.delete_before(sink.visits.name, 0, 1)
    assert sink.found() == [[LATEST, 6], [LATEST, 7]]
    assert len(sink.look_up().notes) == 2
    where = f"partition 0 of {sink.topics[0]}"
    said = f"No record says where to begin in {where}: offsets 0 to 9 are passed over."
    assert sink.look_up().notes[0] == said


def test_a_choice_of_the_end_is_named(sink: Sink) -> None:
    sink.say(0, 2, 3)
    sink.say(1, 6, 7)
    found = look_up(sink.config, sink.visits.name, sink.topics, 2, choose=lambda *of: LATEST)
    where = f"partition 0 of {sink.topics[0]}"
    assert len(found.notes) == 4
    assert found.notes[0] == f"It begins at the end of {where}: offsets 0 to 9 are passed over."


def test_offsets_to_begin_with_are_said_too(sink: Sink) -> None:
    given = {sink.topics[0]: {0: 3, 1: EARLIEST}, sink.topics[1]: {0: 4, 1: 5}}
    begin(sink.config, sink.visits.name, 2, given)
    assert sink.found() == [[3, EARLIEST], [4, 5]]


@pytest.mark.parametrize(
    ("said", "first", "end", "begins"),
    [
        (4, 0, 10, 4),
        (0, 0, 10, 0),  # an offset like any other
        (10, 0, 10, 10),  # nothing has come since
        (5, 5, 10, 5),
        (0, 0, 0, 0),
        (4, 5, 10, EARLIEST),  # deleted
        (4, 10, 10, EARLIEST),  # with all the others
        (11, 0, 10, EARLIEST),  # the topic was made anew
        (3, 0, 0, EARLIEST),
        (EARLIEST, 0, 10, EARLIEST),
        (EARLIEST, 5, 10, EARLIEST),
        (None, 0, 10, LATEST),
        (None, 0, 0, LATEST),
    ],
)
def test_where_to_begin_in_a_partition(said: int | None, first: int, end: int, begins: int) -> None:
    assert where_to_begin(said, first, end) == begins


def test_another_choice_decides_and_is_asked_once_a_partition(sink: Sink) -> None:
    sink.say(0, 4, None)
    asked: list[tuple[int | None, int, int]] = []

    def choose(said: int | None, first: int, end: int) -> int:
        asked.append((said, first, end))
        return len(asked)

    found = look_up(sink.config, sink.visits.name, sink.topics, 2, choose=choose)
    assert asked == [(4, 0, 10), (EARLIEST, 0, 10), (EARLIEST, 0, 10), (EARLIEST, 0, 10)]
    assert [list(of.values()) for of in found.offsets.values()] == [[1, 3], [2, 4]]
    assert found.notes == []  # it passes nothing over


def test_a_new_sink_is_no_loss_whatever_is_deleted(sink: Sink) -> None:
    sink.delete_before(sink.topics[0], 0, 5)
    assert (sink.look_up().new, sink.look_up().notes) == (True, [])


def test_a_partition_that_never_had_a_record_begins_with_the_first(sink: Sink) -> None:
    sink.say(0, 4, 5)
    assert sink.found() == [[4, EARLIEST], [5, EARLIEST]]
    assert sink.look_up().notes == []
    assert not sink.look_up().new


def test_both_ends_of_what_the_source_has_lose_nothing(sink: Sink) -> None:
    sink.delete_before(sink.topics[0], 0, 3)
    sink.say(0, 3, 10)
    sink.say(1, 10, 0)
    assert sink.found() == [[3, 10], [10, 0]]
    assert sink.look_up().notes == []


def test_a_marker_may_say_0(sink: Sink) -> None:
    begin(sink.config, sink.visits.name, 2, {topic: {0: 0, 1: 0} for topic in sink.topics})
    sink.delete_before(sink.topics[0], 1, 2)
    [note] = sink.look_up().notes
    assert "Offsets 0 to 1" in note


@pytest.mark.parametrize("said", [b'{"%s": 3.0}', b'{"%s": true}', b'{"%s": "3"}'])
def test_what_is_no_offset_says_nothing(sink: Sink, said: bytes) -> None:
    sink.say_nothing(0, said=said % sink.topics[0].encode())
    assert sink.found()[0][0] == EARLIEST


def test_a_header_that_is_nested_too_deeply_is_passed_over(sink: Sink) -> None:
    sink.say(0, 4, 5)
    sink.say_nothing(0, said=b"[" * 200_000)
    assert sink.found()[0][0] == 4


def test_many_partitions_take_no_time(broker: Broker, topic: Make) -> None:
    source, visits = topic("tracking", partitions=64), topic("visits", partitions=64)
    begin(broker.client_config(), visits.name, 64, {source.name: dict.fromkeys(range(64), 0)})
    began = time.monotonic()
    found = look_up(broker.client_config(), visits.name, [source.name], 64)
    assert list(found.offsets[source.name].values()) == [0] * 64
    assert time.monotonic() - began < 30  # of which a fetch that waits took 1.5 s each


def test_an_open_transaction_of_somebody_else_hides_nothing(sink: Sink) -> None:
    other = Producer({**sink.config, "transactional.id": sink.visits.name})
    other.init_transactions(60)
    other.begin_transaction()
    other.produce(sink.visits.name, b"foreign", partition=0)
    other.flush(30)
    sink.say(0, 4, 5)
    sink.say(1, 6, 7)
    began = time.monotonic()
    assert sink.found() == [[4, 6], [5, 7]]
    assert time.monotonic() - began < 30
    other.abort_transaction(60)


def test_a_start_at_the_end_says_so_and_the_next_one_begins_there(
    sink: Sink, tmp_path: Path
) -> None:
    sink.say(0, 2, 3)
    sink.say(1, 6, 7)
    sink.delete_before(sink.visits.name, 0, 1)
    sink.start(tmp_path)
    for topic in sink.topics:  # read by that run, which ends before it emits anything
        with DeliveringProducer(sink.config, topic) as producer:
            producer.produce(b"x", None, 0)
    assert sink.found() == [[10, 6], [10, 7]]
    assert sink.look_up().notes == []


def test_offsets_that_were_asked_for_are_said_in_a_sink_that_is_not_new(
    sink: Sink, tmp_path: Path
) -> None:
    sink.say(0, 8, 8)
    sink.say(1, 8, 8)
    sink.start(tmp_path, {sink.topics[0]: {0: 1, 1: EARLIEST}, sink.topics[1]: {0: 2, 1: LATEST}})
    assert sink.found() == [[1, 0], [2, 10]]


@pytest.mark.parametrize(
    ("offsets", "says"),
    [
        ({0: 5}, "each partition of .*, 0 to 1, but got it for 0"),
        ({0: 5, 1: 5, 2: 0}, "but got it for 0, 1, 2"),
        ({}, "but got it for none"),
        ({0: 5, 1: 11}, "partition 1 of .*, up to its end at 10, .* but got 11"),
        ({0: -3, 1: 5}, "partition 0 of .* but got -3"),
    ],
)
def test_offsets_that_make_no_sense_are_refused_before_they_are_said(
    sink: Sink, broker: Broker, offsets: dict[int, int], says: str
) -> None:
    options = Namespace(
        source=sink.topics[0],
        orders=sink.topics[1],
        out=sink.visits.name,
        from_offsets={sink.topics[0]: {0: 0, 1: 10}, sink.topics[1]: offsets},
    )
    with pytest.raises(WorkbookError, match=says):
        SYSTEMS["event_time_merge"].check_topics(broker, options)
    assert sink.look_up().new

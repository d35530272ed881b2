"""A partition seen again and again: its end, its last records, a group's committed offset."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from labs import until

from workbook.kafka import tail as tail_module
from workbook.kafka.offsets import committed_offset
from workbook.kafka.tail import KEPT, Seen, Tail
from workbook.topics import Topic
from workbook.views.tape import SILENT, Tape, click_name, drawn


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a busy machine's broker take its time, where a test doesn't ask for silence."""
    monkeypatch.setattr(tail_module, "FIRST_S", 60.0)
    monkeypatch.setattr(tail_module, "ANSWER_S", 60.0)


@contextmanager
def tail_of(broker: Any, topic: Topic, partition: int = 0) -> Iterator[Tail]:
    def text(value: bytes | None) -> str:
        return (value or b"").decode()

    tail = Tail(broker.client_config(), topic.name, topic.name, text, partition)
    try:
        yield tail
    finally:
        tail.close()


def send(broker: Any, topic: Topic, *values: str, partition: int = 0) -> None:
    producer = Producer(broker.client_config())
    for value in values:
        producer.produce(topic.name, value, partition=partition)
    assert producer.flush(30) == 0


def commit(broker: Any, topic: Topic, offset: int) -> None:
    group = Consumer({**broker.client_config(), "group.id": topic.name})
    group.commit(offsets=[TopicPartition(topic.name, 0, offset)], asynchronous=False)
    group.close()


def seen(tail: Tail, count: int) -> Seen:
    """Look until so many labels are there: a new topic's first fetch may take its time."""
    deadline = time.monotonic() + 30
    while len((found := tail.look()).labels) < count:
        assert time.monotonic() < deadline, found
    return found


def test_it_sees_what_has_come_since_and_what_the_group_has_committed(
    broker: Any, topic: Callable[..., Topic]
) -> None:
    made = topic("clicks")
    with tail_of(broker, made) as tail:
        assert tail.look() == Seen()
        send(broker, made, "a", "b")
        assert seen(tail, 2) == Seen(0, 2, None, {0: "a", 1: "b"})
        commit(broker, made, 1)
        send(broker, made, "c")
        assert seen(tail, 3) == Seen(0, 3, 1, {0: "a", 1: "b", 2: "c"})
    commit(broker, made, 3)
    assert tail.look() == Seen(0, 3, 1, {0: "a", 1: "b", 2: "c"}), "closed: what was seen last"
    tail.close()  # twice is as good


def test_it_takes_no_partition_from_the_group(broker: Any, topic: Callable[..., Topic]) -> None:
    made = topic("clicks")
    with tail_of(broker, made) as tail:
        tail.look()
        member = Consumer(
            {**broker.client_config(), "group.id": made.name, "auto.offset.reset": "earliest"}
        )
        member.subscribe([made.name])
        send(broker, made, "a")
        message = member.poll(60)
        assert message.value() == b"a"
        seen(tail, 1)
        assert member.poll(1) is None
        assert [place.partition for place in member.assignment()] == [0]
        member.close()


def test_of_24_partitions_it_sees_its_own(broker: Any, topic: Callable[..., Topic]) -> None:
    made = topic("clicks", partitions=24)
    for number in range(24):
        send(broker, made, *[f"p{number}"] * (number + 1), partition=number)
    with tail_of(broker, made, 17) as tail:
        assert seen(tail, 18) == Seen(0, 18, None, dict.fromkeys(range(18), "p17"))


def test_of_a_long_backlog_it_reads_the_end(
    broker: Any, topic: Callable[..., Topic], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail_module, "AT_ONCE", 10)
    monkeypatch.setattr(tail_module, "KEPT", 15)
    made = topic("clicks")
    send(broker, made, *map(str, range(100)))
    with tail_of(broker, made) as tail:
        assert seen(tail, 10) == Seen(0, 100, None, {n: str(n) for n in range(90, 100)})
        send(broker, made, *map(str, range(100, 108)))
        found = tail.look()
        while 107 not in found.labels:
            found = tail.look()
        assert found.labels == {n: str(n) for n in range(93, 108)}
    assert KEPT >= 1000


def test_a_broker_that_is_away_leaves_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_module, "FIRST_S", 0.2)
    tail = Tail({"bootstrap.servers": "127.0.0.1:1"}, "clicks", "group", str)
    assert tail.look() == Seen(silent=True)
    tail.close()


def test_a_committed_offset_does_not_wait_for_an_open_transaction(
    broker: Any, topic: Callable[..., Topic]
) -> None:
    made, config = topic("clicks"), broker.client_config()
    send(broker, made, "a", "b")
    assert committed_offset(config, made.name, made.name) is None
    commit(broker, made, 1)
    group = Consumer({**config, "group.id": made.name})
    producer = Producer({**config, "transactional.id": made.name})
    producer.init_transactions(60)
    producer.begin_transaction()
    place = TopicPartition(made.name, 0, 2)
    producer.send_offsets_to_transaction([place], group.consumer_group_metadata(), 60)
    began = time.monotonic()
    assert committed_offset(config, made.name, made.name) == 1
    assert time.monotonic() - began < 4
    producer.commit_transaction(60)  # the broker's markers come a moment later
    until(lambda: committed_offset(config, made.name, made.name) == 2, "the commit")
    group.close()


# --- drawn ------------------------------------------------------------------------------------


def clicks(count: int, committed: int | None, first: int = 0) -> Seen:
    return Seen(first, first + count, committed, dict.fromkeys(range(first, first + count), "/"))


def test_before_the_restart_all_that_was_read_is_in_the_count() -> None:
    picture = drawn(clicks(8, 6), "counter", began=0, place=8)
    assert picture.words == (
        "8 records; committed by counter at 6; the loop's next offset at 8; 8 records read, their "
        "count in memory alone; end at 8."
    )
    assert "forgotten" not in picture.figure


def test_after_the_restart_the_count_has_forgotten_and_the_group_has_not() -> None:
    later = drawn(clicks(28, 8), "counter", began=8, place=28)
    assert "8 records forgotten by the count; 20 records read" in later.words


def test_a_loop_that_has_read_nothing_yet_has_no_place() -> None:
    picture = drawn(clicks(9, 8), "g", began=None, place=8)
    assert (
        picture.words
        == "9 records; committed by g at 8; the loop's next offset: nothing yet; end at 9."
    )
    assert "The partition is empty" in drawn(Seen(), "g", began=None, place=0).words


def test_records_that_retention_has_removed_are_not_counted_as_forgotten() -> None:
    picture = drawn(clicks(5, 12, first=10), "g", began=12, place=15)
    assert "2 records forgotten by the count; 3 records read" in picture.words


def test_a_silent_broker_is_named() -> None:
    assert SILENT in drawn(Seen(0, 3, 1, {}, True), "g", 0, 3).caption


def test_it_draws_the_variables_as_they_are_now() -> None:
    class Fixed(Tail):
        def __init__(self) -> None:
            pass

        def look(self) -> Seen:
            return clicks(9, 4)

    now = 0, 3
    tape = Tape(Fixed(), "g", lambda: now)
    assert "the loop's next offset at 3" in str(tape)
    now = 4, 9
    assert "the loop's next offset at 9" in tape().words
    assert tape._repr_html_() == tape()._repr_html_()
    assert tape().words in repr(tape)


@pytest.mark.parametrize(
    ("value", "name"),
    [(b'{"name": "/home"}', "/home"), (b'{"name": 7}', "7"), (b"{", "?"), (None, "?"),
     (b"[]", "?"), (b"{}", "?"), (b"\xff", "?")],
)  # fmt: skip
def test_a_click_has_its_name_and_half_a_click_has_none(value: bytes | None, name: str) -> None:
    assert click_name(value) == name

"""A partition seen again and again, and its tape: its end, its records, a group's offset."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from brokers import commit, produce
from labs import until

from workbook.kafka import tail as tail_module
from workbook.kafka.tail import Seen, Tail
from workbook.topics import Topic
from workbook.views.tape import SILENT, drawn


@contextmanager
def tail_of(broker: Any, topic: Topic) -> Iterator[Tail]:
    tail = Tail(
        broker.client_config(), topic.name, topic.name, lambda value: (value or b"").decode()
    )
    try:
        yield tail
    finally:
        tail.close()


def send(broker: Any, topic: Topic, *values: str) -> None:
    produce(broker.client_config(), topic.name, *((value,) for value in values))


def seen(tail: Tail, count: int) -> Seen:
    """Look until so many labels are there: a new topic's first fetch may take its time."""
    until(lambda: len((now := tail.look()).labels) >= count and not now.silent, "its labels")
    return tail._seen


def test_it_sees_what_has_come_since_and_what_the_group_has_committed(broker, topic) -> None:
    made = topic("clicks")
    with tail_of(broker, made) as tail:
        assert seen(tail, 0) == Seen()
        send(broker, made, "a", "b")
        assert seen(tail, 2) == Seen(0, 2, None, {0: "a", 1: "b"})
        commit(broker.client_config(), made.name, made.name, 1)
        send(broker, made, "c")
        assert seen(tail, 3) == Seen(0, 3, 1, {0: "a", 1: "b", 2: "c"})
    commit(broker.client_config(), made.name, made.name, 3)
    assert tail.look() == Seen(0, 3, 1, {0: "a", 1: "b", 2: "c"}), "closed: what was seen last"


def test_of_a_long_backlog_it_reads_the_end(broker, topic, monkeypatch) -> None:
    monkeypatch.setattr(tail_module, "AT_ONCE", 10)
    monkeypatch.setattr(tail_module, "KEPT", 15)
    made = topic("clicks")
    send(broker, made, *map(str, range(100)))
    with tail_of(broker, made) as tail:
        assert seen(tail, 10) == Seen(0, 100, None, {n: str(n) for n in range(90, 100)})
        send(broker, made, *map(str, range(100, 108)))
        until(lambda: 107 in tail.look().labels, "the last label")
        assert tail._seen.labels == {n: str(n) for n in range(93, 108)}


def test_a_broker_that_is_away_leaves_what_was_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tail_module, "ANSWER_S", 0.2)
    tail = Tail({"bootstrap.servers": "127.0.0.1:1"}, "clicks", "group", str)
    assert tail.look() == Seen(silent=True)
    tail.close()


def clicks(count: int, committed: int | None, first: int = 0) -> Seen:
    return Seen(first, first + count, committed, dict.fromkeys(range(first, first + count), "/"))


@pytest.mark.parametrize(
    ("looked", "began", "place", "says"),
    [
        (clicks(8, 6), 0, 8, "8 records read, their count in memory alone: 0 to 7;"),
        (clicks(28, 8), 8, 28, "8 records forgotten by the count: 0 to 7; 20 records read"),
        (clicks(9, 8), None, 8, "the loop's next offset: none yet;"),
        (clicks(5, 12, first=10), 12, 15, "2 records forgotten by the count: 10 to 11; 3"),
        (Seen(), None, 0, "The partition is empty"),
    ],
)
def test_the_tape_says_what_the_loop_has_in_its_count(looked, began, place, says) -> None:
    assert says in drawn(looked, "counter", began, place).words


def test_a_silent_broker_is_named() -> None:
    assert SILENT in drawn(Seen(0, 9, 4, {}, silent=True), "g", 0, 3).caption

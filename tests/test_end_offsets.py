"""The ends of partitions, asked again and again: by a client put in, and on real brokers."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException
from labs import until
from secured import Secured

from workbook.kafka import offsets
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import EndOffsets
from workbook.topics import Topic

SILENCE, MISSING, TIMED_OUT = -999_999, KafkaError._UNKNOWN_PARTITION, KafkaError._TIMED_OUT
A, B = ("a", 0), ("b", 0)


class Admin:
    """A client whose answers are those that the test puts in: by topic, an offset or an error.

    A topic that times out lets the whole request do so, as librdkafka does without a leader.
    """

    def __init__(self) -> None:
        self.answers: dict[str, int] = {}
        self.asked: list[set[str]] = []
        self.made, self.now = 0, 0.0

    def list_offsets(self, places: dict[Any, Any], **rest: Any) -> dict[Any, Future[Any]]:
        self.asked.append({place.topic for place in places})
        spoiled = any(self.answers[place.topic] == TIMED_OUT for place in places)
        return {place: self.answer(TIMED_OUT if spoiled else self.answers[place.topic])
                for place in places}  # fmt: skip

    def answer(self, told: int) -> Future[Any]:
        future = Future[Any]()
        if told >= 0 or told == OFFSET_INVALID:
            future.set_result(SimpleNamespace(offset=told))
        elif told != SILENCE:
            future.set_exception(KafkaException(KafkaError(told)))
        return future

    def ends(self, ends: EndOffsets, after: float = 1.0) -> dict[tuple[str, int], int] | None:
        """What a second later is taken of the last question; the next one asks for all topics."""
        self.now += after
        taken = ends.ends if ends.take() else None
        ends.ask([(topic, 0) for topic in self.answers])
        return taken


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> Admin:
    made = Admin()

    def make(config: dict[str, Any]) -> Admin:
        made.made += 1
        return made

    monkeypatch.setattr(offsets, "admin", make)
    monkeypatch.setattr(offsets, "require_topic", lambda config, topic: 2)
    return made


@pytest.fixture
def ends(admin: Admin) -> EndOffsets:
    return EndOffsets({}, clock=lambda: admin.now)


def test_the_partitions_of_its_topics_are_asked_for_once_a_second(admin: Admin) -> None:
    admin.answers = {"a": 100}
    ends = EndOffsets({}, "a", clock=lambda: admin.now)
    told = []
    for tick in (0.0, 0.2, 0.9, 1.1, -500.0):  # the clock was set back
        admin.now = 1000 + tick
        told.append(bool(ends.look()))
    assert told == [False, True, False, False, True]
    assert len(admin.asked) == 3
    assert ends.ends == {("a", 0): 100, ("a", 1): 100}


def test_an_answer_that_has_not_come_is_not_waited_for(admin: Admin, ends: EndOffsets) -> None:
    admin.answers = {"a": 100, "b": SILENCE}
    assert [admin.ends(ends) for _ in range(3)] == [None] * 3
    assert len(admin.asked) == 1


@pytest.mark.parametrize(
    "place", [("b\0", 0), ("a b", 0), ("..", 0), ("b", 2**31), ("b", -1), ("", 0)]
)
def test_a_place_that_no_broker_has_is_not_asked_for(admin, ends, place) -> None:
    admin.answers = {"a": 100}
    ends.ask([A, place])
    assert ends.take()
    assert (admin.asked, ends.ends, ends.silent) == ([{"a"}], {A: 100}, False)


def test_a_topic_that_spoils_the_request_is_asked_for_alone(admin: Admin, ends: EndOffsets) -> None:
    admin.answers = {"a": 100, "b": 200, "leaderless": TIMED_OUT}
    told = [(admin.ends(ends), ends.silent) for _ in range(3)]
    assert told == [(None, False), ({}, True), ({A: 100, B: 200}, False)]
    admin.answers["leaderless"] = 50
    admin.ends(ends)
    assert admin.ends(ends) == {A: 100, B: 200, ("leaderless", 0): 50}
    assert admin.asked[-1] == {"a", "b", "leaderless"}


@pytest.mark.parametrize("failure", [TIMED_OUT, OFFSET_INVALID])
def test_after_a_failed_question_a_new_client_asks(admin, ends, failure) -> None:
    admin.answers = {"a": failure}
    admin.ends(ends)
    assert admin.ends(ends) == {}
    assert (ends.silent, ends.denied, admin.made) == (True, set(), 2)
    admin.answers = {"a": 7}
    admin.ends(ends)
    assert (admin.ends(ends), ends.silent) == ({A: 7}, False)


def test_a_missing_topic_is_denied_and_asked_for_by_a_new_client_each_ten_seconds(
    admin: Admin, ends: EndOffsets
) -> None:
    admin.answers = {"a": 100, "b": MISSING}
    made = []
    for _ in range(14):
        admin.ends(ends)
        made.append(admin.made)
    assert (ends.ends, ends.denied, ends.silent) == ({A: 100}, {B}, False)
    assert made == [*[1] * 10, *[2] * 4]


def test_no_leader_is_a_denial_beside_ends_or_by_a_new_client_else_an_outage(admin, ends) -> None:
    told = []
    for a in (KafkaError._NOENT, 100, 100, KafkaError._NOENT, KafkaError._NOENT):
        admin.answers = {"a": a, "b": KafkaError._NOENT}
        admin.ends(ends)
        told.append((len(ends.ends), len(ends.denied), ends.silent))
    assert told == [(0, 0, False), (0, 2, False), (1, 1, False), (1, 1, False), (0, 0, True)]


# --- real brokers -------------------------------------------------------------------------------


def test_it_needs_describe_alone(secured: Secured) -> None:
    config, wanted = secured.login("nobody"), [("ends.described", 0), ("ends.closed", 0)]
    Broker(secured.at["open"]).create(*(Topic(name) for name, _ in wanted))
    secured.allow("nobody", "ends.described", "DESCRIBE")
    ends = EndOffsets(config)

    def found() -> bool:
        ends.take()
        ends.ask(wanted)
        return ends.ends == {wanted[0]: 0}

    until(found, "the end of the topic that it may describe", 30)
    assert ends.denied == {wanted[1]}

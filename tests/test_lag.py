"""How far a group is behind: from samples put in by hand, and from a real broker's ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from brokers import OwnBroker, free_port
from confluent_kafka import OFFSET_INVALID, KafkaError, KafkaException
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    ResourcePatternType,
    ResourceType,
)
from hypothesis import given
from hypothesis import strategies as st
from labs import until
from workbook.kafka.end_sampler import EndSampler
from workbook.kafka.samples import APART, Samples

from workbook.kafka import end_sampler
from workbook.kafka.broker import Broker
from workbook.kafka.lag import KEPT_MS, MOST, EndSamples, Lag
from workbook.kafka.producer import DeliveringProducer
from workbook.topics import Topic

MakeTopic = Callable[..., Topic]
P = ("clicks", 0)


def sampled(*samples: tuple[int, int]) -> EndSamples:
    """Samples of one partition: (second, end offset)."""
    made = EndSamples()
    for second, end in samples:
        made.add(second * 1000, {P: end})
    return made


def lag(ends: EndSamples, offset: int, now: int, place: tuple[str, int] = P) -> Lag | None:
    """What is left behind one commit."""
    return ends.lag([committed(offset, place)], now)


def committed(offset: int, place: tuple[str, int] = P) -> dict[str, Any]:
    return {"topic": place[0], "partition": place[1], "offset": offset}


# --- by hand ------------------------------------------------------------------------------------


def test_the_seconds_lie_between_the_two_samples_around_the_committed_offset() -> None:
    ends = sampled((0, 100), (10, 200), (20, 220))
    assert lag(ends, 150, 25_000) == Lag(70, 20.0)
    assert lag(ends, 210, 25_000) == Lag(10, 10.0)
    assert lag(ends, 200, 25_000) == Lag(20, 15.0)


def test_who_has_read_all_has_no_lag_and_one_ahead_of_the_samples_neither() -> None:
    ends = sampled((0, 100), (10, 200))
    assert lag(ends, 200, 99_000) == lag(ends, 205, 99_000) == Lag(0, 0.0)


def test_an_offset_older_than_the_samples_has_a_lower_bound() -> None:
    ends = sampled((5, 100), (10, 200))
    assert lag(ends, 99, 20_000) == Lag(101, 15.0, at_least=True)
    assert lag(ends, 100, 20_000) == Lag(100, 15.0)


def test_a_partition_that_was_never_answered_for_or_is_lost_has_none() -> None:
    ends = sampled((0, 100), (10, 200))
    assert lag(ends, 0, 0, ("clicks", 1)) is None
    ends.lose([P, P, ("closed", 0)])
    assert lag(ends, 100, 20_000) is None
    assert ends.is_lost(*P)
    assert ends.is_lost("closed", 0)
    assert not ends.is_lost("clicks", 1)
    ends.add(20_000, {P: 200, ("closed", 0): 7})
    assert lag(ends, 150, 20_000) == Lag(50, 15.0)
    assert not ends.is_lost(*P)
    assert lag(ends, 7, 0, ("closed", 0)) == Lag(0, 0.0)


def test_a_topic_made_anew_begins_again() -> None:
    ends = sampled((0, 100), (10, 200), (20, 3))
    assert lag(ends, 1, 30_000) == Lag(2, 10.0, at_least=True)


def test_what_was_committed_before_it_was_asked_and_lies_beyond_the_end_is_unknown() -> None:
    ends = EndSamples()
    ends.add(0, {P: 200}, {P: 200})
    assert lag(ends, 200, 1000) == lag(ends, 201, 1000) == Lag(0, 0.0)
    ends.add(1000, {P: 3}, {P: 200})
    assert lag(ends, 200, 1000) is lag(ends, 4, 1000) is None
    assert (ends.is_beyond(*P, 200), ends.is_beyond(*P, 3)) == (True, False)
    assert lag(ends, 3, 1000) == lag(ends, 201, 1000) == Lag(0, 0.0)
    ends.add(2000, {("other", 0): 3}, {P: 201})  # nobody answered about this one
    assert lag(ends, 201, 2000) == Lag(0, 0.0)
    ends.add(3000, {P: 4}, {P: 4})
    assert lag(ends, 200, 3000) == Lag(0, 0.0)
    assert lag(ends, -1, 3000) is None
    ends.add(4000, {P: 0})
    assert lag(ends, 1, 4000) == Lag(0, 0.0)


def test_the_lag_of_several_partitions_is_their_sum_and_the_oldest_seconds() -> None:
    ends, other = sampled((0, 100), (10, 200)), ("clicks", 1)
    ends.add(20_000, {P: 200, other: 7})
    several = [committed(150), committed(190), committed(7, other)]
    assert ends.lag(several, 20_000) == Lag(60, 15.0)
    bounded = Lag(61, 15.0, at_least=True)
    assert ends.lag([*several, committed(6, other)], 20_000) == bounded
    assert ends.lag([committed(6, other), *several], 20_000) == bounded
    assert ends.lag([*several, committed(0, ("gone", 0))], 20_000) == Lag(60, 15.0, partly=True)
    assert ends.lag([committed(0, ("gone", 0)), committed(-1)], 20_000) is None
    assert ends.lag([], 20_000) is None
    assert lag(ends, 150, 0) == Lag(50, 0.0)  # the clock was set back


def test_what_nobody_commits_any_more_is_forgotten() -> None:
    ends = sampled((0, 100))
    ends.add(1000, {("other", 0): 7})
    ends.lose([P])
    ends.keep([("other", 0)])
    assert ends.ends == {("other", 0): 7}
    ends.add(2000, {P: 100})
    assert lag(ends, 90, 3000) == Lag(10, 1.0, at_least=True)


def test_a_standstill_takes_two_samples_and_its_end_is_exact() -> None:
    ends = sampled(*((second, 100) for second in range(3000)), (3000, 110))
    assert len(ends._of[P]) == 3
    assert lag(ends, 105, 3_001_000) == Lag(5, 1.5)


def test_an_hour_of_samples_is_thinned_and_stays_exact_to_a_tenth() -> None:
    ends = EndSamples()
    for second in range(2 * 3600):
        ends.add(second * 1000, {P: second**2})
        assert len(ends._of[P]) <= MOST
    now = 2 * 3600 - 1
    assert ends._of[P].times[0] >= (now * 1000 - KEPT_MS) * (1 - 2 * APART)
    for age in (1, 2, 5, 30, 60, 600, 3000):
        found = lag(ends, (now - age) ** 2, now * 1000)
        assert found is not None
        assert found.seconds == pytest.approx(age, rel=APART)


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 3))))
def test_samples_are_bounded_ordered_and_never_lose_the_newest(
    steps: list[tuple[int, int]],
) -> None:
    made, time, number = Samples(1000, 8), 0, 0
    for step, more in steps:
        time, number = time + step, number + more
        made.add(time, number)
        assert len(made) <= 8
        assert (made.times[-1], made.numbers[-1]) == (time, number)
        assert list(made.times) == sorted(set(made.times))
        assert made.at(time) == number
        assert made.at(made.times[0] - 1) is None


# --- the sampler --------------------------------------------------------------------------------


def look(sampler: EndSampler, wanted: list[tuple[str, int]]) -> bool:
    """What a dashboard does again and again."""
    news = sampler.take()
    sampler.ask(dict.fromkeys(wanted, 0))
    return news


SILENCE = -999_999
"""The answer that doesn't come."""


class Admin:
    """A client whose answers are those that the test puts in: by topic, an offset or an error.

    A topic that times out lets the whole request do so, as librdkafka does without a leader.
    """

    def __init__(self) -> None:
        self.answers: dict[str, int] = {}
        self.asked: list[set[str]] = []
        self.made, self.pending = 0, list[Future[Any]]()

    def list_offsets(self, places: dict[Any, Any], **rest: Any) -> dict[Any, Future[Any]]:
        self.asked.append({place.topic for place in places})
        spoiled = any(self.answers[place.topic] == KafkaError._TIMED_OUT for place in places)
        futures = {}
        for place in places:
            told = KafkaError._TIMED_OUT if spoiled else self.answers[place.topic]
            futures[place] = future = Future[Any]()
            if told == SILENCE:
                self.pending.append(future)
            elif told < 0 and told != OFFSET_INVALID:
                future.set_exception(KafkaException(KafkaError(told)))
            else:
                future.set_result(SimpleNamespace(offset=told))
        return futures


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> Admin:
    made = Admin()

    def make(config: dict[str, Any]) -> Admin:
        made.made += 1
        return made

    monkeypatch.setattr(end_sampler, "AdminClient", make)
    return made


def test_it_asks_once_a_second_and_again_after_a_clock_was_set_back(admin: Admin) -> None:
    admin.answers = {"a": 100}
    now = [1000.0]
    sampler = EndSampler({}, EndSamples(), clock=lambda: now[0])
    for tick in (0.0, 0.2, 0.9, 1.1, -500.0):
        now[0] = 1000 + tick
        look(sampler, [("a", 0)])
    assert len(admin.asked) == 3


def test_a_topic_that_spoils_the_request_is_asked_for_apart_until_it_answers(admin: Admin) -> None:
    admin.answers = {"a": 100, "b": 200, "leaderless": KafkaError._TIMED_OUT}
    now, samples = [0.0], EndSamples()
    sampler = EndSampler({}, samples, clock=lambda: now[0])
    told = []
    for _ in range(5):
        now[0] += 2
        look(sampler, [(topic, 0) for topic in admin.answers])
        told.append((sampler.silent, samples.ends))
        if len(told) == 3:
            admin.answers["leaderless"] = 50
    both = {("a", 0): 100, ("b", 0): 200}
    assert told[:3] == [(False, {}), (True, {}), (False, both)]
    assert told[4] == (False, {**both, ("leaderless", 0): 50})
    assert admin.asked[-1] == {"a", "b", "leaderless"}


def test_looking_often_changes_nothing(admin: Admin) -> None:
    """What was spoiled is still asked for apart, though nothing new was answered meanwhile."""
    admin.answers = {"a": 100, "leaderless": KafkaError._TIMED_OUT}
    now = [10.0]
    sampler = EndSampler({}, EndSamples(), clock=lambda: now[0])
    for _ in range(9):
        assert not sampler.take()
        assert not sampler.silent
    look(sampler, [("a", 0), ("leaderless", 0)])
    assert [sampler.take() for _ in range(3)] == [False] * 3
    now[0] += 2
    look(sampler, [("a", 0), ("leaderless", 0)])
    assert admin.asked[1:] in ([{"a"}, {"leaderless"}], [{"leaderless"}, {"a"}])


def test_an_answer_that_has_not_come_is_not_waited_for_and_not_asked_for_again(
    admin: Admin,
) -> None:
    admin.answers = {"a": 100, "b": SILENCE}
    now, samples = [0.0], EndSamples()
    sampler = EndSampler({}, samples, clock=lambda: now[0])
    for _ in range(3):
        now[0] += 2
        assert not look(sampler, [("a", 0), ("b", 0)])
        assert not sampler.wait(0.01)
    assert (len(admin.asked), samples.ends) == (1, {})
    [future] = admin.pending
    future.set_result(SimpleNamespace(offset=200))
    assert sampler.wait(9)
    assert sampler.take()
    assert samples.ends == {("a", 0): 100, ("b", 0): 200}


def test_what_is_no_longer_committed_is_forgotten(admin: Admin) -> None:
    admin.answers = {"a": 100, "b": 200}
    now, samples = [0.0], EndSamples()
    sampler = EndSampler({}, samples, clock=lambda: now[0])
    for wanted in ([("a", 0), ("b", 0)], [("b", 0)], [("b", 0)]):
        now[0] += 1
        look(sampler, wanted)
    assert samples.ends == {("b", 0): 200}


DENIED = KafkaError._UNKNOWN_PARTITION


@pytest.mark.parametrize(
    ("answers", "made"),
    [
        ({"a": 100, "b": 200}, [1] * 12),
        ({"a": 100, "b": KafkaError._TIMED_OUT}, [*range(1, 13)]),
        ({"a": DENIED, "b": DENIED}, [*range(1, 13)]),
        # Denied beside others that are answered for: once the client is more than ten seconds old.
        ({"a": 100, "b": DENIED}, [*[1] * 11, 2]),
    ],
)
def test_a_client_that_may_know_something_old_is_made_anew(
    admin: Admin, answers: dict[str, int], made: list[int]
) -> None:
    admin.answers = answers
    now = [0.0]
    sampler = EndSampler({}, EndSamples(), clock=lambda: now[0])
    told = []
    for _ in made:
        now[0] += 1
        look(sampler, [("a", 0), ("b", 0)])
        told.append(admin.made)
    assert told == made


def test_a_topic_without_a_leader_is_denied_to_a_new_client_only(admin: Admin) -> None:
    admin.answers = {"a": 100, "b": KafkaError._NOENT}
    now = [0.0]
    sampler = EndSampler({}, EndSamples(), clock=lambda: now[0])
    told = []
    for _ in range(3):
        now[0] += 1
        told.append((look(sampler, [("a", 0), ("b", 0)]), sampler.unanswered, admin.made))
    assert told == [(False, 2, 1), (True, 0, 1), (False, 0, 2)]


def test_an_invalid_offset_is_no_end_and_a_topic_is_lost_after_three_seconds(admin: Admin) -> None:
    admin.answers = {"a": 100, "b": 200}
    now, samples = [0.0], EndSamples()
    sampler = EndSampler({}, samples, clock=lambda: now[0])
    told = []
    for second in range(1, 9):
        now[0] = second
        look(sampler, [("a", 0), ("b", 0)])
        told.append(samples.ends)
        admin.answers = {"a": OFFSET_INVALID, "b": KafkaError._UNKNOWN_PARTITION}
    both = {("a", 0): 100, ("b", 0): 200}
    assert told == [{}, *[both] * 4, *[{("a", 0): 100}] * 3]
    assert not sampler.silent


def test_names_that_no_topic_can_have_are_not_asked_for(admin: Admin) -> None:
    admin.answers = {"a": 100}
    sampler = EndSampler({}, EndSamples())
    look(sampler, [("a", 0), ("a", -1), ("", 0), ("a b", 0), ("..", 0), ("x" * 250, 0)])
    assert admin.asked == [{"a"}]
    assert sampler.unanswered == 1


def test_commits_known_before_the_question_are_held_against_its_answer(admin: Admin) -> None:
    admin.answers = {"a": 3}
    sampler = EndSampler({}, EndSamples())
    sampler.ask({("a", 0): 150})
    assert sampler.take()
    assert lag(sampler.samples, 150, 0, ("a", 0)) is None
    assert lag(sampler.samples, 151, 0, ("a", 0)) == Lag(0, 0.0)


def test_nothing_committed_yet_asks_nothing(admin: Admin) -> None:
    sampler = EndSampler({}, EndSamples())
    assert not look(sampler, [])
    assert not sampler.wait(9)
    assert admin.asked == []
    assert not sampler.silent


def test_a_new_partition_is_asked_for_at_once_and_the_first_answer_about_one_is_news(
    admin: Admin,
) -> None:
    admin.answers = {"a": 100, "denied": KafkaError._UNKNOWN_PARTITION}
    now = [1000.0]
    sampler = EndSampler({}, EndSamples(), clock=lambda: now[0])
    told = []
    for wanted in ([], ["a"], ["a"], ["a", "denied"], ["a", "denied"], ["denied"]):
        now[0] += 0.1
        told.append((look(sampler, [(topic, 0) for topic in wanted]), sampler.unanswered))
    first = [(False, 0), (False, 1), (True, 0)]
    assert told == [*first, (False, 1), (True, 0), (False, 0)]
    assert admin.asked == [{"a"}, {"a", "denied"}]


def test_what_is_asked_for_in_vain_is_waited_for_until_it_had_a_request_of_its_own(
    admin: Admin,
) -> None:
    admin.answers = {"a": 100, "leaderless": KafkaError._TIMED_OUT}
    now = [0.0]
    sampler = EndSampler({}, EndSamples(), clock=lambda: now[0])
    told = []
    for _ in range(3):
        now[0] += 3
        news = look(sampler, [("a", 0), ("leaderless", 0)])
        told.append((news, sampler.unanswered, sampler.wait(9)))
    assert told == [(False, 2, True), (False, 2, True), (True, 0, True)]


# --- a real broker ------------------------------------------------------------------------------


def looks(sampler: EndSampler, wanted: list[tuple[str, int]], ends: dict[Any, int]) -> bool:
    look(sampler, wanted)
    return sampler.samples.ends == ends


def test_a_deleted_topic_has_no_end_and_the_others_do(broker: Broker, topic: MakeTopic) -> None:
    config = broker.client_config()
    kept, gone = topic("clicks", partitions=2), topic("orders")
    wanted = [(kept.name, 0), (kept.name, 1), (kept.name, 7), (gone.name, 0)]
    sampler = EndSampler(config, EndSamples(), every=0.1)
    here = {(kept.name, 0): 0, (kept.name, 1): 0}
    until(lambda: looks(sampler, wanted, {**here, (gone.name, 0): 0}), "both topics' ends")
    admin = AdminClient(config)
    admin.delete_topics([gone.name])[gone.name].result(30)
    with DeliveringProducer(config, kept.name) as producer:
        producer.produce(b"x", None, 1)
    here = {(kept.name, 0): 0, (kept.name, 1): 1}
    until(lambda: looks(sampler, wanted, here), "the end of what is left")
    assert lag(sampler.samples, 0, 0, (kept.name, 1)) is not None
    assert lag(sampler.samples, 0, 0, (gone.name, 0)) is None
    assert not sampler.silent


RIGHTS = """\
listeners=SASL_PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}
advertised.listeners=SASL_PLAINTEXT://127.0.0.1:{port}
inter.broker.listener.name=SASL_PLAINTEXT
sasl.mechanism.inter.broker.protocol=PLAIN
sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=\
org.apache.kafka.common.security.plain.PlainLoginModule required \
username="admin" password="right" user_admin="right" user_reader="only";
listener.security.protocol.map=CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
"""
"""Whoever isn't an administrator may do what a rule allows, and no more."""


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[OwnBroker]:
    from workbook.stack import jars, kafka

    jars.prefetch()
    with OwnBroker(tmp_path, kafka.SETTINGS + RIGHTS) as broker:
        yield broker


def _login(broker: OwnBroker, user: str, password: str) -> dict[str, str]:
    return {
        "bootstrap.servers": broker.bootstrap,
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": user,
        "sasl.password": password,
        "log_level": "0",
    }


def test_a_broker_that_is_away_is_not_waited_for_beyond_the_seconds_given() -> None:
    nobody = {"bootstrap.servers": f"127.0.0.1:{free_port()}"}
    sampler = EndSampler(nobody, EndSamples())
    sampler.ask({("a", 0): 0})
    began = time.monotonic()
    assert not sampler.wait(0.2)
    assert 0.2 <= time.monotonic() - began < 2
    assert sampler.wait(30)  # its own time-out: three seconds
    assert not sampler.take()
    assert sampler.silent


def test_it_needs_describe_alone_and_lives_through_a_broker_that_is_away(
    guarded: OwnBroker,
) -> None:
    admin = AdminClient(_login(guarded, "admin", "right"))
    for made in admin.create_topics([NewTopic("described", 1), NewTopic("closed", 1)]).values():
        made.result(30)
    place = (ResourceType.TOPIC, "described", ResourcePatternType.LITERAL)
    rule = ("User:reader", "*", AclOperation.DESCRIBE, AclPermissionType.ALLOW)
    [done] = admin.create_acls([AclBinding(*place, *rule)]).values()
    done.result(30)
    sampler = EndSampler(_login(guarded, "reader", "only"), EndSamples(), every=0.1)
    wanted, here = [("described", 0), ("closed", 0)], {("described", 0): 0}
    until(lambda: looks(sampler, wanted, here), "the end of the topic that it may describe", 30)
    guarded.kill()
    until(lambda: looks(sampler, wanted, here) and sampler.silent, "the broker to be missed", 30)
    assert lag(sampler.samples, 0, 0, ("described", 0)) == Lag(0, 0.0)
    guarded.start()
    until(lambda: looks(sampler, wanted, here) and not sampler.silent, "the broker's return", 60)
    with DeliveringProducer(_login(guarded, "admin", "right"), "described") as producer:
        producer.produce(b"x", None, 0)
    until(lambda: looks(sampler, wanted, {("described", 0): 1}), "an answer of the new one", 30)

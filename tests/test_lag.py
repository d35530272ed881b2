"""How far a group is behind, from samples put in by hand."""

from typing import Any

import pytest

from workbook.kafka.lag import APART, KEPT_MS, MOST, EndSamples, Lag

Place = tuple[str, int]
P, OTHER = ("clicks", 0), ("clicks", 1)


def sampled(*samples: tuple[int, int]) -> EndSamples:
    """Samples of one partition: (second, end offset)."""
    made = EndSamples()
    for second, end in samples:
        made.note(second * 1000, {P: end}, {P: 0})
    return made


def committed(offset: int, place: Place = P) -> dict[str, Any]:
    return {"topic": place[0], "partition": place[1], "offset": offset}


def lag(ends: EndSamples, offset: int, now: int, place: Place = P) -> Lag | None:
    """What is left behind one commit."""
    return ends.lag([committed(offset, place)], now)


def test_the_seconds_lie_between_the_two_samples_around_the_committed_offset() -> None:
    ends = sampled((0, 100), (10, 200), (20, 220))
    assert lag(ends, 150, 25_000) == Lag(70, 20.0)
    assert lag(ends, 210, 25_000) == Lag(10, 10.0)
    assert lag(ends, 200, 25_000) == Lag(20, 15.0)
    assert lag(ends, 220, 99_000) == lag(ends, 225, 99_000) == Lag(0, 0.0)


def test_an_offset_older_than_the_samples_has_a_lower_bound() -> None:
    ends = sampled((5, 100), (10, 200))
    assert lag(ends, 99, 20_000) == Lag(101, 15.0, at_least=True)
    assert lag(ends, 100, 20_000) == Lag(100, 15.0)
    assert lag(ends, -(2**63), 20_000) == Lag(200, 15.0, at_least=True)


def test_a_lost_partition_has_no_lag_until_it_is_back() -> None:
    ends = sampled((0, 100), (10, 200))
    assert lag(ends, 0, 0, OTHER) is None
    assert (P in ends, OTHER in ends) == (True, False)
    ends.note(15_000, {}, {P: 0, OTHER: 0}, {P, OTHER})
    assert lag(ends, 150, 20_000) is None
    assert ends.unknown([committed(150)]) == {"clicks"}
    assert OTHER in ends
    ends.note(20_000, {P: 200}, {P: 0, OTHER: 0})
    assert lag(ends, 150, 20_000) == Lag(50, 15.0)
    ends.note(21_000, {OTHER: 7}, {OTHER: 0})  # nobody commits the former any more
    assert P not in ends


def test_a_recreated_topic_begins_again() -> None:
    ends = sampled((0, 100), (10, 200), (20, 3))
    assert lag(ends, 1, 30_000) == Lag(2, 10.0, at_least=True)


def test_a_commit_known_before_the_question_and_beyond_the_end_has_no_lag() -> None:
    ends = EndSamples()
    ends.note(0, {P: 3}, {P: 200})
    assert lag(ends, 200, 1000) is lag(ends, 4, 1000) is None
    assert (ends.unknown([committed(200)]), ends.unknown([committed(3)])) == ({"clicks"}, set())
    assert lag(ends, 201, 1000) == Lag(0, 0.0)  # committed after the question
    ends.note(1000, {}, {P: 201})  # nobody answered about it
    assert lag(ends, 201, 2000) == Lag(0, 0.0)


def test_the_lag_of_several_partitions_is_their_sum_and_the_oldest_seconds() -> None:
    ends = sampled((0, 100), (10, 200))
    ends.note(20_000, {P: 200, OTHER: 7}, {P: 0, OTHER: 0})
    several = [committed(150), committed(190), committed(7, OTHER)]
    assert ends.lag(several, 20_000) == Lag(60, 15.0)
    assert ends.lag([committed(6, OTHER), *several], 20_000) == Lag(61, 15.0, at_least=True)
    gone = committed(0, ("gone", 0))
    assert ends.lag([*several, gone], 20_000) == Lag(60, 15.0, partly=True)
    assert ends.lag([gone], 20_000) is ends.lag([], 20_000) is None
    assert lag(ends, 150, 0) == Lag(50, 0.0)  # the clock was set back


def test_the_end_of_a_standstill_is_exact() -> None:
    ends = sampled(*((second, 100) for second in range(3000)), (3000, 110))
    assert lag(ends, 105, 3_001_000) == Lag(5, 1.5)


def test_an_hour_of_samples_is_thinned_and_stays_exact_to_a_tenth() -> None:
    ends = EndSamples()
    for second in range(2 * 3600):
        ends.note(second * 1000, {P: second**2}, {P: 0})
        assert len(ends._of[P].times) <= MOST
    now = 2 * 3600 - 1
    assert ends._of[P].times[0] >= (now * 1000 - KEPT_MS) * (1 - 2 * APART)
    for age in (1, 2, 5, 30, 60, 600, 3000):
        found = lag(ends, (now - age) ** 2, now * 1000)
        assert found is not None
        assert found.seconds == pytest.approx(age, rel=APART)

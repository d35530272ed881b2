"""No value is too large to be checked: each is measured before it's copied, compared or shown."""

from __future__ import annotations

import itertools
import time
import tracemalloc
from collections import Counter, deque

import pandas as pd
import pytest

from workbook.classroom.bounds import Large, bounded
from workbook.classroom.calls import alike, attempt, attempt_twice, collected, same
from workbook.classroom.judging import Case, by_cases
from workbook.classroom.mistakes import Mistake
from workbook.classroom.showing import MOST_LINES, WIDTH, show


def nested(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


def doubled(levels):
    value = [0]
    for _ in range(levels):
        value = [value, value]
    return value


def itself():
    value = []
    value.append(value)
    return value


class Sly(list):
    def __len__(self):
        return 1

    def __iter__(self):
        return itertools.repeat(1)


LARGE = {
    "bytes": lambda: bytes(1_700_000_000),
    "text": lambda: "x" * 100_000_000,
    "bytes in a pair": lambda: [(bytes(1_700_000_000), b"1")],
    "a list": lambda: list(range(10_000_000)),
    "pairs": lambda: [(i, i) for i in range(300_000)],
    "a dictionary": lambda: dict.fromkeys(range(300_000)),
    "a counter": lambda: Counter(range(300_000)),
    "a deque": lambda: deque(range(300_000)),
    "a number": lambda: 1 << 50_000_000,
    "a number as a key": lambda: {1 << 50_000_000: 1},
    "nested": lambda: nested(100_000),
    "shared": lambda: doubled(60),
    "itself": itself,
    "sly": lambda: Sly(range(300_000)),
}


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_a_large_value_is_neither_copied_nor_written_out(make):
    value = make()
    tracemalloc.start()
    began = time.process_time()
    stand_in = bounded(value)
    shown = [show(value), show(stand_in), repr(stand_in)]
    assert same(stand_in, bounded(value))
    assert alike(stand_in, bounded(value))
    assert time.process_time() - began < 1
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()
    assert isinstance(stand_in, Large)
    assert max(map(len, shown)) < 2 * WIDTH * MOST_LINES


@pytest.mark.parametrize("make", LARGE.values(), ids=LARGE)
def test_an_answer_that_gives_it_is_told_its_size_at_once(make):
    value = make()
    diagnose = by_cases([Case((1,), 1, "a cause"), Case((2,), 2, "a cause")])
    began = time.process_time()
    found = diagnose(lambda number: value)
    assert "It gives far more than is asked for: " in found.cause
    assert len(found.value) < 2 * WIDTH * MOST_LINES
    assert time.process_time() - began < 2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        ("bytes", "<bytes of 1,700,000,000 bytes>"),
        ("pairs", "<list of 300,000 elements, which begins (0, 0), (1, 1), (2, 2)>"),
        ("a number", "<int of about 15,051,500 digits>"),
        ("nested", "<list of more than 50 levels>"),
        ("bytes in a pair", "<list of 1,700,000,000 bytes in one part>"),
    ],
)
def test_a_large_value_is_described(make, words):
    assert show(bounded(LARGE[make]())) == words


def test_what_is_just_small_enough_stays_itself():
    for value in (list(range(50_000)), "x" * 4_000_000, 1 << 9_999, nested(49), itertools.count()):
        assert bounded(value) is value
    for value in (list(range(50_001)), "x" * 4_000_001, 1 << 10_000, nested(51)):
        assert isinstance(bounded(value), Large)


def test_a_mistake_that_gives_a_large_value_is_known_by_it():
    mistake = Mistake(lambda number: [0] * 10**6 * number, "It repeats it.")
    diagnose = by_cases([Case((1,), [0], "a cause")], [mistake])
    assert diagnose(lambda number: [0] * number * 10**6).cause == "It repeats it."
    assert "far more" in diagnose(lambda number: [1] * 10**6).cause


def test_an_endless_iterator_is_not_walked_through():
    tried = attempt_twice(lambda: itertools.count(), ())
    assert tried.shown == "count(0)"
    assert not tried.unsteady


def test_what_is_collected_ends_at_the_first_large_part():
    tried = attempt(collected(lambda: (bytes(1_700_000_000) for _ in itertools.count())))
    assert tried.value == Large("list", "1,700,000,000 bytes in one part")


def test_a_frame_of_millions_of_rows_is_shown_and_compared_quickly():
    frame = pd.DataFrame({"number": range(3_000_000), "text": "x"})
    began = time.process_time()
    found = by_cases([Case((1,), 1, "a cause")])(lambda number: frame)
    assert found.cause == "a cause"
    assert found.value.count("\n") <= MOST_LINES
    assert time.process_time() - began < 10  # it takes one on a quiet machine


@pytest.mark.parametrize(
    "value",
    [
        list(range(1_000)),
        [(i, "text" * 5) for i in range(1_000)],
        {i: i for i in range(1_000)},
        "line\n" * 1_000,
        b"\x00" * 5_000,
        {"one": ["x" * 700] * 4},
        doubled(12),
        set(range(1_000)),
    ],
)
def test_a_value_takes_ten_lines_at_most(value):
    lines = show(value).split("\n")
    assert sum(-(-len(line) // WIDTH) for line in lines) <= MOST_LINES + 1


def test_how_much_there_is_stands_at_the_end():
    assert show(list(range(1_000))).endswith("\n… (1,000 elements)")
    assert show("x" * 1_000).endswith("' … (1,000 characters)")
    assert show([1, 2]) == "[1, 2]"

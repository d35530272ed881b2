"""The check of an answer: its outcomes, its causes, and answers that misbehave."""

import ast
import itertools
import json
import linecache
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
from IPython.core.compilerop import CachingCompiler

from workbook.classroom import judging, sandbox
from workbook.classroom.core import Problem
from workbook.classroom.judging import Case, Mistake, by_cases
from workbook.classroom.render import MOST_LINES, WIDTH, Card, State, place, show
from workbook.classroom.sandbox import Large, bounded
from workbook.errors import CheckBroke
from workbook.streams.events.clicks import Click, ClickType

CAUSE, COUNTED = "Likely cause", "One second."
CLICKS = [Click(1, ClickType.PAGE, "/home", 10_200, "Firefox")]


def right(clicks):
    return [(click.epoch_second, len(clicks)) for click in clicks[:1]]


diagnose = by_cases(
    [
        Case((CLICKS,), [(10, 1)], COUNTED),
        Case((CLICKS * 2,), [(10, 2)], "Two views."),
        Case(([],), [], "No clicks, no seconds."),
    ],
    [Mistake(lambda clicks: [(10, 1)] * len(clicks), "It emits a second per click.")],
)


@pytest.fixture
def q() -> Problem:
    return Problem(
        name="Seconds",
        task="Return the seconds, as `[(10, 1)]`.",
        stub="def seconds(clicks):\n    ...  # your code\n",
        diagnose=diagnose,
        hints=("What has to be remembered?", "One number is enough."),
        reference=right,
        discussion="It compares <seconds> & nothing else.",
    )


# --- outcomes -----------------------------------------------------------------------------------


def only_a_docstring(clicks):
    """Return the seconds."""


def renamed(records, more=None): ...


@pytest.mark.parametrize("answer", [..., only_a_docstring, renamed])
def test_nothing_written_is_not_attempted(q, answer):
    assert q.check(answer).state is State.NOT_ATTEMPTED
    assert q.resolve(answer) is right


def test_a_right_answer_shows_the_discussion_and_is_what_runs(q, capsys):
    def mine(clicks):
        return right(clicks)

    card = q.check(mine)
    assert card.correct
    assert "&lt;seconds&gt; &amp; nothing" in card._repr_html_()
    assert q.resolve(mine) is mine
    assert q.resolve(q.resolve(mine)) is mine
    assert capsys.readouterr().out == ""


def test_a_skipped_exercise_takes_the_reference_until_an_answer_is_checked(q):
    def mine(clicks):
        return right(clicks)

    q.check(mine)
    assert q.skip().state is State.SKIPPED
    assert q.resolve(mine) is right
    assert q.check(mine).correct
    assert q.resolve(mine) is mine


def test_hints_come_one_by_one_and_then_the_solution_is_named(q):
    assert [q.hint().part("") for _ in range(2)] == list(q.hints)
    assert "solution()" in q.hint().part("")


def test_what_a_learner_returns_is_escaped(q):
    shown = q.check(lambda clicks: "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_a_broken_check_is_a_card_too(q):
    q.diagnose = lambda answer: 1 / 0
    assert "The check itself broke: ZeroDivisionError" in repr(q.check(right))


def test_a_solved_exercise_shows_the_answer_in_the_next_kernel(q, tmp_path, monkeypatch):
    kept = tmp_path / ".solved.json"
    monkeypatch.setenv("WORKBOOK_SOLVED", str(kept))
    kept.write_text('{"cut off')
    q.check(lambda clicks: [])
    assert q.check(...).state is State.NOT_ATTEMPTED
    assert q.check(right).correct
    assert q.check(...).state is State.SOLVED_BEFORE
    assert "len(clicks)) for click" in repr(q.check(...))
    assert list(json.loads(kept.read_text())) == ["Seconds"]
    monkeypatch.setenv("WORKBOOK_SOLVED", str(tmp_path / "gone" / ".solved.json"))
    card = q.check(right)
    assert card.correct
    assert "won't know that you've solved it (FileNotFoundError" in card.part("Mind")


# --- one table of answers that misbehave: one card in time, and the notebook goes on --------------


@pytest.fixture
def _nothing_is_left() -> Iterator[None]:
    threads, others = threading.active_count(), set(psutil.Process().children())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    yield
    assert set(psutil.Process().children()) <= others
    assert threading.active_count() <= threads
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)
    assert diagnose(right) is None


def swallows_the_interrupt(clicks):
    while True:
        try:
            len(clicks)
        except:  # noqa: E722
            continue


def prints(clicks):
    print("no end " * 10**6)


def sorts_in_place(clicks):
    clicks.clear()
    return [(10, 1)]


def changes_the_class(clicks):
    Click.epoch_second = property(lambda click: 10)
    return [(11, 1)]


def yields(clicks):
    yield from right(clicks)


async def waits(clicks):
    return right(clicks)


def falls_out(clicks):  # noqa: RET503
    if len(clicks) < 2:
        return right(clicks)


def gives_nothing(clicks):
    return [].append(right(clicks))


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None


MISBEHAVING = [
    (lambda clicks: sum(itertools.count()), "does not come to an end"),
    (lambda clicks: os._exit(3), "ends the whole process that runs it (exit code 3)"),
    (lambda clicks: input(), "an answer can't ask for input"),
    (lambda clicks: clicks[99], "It raised IndexError: list index out of range. One second."),
    (lambda clicks: max({"n": n} for n in (1, 2)), "Dictionaries have no order"),
    (prints, "It prints the value"),
    (sorts_in_place, "The value is right here, but it changes the input"),
    (changes_the_class, COUNTED),
    (lambda clicks: time.perf_counter(), "Or does it ask a clock, or draw by chance?"),
    (yields, "so it returns a generator"),
    (waits, "async def"),
    (falls_out, "It returns None for this input. Two views."),
    (gives_nothing, "It returns None, whatever the input"),
    (lambda clicks: map(str, clicks), "returns an iterator (of type map)"),
    (lambda clicks: ... if clicks else [], "returns `...`"),
    (lambda clicks: Hostile(), "of type test_classroom.Hostile, where one of type list"),
    (lambda clicks: [(10, 1)] * 10**7, "far more than is asked for: 10,000,000 elements"),
    (lambda clicks: "x" * 2**31, "asks for more than 1 GB of memory"),
    (lambda: [], "called with 1 argument,"),
    ("a text", "without parentheses"),
]


@pytest.mark.usefixtures("_nothing_is_left")
@pytest.mark.parametrize(("answer", "cause"), MISBEHAVING)
def test_a_bad_answer_gets_one_card_in_time_and_the_notebook_goes_on(q, answer, cause):
    began = time.monotonic()
    card = q.check(answer)
    assert card.state is State.NOT_YET
    assert cause in card.part(CAUSE)
    assert len(repr(card)) < 8_000
    assert card._repr_html_()
    assert time.monotonic() - began < 20


def test_slow_answers_are_not_tried_for_ever(monkeypatch):
    monkeypatch.setattr(judging, "WHOLE_SECONDS", 0.5)
    found = by_cases([Case((n,), n, "") for n in range(100)])(lambda n: time.sleep(0.2) or n)
    assert "does not come to an end" in found.cause


def test_a_slow_answer_may_take_its_time_in_both_calls():
    assert by_cases([Case((1,), 1, "")])(lambda n: time.sleep(1.8) or n) is None


def test_a_check_that_stands_still_without_a_processor_is_tried_again(monkeypatch, tmp_path):
    monkeypatch.setattr(sandbox, "SILENCE", 0.5)
    tries = tmp_path / "tries"

    def work(say):
        with tries.open("a") as file:
            file.write("x")
        if len(tries.read_text()) == 1:
            time.sleep(3600)
        return {"done": True}

    assert sandbox.sandbox(work).result == {"done": True}


def test_a_check_that_breaks_in_its_process_does_not_blame_the_answer():
    with pytest.raises(CheckBroke, match="ZeroDivisionError"):
        sandbox.sandbox(lambda say: {"n": 1 // 0})


def test_outside_linux_and_outside_the_main_thread_the_check_runs_too(monkeypatch, q):
    monkeypatch.setattr(sandbox.sys, "platform", "darwin")
    assert "does not come to an end" in diagnose(swallows_no_interrupt).cause
    cards: list[Card] = []
    thread = threading.Thread(target=lambda: cards.append(q.check(right)))
    thread.start()
    thread.join(30)
    assert cards[0].correct


def swallows_no_interrupt(clicks):
    while True:
        pass


@pytest.mark.usefixtures("_nothing_is_left")
def test_ctrl_c_ends_a_check_at_once():
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        diagnose(swallows_the_interrupt)
    timer.join()
    assert time.monotonic() - began < 3


# --- causes -------------------------------------------------------------------------------------

OF_THE_CASE = "the cause of the case"


@pytest.mark.parametrize(
    ("value", "expected", "cause"),
    [
        (2.0, 2, "of type float where a whole number"),
        (True, 1, "of type bool where a whole number"),
        (np.int64(2), 2, "numpy.int64, which `json.dumps` refuses"),
        (np.array([2]), [2], "Right contents in a numpy.ndarray; a list is expected."),
        ({"views": 4.0, "mean": 0.5}, {"mean": 0.5, "views": 4}, "of type float where a whole"),
        ((1, 2), [1, 2], "Right contents in a tuple; a list is expected."),
        ([[1, 2]], [(1, 2)], "a list stands for a tuple in it"),
        ([("a", "+1")], [("a", 1)], "a number stands as text"),
        ({b"10": 7}, {10: 7}, "a number stands as text or bytes"),
        ([{"a": 1}], {"a": 1}, "lies inside a list. Give it back by itself"),
        ([("a", 1)], {"a": 1}, "Right contents in a list; a dictionary is expected."),
        (("a", [1, 2]), ("a", {2, 1}), "a list stands for a set in it"),
        (("a", [2, 1]), ("a", [1, 2]), OF_THE_CASE),
        (["a", "a"], {"a", "b"}, "of type list, where one of type set is expected"),
        (pd.Series([1]), 1, "of type pandas.Series, where one of type int is expected"),
        ({"new": 1, "old": [2]}, {"new": 1, "old": [3]}, "Your value differs at `['old']`."),
        ((1, {"a": [2]}), (1, {"a": 3}), "`[1]['a']` is of type list, and type int is asked for"),
        ({"a": 1}, Counter(a=2), OF_THE_CASE),
    ],
)
def test_a_value_of_another_form_is_told_so(value, expected, cause):
    assert cause in by_cases([Case((1,), expected, OF_THE_CASE)])(lambda n: value).cause


def test_a_type_or_a_none_that_is_right_elsewhere_is_no_cause():
    check = by_cases([Case((1,), {}, OF_THE_CASE), Case((2,), "a", ""), Case((3,), None, "")])
    assert check(lambda n: "a").cause == OF_THE_CASE
    assert check(lambda n: n if n > 3 else None).cause.endswith(OF_THE_CASE)
    assert check(lambda n: None).cause.startswith("It returns None for this input.")
    check = by_cases([Case((1,), [1], "")], yields=True)
    assert check(lambda n: print(n)).cause.startswith("`yield` each value")


def test_a_slow_import_is_no_loop_and_a_long_check_says_so(q, capsys, monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "a_slow_package.py").write_text("import time; time.sleep(2.2)")

    def imports(clicks):
        import a_slow_package  # noqa: F401

        return right(clicks)

    assert q.check(imports).correct
    said, blank, end = capsys.readouterr().out.split("\r")  # each overwrites the one before
    assert said.startswith("The check is still trying")
    assert (blank.strip(), end) == ("", "")
    assert len(blank) >= len(said)


kept: dict[int, int] = {}


def counted(numbers):
    """It keeps its counts in a global: it agrees with itself, and not with another order."""
    for number in numbers:
        kept[number] = number
    return max(kept, default=0)


def test_what_is_kept_from_call_to_call_is_the_cause_and_no_idea_is():
    cases = [Case(([9],), 9, ""), Case(([2],), 2, "Two is the largest.")]
    assert by_cases(cases)(counted).cause.startswith("Called with this input alone")
    told = {}

    def at_first(n):
        return told.setdefault(n, len(told)) and None if n in told else told.setdefault(n, n)

    idea = Mistake(lambda n: n, "It gives the number as it is.")
    found = by_cases([Case((2,), 2, ""), Case((-1,), 1, "")], [idea])(at_first)
    assert found.cause.startswith("The same input gives another value the second time")


# --- what a card shows --------------------------------------------------------------------------

CELL = """
import statistics

def next_count(count, value):
    if b"Page" in value:
        return cuont + 1
    return count

def average(words):
    return statistics.mean([])
"""


def test_an_error_names_its_line_in_the_cell():
    compiler, names = CachingCompiler(), {}
    file = compiler.cache(CELL)
    exec(compiler(ast.parse(CELL), file, "exec"), names)
    found = by_cases([Case((1, b"Page"), 2, "")])(names["next_count"])
    assert found.where == "line 6: return cuont + 1"
    found = by_cases([Case(([],), 2, "")])(names["average"])
    assert found.where == "line 10: return statistics.mean([])"
    assert place(ValueError(), int) == ""
    linecache.cache.pop(file)


def test_two_long_values_are_shown_where_they_differ():
    expected = dict.fromkeys(range(50), "x" * 50)
    found = by_cases([Case((1,), expected, "")])(lambda n: {**expected, 40: "y" * 50})
    assert "40: 'yyy" in found.value
    assert "40: 'xxx" in found.expected
    assert found.value.startswith("… 39 lines as expected\n")


def itself():
    value: list[Any] = []
    value.append(value)
    return value


class Secretive(list[int]):
    """A list that doesn't say how long it is."""

    def __len__(self) -> int:
        raise ValueError("no")


LARGE = {
    "<Secretive of an unknown size>": Secretive,
    "<list of very many elements": itself,
    "<list of 1,700,000,000 bytes in one part>": lambda: [(bytes(1_700_000_000), b"1")],
}


@pytest.mark.parametrize("words", LARGE)
def test_a_large_value_is_neither_copied_nor_written_out(words):
    value = LARGE[words]()
    began = time.process_time()
    assert isinstance(bounded(value), Large)
    assert show(value).startswith(words)
    assert len(show(value)) < 2 * WIDTH * MOST_LINES
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "value",
    [list(range(1_000)), {n: n for n in range(1_000)}, "line\n" * 1_000, {"one": ["x" * 700] * 4}],
)
def test_a_value_takes_ten_lines_at_most_and_says_how_much_there_is(value):
    lines = show(value).split("\n")
    assert sum(-(-len(line) // WIDTH) for line in lines) <= MOST_LINES + 1
    assert "…" in show(value)

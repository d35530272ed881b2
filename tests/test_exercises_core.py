"""The exercise machinery: outcomes, hints, stubs, and answers that misbehave."""

from __future__ import annotations

import itertools
import threading
import time
from enum import StrEnum

import pytest
from proof import Catalogue, prove, stub_of

from workbook.classroom import judging
from workbook.classroom.calls import attempt
from workbook.classroom.core import Problem
from workbook.classroom.frames import difference
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.classroom.mistakes import Mistake
from workbook.classroom.render import Card, Part, State
from workbook.classroom.showing import show
from workbook.lessons.us_share_holders import changes_of_an_update


class Word(StrEnum):
    TWO = "two"


def longest(words: list[str]) -> str:
    best = ""
    for word in words:
        best = word if len(word) > len(best) else best
    return best


def counted(words):
    """Keeps its counts in a global: it agrees with itself, and not with another order."""
    for word in words:
        kept[word] = len(word)
    return max(kept, key=lambda word: kept[word], default="")


kept: dict[str, int] = {}


def make(**changes) -> Problem:
    fields = {
        "name": "Longest",
        "task": "Return the longest word, the first of them: `longest(['a', 'bb'])` gives 'bb'.",
        "stub": "def longest(words):\n    ...  # your code\n",
        "diagnose": by_cases(
            [
                Case((["a", "bb", "cc"],), "bb", "Of two long words the first is asked for."),
                Case(([],), "", "Without words the longest is the empty text."),
            ],
            [Mistake(lambda words: min(words, key=len, default=""), "It finds the shortest.")],
        ),
        "hints": ("What has to be remembered?", "One word is enough to remember.", "Use `max`."),
        "reference": longest,
        "discussion": "It compares <lengths> & nothing else.",
    }
    return Problem(**{**fields, **changes})


@pytest.fixture
def q() -> Problem:
    return make()


def only_a_docstring(words):
    """Return the longest word."""


def only_pass(words):
    pass


def returns_the_dots(words):
    return ...


def renamed(texts, more=None): ...


@pytest.mark.parametrize("answer", [..., only_a_docstring, only_pass, returns_the_dots, renamed])
def test_nothing_written_is_not_attempted(q, answer):
    assert q.check(answer).state is State.NOT_ATTEMPTED
    assert q.resolve(answer) is longest


def test_stub_with_lines_of_its_own_is_not_attempted():
    q = make(stub="def f(words: Unknown):\n    best = ''\n    for w in words:\n        ...\n")

    def f(words):
        """With a docstring."""
        best = ""  # noqa: F841
        for w in words:  # noqa: B007
            ...

    assert q.check(f).state is State.NOT_ATTEMPTED
    assert q.check(longest).correct


def test_stub_text_in_a_cell_is_not_attempted(q):
    assert q.untouched(stub_of(q))


def test_right_answer_shows_the_discussion(q):
    card = q.check(lambda words: max(words, key=len, default=""))
    assert card.correct
    assert "It compares <lengths> & nothing else." in repr(card)
    assert "&lt;lengths&gt; &amp; nothing" in card._repr_html_()


def test_not_yet_shows_value_input_and_cause(q):
    text = repr(q.check(lambda words: min(words, key=len, default="")))
    assert text.startswith("✗ Not yet: Longest")
    assert "words = ['a', 'bb', 'cc']" in text
    assert "Your value:\n    'a'" in text
    assert "Expected:\n    'bb'" in text
    assert "Likely cause: It finds the shortest." in text


def test_unknown_mistake_gets_the_cause_of_its_case(q):
    cause = q.check(lambda words: max(reversed(words), key=len, default="")).part("Likely cause")
    assert cause == "Of two long words the first is asked for."


def prints(words):
    print(max(words, key=len, default=""))


def raises(words):
    return words[99]


def leaves(words):
    raise SystemExit(3)


def recurses(words):
    return recurses(words)


def loops(words):
    while True:
        pass


def loops_and_catches(words):
    while True:
        try:
            words[99]
        except Exception:
            continue


def prints_for_ever(words):
    while True:
        print("still here")


def sorts_in_place(words):
    words.sort(key=len, reverse=True)
    return words[0] if words else ""


memory: list[str] = []


def remembers(words):
    memory.extend(words)
    return max(memory[-len(words) :], key=len) + "+" * (len(memory) > 3) if words else ""


def yields(words):
    yield longest(words)


async def waits(words):
    return longest(words)


def falls_out(words):  # noqa: RET503
    if words:
        return longest(words)


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None


MISBEHAVING = [
    (prints, "It prints the value"),
    (falls_out, "ends without a `return`"),
    (lambda words: print() if words else None, "prints the value"),
    (raises, "It raised IndexError: list index out of range"),
    (leaves, "It raised SystemExit: 3"),
    (recurses, "It raised RecursionError"),
    (loops, "does not come to an end"),
    (sorts_in_place, "changes the input"),
    (remembers, "call to call"),
    (yields, "generator"),
    (waits, "async def"),
    (lambda words: longest, "missing its parentheses"),
    (lambda words: Hostile(), "first is asked for"),
    (lambda: "bb", "called with 1 argument,"),
    (lambda words, size: "bb", "missing a required argument: 'size'"),
    ("bb", "without parentheses"),
    (None, "without parentheses"),
]


@pytest.mark.parametrize(("answer", "piece"), MISBEHAVING)
def test_misbehaving_answer_is_not_yet(q, answer, piece):
    if answer is remembers:
        memory.clear()
    card = q.check(answer)
    assert card.state is State.NOT_YET
    assert piece in card.part("Likely cause")
    assert q.resolve(answer) is longest
    assert card._repr_html_()


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (lambda words: max({"word": w} for w in ("a", "b")), "Dictionaries have no order"),
        (lambda words: min(len(words), None), "ask `is None` before"),
        (lambda words: len(words) - None, "ask `is None` before"),
        (lambda words: sorted([].extend(words)), "takes a None for a value"),
        (lambda words: words["name"], "asks a list for a field"),
        (lambda words: max(word for word in words if len(word) > 99), "smallest or largest of"),
        (lambda words: [seen.pop(w) for seen in [{1: 1, 2: 2}] for w in seen], "A loop goes over"),
        (lambda words: words[99], "list index out of range. Follow this input"),
    ],
)
def test_cause_of_an_error(q, answer, cause):
    assert cause in q.check(answer).part("Likely cause")


def none_where_empty(words):
    if words:
        return longest(words)
    return None


def none_by_append(words):
    found = []
    return found.append(longest(words))


class Best:
    def __init__(self, words):
        self.word = longest(words)


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (none_where_empty, "returns None for this input. Without words the longest is the"),
        (
            lambda words: None if not words else longest(words),
            "returns None for this input. Without",
        ),
        (none_by_append, "such as `append`, `update` or `sort`, return nothing"),
        (lambda words: filter(None, words), "returns an iterator (of type filter)"),
        (lambda words: map(str, words), "returns an iterator (of type map)"),
        (lambda words: Best(words), "of type test_exercises_core.Best, where one of type str"),
        (lambda words: Best, "returns the class `Best` itself"),
        (counted, "Called with this input alone, it gives another value"),
    ],
)
def test_the_cause_is_the_true_one(q, answer, cause):
    assert cause in q.check(answer).part("Likely cause")
    assert not kept


@pytest.mark.parametrize(
    ("value", "expected", "cause"),
    [
        (2.0, 2, "of type float where a whole number"),
        (True, 1, "of type bool where a whole number"),
        ([(10.0, 2)], [(10, 2)], "of type float where a whole number"),
        ({10.0: 2}, {10: 2}, "of type float where a whole number"),
        ((1, 2), [1, 2], "Right contents in a tuple; a list is expected."),
        ([[1, 2]], [(1, 2)], "a list stands for a tuple in it"),
        ({"a": (1, 2)}, {"a": [1, 2]}, "a tuple for a list"),
        ([1, 3], [1, 2], "the cause of the case"),
        ("8", 8, "a number stands as text"),
        ([("10", 2)], [(10, 2)], "a number stands as text"),
        ({("a", "0"): 1}, {("a", 0): 1}, "a number stands as text"),
        ({("a", 1): "2"}, {("a", 1): 2}, "a number stands as text"),
        ("True", True, "the cause of the case"),
        ((8, "click"), 8, "The right value lies inside a tuple. Give it back alone"),
        ([{"a": 1}], {"a": 1}, "The right value lies inside a list. Give it back by itself"),
        ([("a", 1)], {"a": 1}, "Right contents in a list; a dict is expected."),
        (["b", "a"], {"a", "b"}, "Right contents in a list; a set is expected."),
        ({"b", "a"}, ["a", "b"], "Right contents in a set, without an order; a list is expected."),
        ({"a": 1}.keys(), ["a"], "Right contents in a dict_keys, without an order; a list"),
        (set(), [], "Right contents in a set, without an order; a list is expected."),
        ({"a"}, ["a", "a"], "the cause of the case"),
        (["a", "a"], {"a", "b"}, "the cause of the case"),
        ("a", {"a"}, "a set that holds it is expected"),
        ([], set(), "Right contents in a list; a set is expected."),
        (None, 1, "It returns None, whatever the input"),
    ],
)
def test_a_value_of_another_type_is_told_so(value, expected, cause):
    assert cause in by_cases([Case((1,), expected, "the cause of the case")])(lambda n: value).cause


@pytest.mark.parametrize("value", [2.0, Word.TWO, True])
def test_a_value_of_the_type_that_is_asked_for_passes(value):
    assert by_cases([Case((1,), value, "")])(lambda n: value) is None


def test_a_text_of_an_enum_looks_like_the_text_that_it_equals():
    diagnose = by_cases([Case((1,), ("two", 1), "It is one.")])
    found = diagnose(lambda n: (Word.TWO, 2))
    assert (found.value, found.expected) == ("('two', 2)", "('two', 1)")
    assert diagnose(lambda n: (Word.TWO, 1)) is None


def test_a_right_value_whose_input_was_changed_is_shown_with_its_input():
    def takes_out(shares):
        shares["AAPL"] -= 10
        return shares

    diagnose = by_cases([Case(({"AAPL": 30},), {"AAPL": 20}, "Twenty are left.")])
    shown = {part.label: part.text for part in diagnose(takes_out).parts()}
    assert shown == {
        "Likely cause": "The value is right here, but it changes the input it was given. Build a "
        "new value and leave the input alone.",
        "Input": "shares = {'AAPL': 30}",
        "Input afterwards": "shares = {'AAPL': 20}",
    }


def test_the_case_that_is_shown_is_one_that_its_mistake_is_about():
    cases = [Case((n,), n, "") for n in (1, -1, -2)]
    about = Mistake(lambda n: abs(n) + 1, "It takes the absolute value.", shows=lambda n: n < 0)
    found = by_cases(cases, [about])(lambda n: abs(n) + 1)
    assert (found.cause, found.given) == ("It takes the absolute value.", "n = -1")


def test_an_answer_that_looks_at_no_exchange_is_shown_one_that_is_abroad():
    def changes(old, new):
        return [(r["client"], sign, r) for sign, r in ((-1, old), (1, new)) if r]

    card = changes_of_an_update.check(changes)
    assert "SAP in Frankfurt" in card.part("Likely cause")
    assert "'XETRA'" in card.part("Your value")


def test_what_an_answer_returned_and_changes_later_is_noticed():
    held = []

    def holds(n):
        held.append(n)
        return held

    assert "call to call" in by_cases([Case((1,), [1], "the cause of the case")])(holds).cause


def test_what_is_right_only_the_first_time_is_explained_by_its_memory():
    told = {}

    def positive(n):
        """Its values at first are those of an answer that gives the number as it is."""
        if told.get(n) == n or n < 0:
            return n if n < 0 else None
        told[n] = n
        return n

    cases = [Case((2,), 2, "It's positive."), Case((-1,), 1, "It has no sign afterwards.")]
    found = by_cases(cases, [Mistake(lambda n: n, "It gives the number as it is.")])(positive)
    assert found.cause.startswith("The same input gives another value the second time")
    assert (found.value, found.expected) == ("2\nand the second time None", "2")


@pytest.mark.parametrize("answer", [lambda n: None if n else 0, lambda n: (n > 9 and n) or None])
def test_an_expression_that_says_none_itself_is_no_method(answer):
    def written_out(n):
        return None if n else 0

    def with_or(n):
        return (n > 9 and n) or None

    cases = [Case((0,), 0, "Zero stays."), Case((1,), 1, "One stays.")]
    for each, yields in itertools.product((answer, written_out, with_or), (False, True)):
        cause = by_cases(cases, any_iterable=yields)(each).cause
        assert "append" not in cause
        assert cause.endswith("stays.") or "whatever the input" in cause


def test_after_a_value_that_is_too_large_no_further_case_is_tried():
    diagnose = by_cases([Case((1,), 1, ""), Case((2,), 2, "")])
    assert "far more" in diagnose(lambda n: [0] * 10**6 if n == 1 else time.sleep(60)).cause


def test_slow_answers_are_not_tried_for_ever(monkeypatch):
    monkeypatch.setattr(judging, "WHOLE_SECONDS", 0.5)
    began = time.monotonic()
    found = by_cases([Case((n,), n, "") for n in range(100)])(lambda n: time.sleep(0.2) or n)
    assert "does not come to an end" in found.cause
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("answer", [loops, loops_and_catches, prints_for_ever])
def test_endless_loop_ends_and_leaves_no_thread(answer):
    threads, began = threading.active_count(), time.monotonic()
    tried = attempt(answer, [], seconds=0.1)
    assert tried.timed_out
    assert len(tried.printed) < 10_000
    assert time.monotonic() - began < 30
    assert threading.active_count() == threads


def test_outside_the_main_thread_an_answer_is_called_without_a_limit(q):
    cards: list[Card] = []
    thread = threading.Thread(target=lambda: cards.append(q.check(longest)))
    thread.start()
    thread.join(30)
    assert cards[0].correct


def test_broken_check_is_rendered_too():
    def breaks(answer):
        raise ZeroDivisionError("division by zero")

    card = make(diagnose=breaks).check(longest)
    assert "The check itself broke: ZeroDivisionError" in repr(card)


def test_value_answers_need_no_function():
    def diagnose(answer):
        return None if answer == 42 else NotYet("Add one.", value=show(answer))

    q = make(diagnose=diagnose, stub="answer = ...\n", reference=42)
    assert q.check(...).state is State.NOT_ATTEMPTED
    assert q.check(41).part("Your value") == "41"
    assert q.check(42).correct
    assert q.resolve(...) == 42
    assert "42" in repr(q.solution())


def test_hints_come_one_by_one_and_then_the_solution_is_named(q):
    shown = [q.hint().part("") for _ in range(4)]
    assert shown[:3] == list(q.hints)
    assert "solution()" in shown[3]
    assert q.hint(2).part("") == q.hints[1]
    assert repr(q.hint(2)).startswith("? Hint: Longest, 2 of 3")
    assert "last hint" in q.hint(99).part("")
    assert q.hint(0).part("") == q.hints[0]


def test_solution_is_folded_source(q):
    assert "def longest(words):\n" in repr(q.solution())
    assert "<details>" in q.solution()._repr_html_()


def test_the_notebook_goes_on_with_an_answer_only_once_it_has_passed(q, capsys):
    def goes_on_with(answer):
        return q.resolve(answer), capsys.readouterr().out.removeprefix("Longest: ")

    empty, reference = goes_on_with(...), goes_on_with(longest)
    assert empty[0] is reference[0] is longest
    assert empty[1].startswith("your cell is still empty, so the reference stands in")
    assert reference[1] == "the reference still stands in for your answer.\n"
    right, again = RIGHT[0], lambda words: max(words, key=len, default="")
    never_checked = goes_on_with(right)
    assert never_checked[0] is longest
    assert never_checked[1].startswith("`check` hasn't seen this answer yet, so the reference")
    q.check(right)
    assert goes_on_with(right) == (right, "")
    changed = goes_on_with(again)
    assert changed[0] is longest
    assert changed[1].startswith("`check` hasn't seen this answer yet")
    q.check(raises)
    wrong = goes_on_with(raises)
    assert wrong[0] is longest
    assert wrong[1].startswith("not solved yet, so the reference stands in for your answer.")
    assert all(said.count("\n") == 1 for _, said in (empty, never_checked, changed, wrong))


def test_a_cell_that_resolves_may_be_run_twice(q, capsys):
    q.check(RIGHT[0])
    assert q.resolve(q.resolve(RIGHT[0])) is RIGHT[0]
    assert capsys.readouterr().out == ""


# --- what yields, where any iterable will do ----------------------------------------------------


def squares(numbers):
    return [n * n for n in numbers]


@pytest.mark.parametrize(
    "answer",
    [
        squares,
        lambda numbers: (n * n for n in numbers),
        lambda numbers: map(int.__mul__, numbers, numbers),
        lambda numbers: tuple(squares(numbers)),
    ],
)
def test_any_iterable_may_be_returned(answer):
    assert by_cases([Case(([1, 2],), [1, 4], "")], any_iterable=True)(answer) is None


def for_ever(numbers):
    while True:
        yield 1


def breaks_on_the_way(numbers):
    yield 1
    yield numbers[99]


@pytest.mark.parametrize(
    ("answer", "value", "cause"),
    [
        (for_ever, "[1, 1, 1, ... without end", "yields without end: after 10,000 elements"),
        (breaks_on_the_way, "raised IndexError", "It raised IndexError"),
        (lambda numbers: {n: n * n for n in numbers}, "{1: 1, 2: 4}", "the cause"),
        (lambda numbers: "14", "'14'", "the cause"),
        (lambda numbers: 14, "14", "the cause"),
        (lambda numbers: reversed(squares(numbers)), "[4, 1]", "backwards"),
    ],
)
def test_what_is_wrong_with_an_iterable_is_named(answer, value, cause):
    mistakes = [Mistake(lambda numbers: reversed(squares(numbers)), "It goes backwards.")]
    found = by_cases([Case(([1, 2],), [1, 4], "the cause")], mistakes, any_iterable=True)(answer)
    assert cause in found.cause
    assert found.value.startswith(value)


def test_problem_shows_its_task(q):
    assert repr(q).startswith("▸ Task: Longest")
    assert "<code>longest([&#x27;a&#x27;, &#x27;bb&#x27;])</code>" in q._repr_html_()


def test_what_a_learner_returns_is_escaped(q):
    shown = q.check(lambda words: "<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown


def test_states_differ_in_word_and_symbol():
    outcomes = [State.NOT_ATTEMPTED, State.NOT_YET, State.CORRECT]
    assert len({s.word for s in outcomes}) == len({s.symbol for s in outcomes}) == 3
    for state in State:
        card = Card(state, "name", (Part("Label", "text"),))
        assert f"{state.symbol} {state.word}" in repr(card)
        assert f"{state.symbol} {state.word}" in card._repr_html_()


def test_difference_counts_repeated_rows():
    table = difference(["name"], [("a",), ("a",), ("b",)], [("a",), ("c",)])
    assert table == (
        ("row", "name"),
        ("in both", "a"),
        ("missing", "c"),
        ("only in yours", "a"),
        ("only in yours", "b"),
    )


RIGHT = [lambda words: max(words, key=len, default=""), longest]
WRONG = [(answer, piece) for answer, piece in MISBEHAVING if answer in (raises, prints, yields)] + [
    ("bb", "without parentheses"),
    (sorts_in_place, "changes the input"),
    (lambda words: "", "first is asked for"),
]


def test_proof_passes(q):
    prove(q, Catalogue(RIGHT, WRONG))


@pytest.mark.parametrize(
    "changes",
    [
        {"hints": ()},
        {"hints": ("a", "", "c")},
        {"hints": ("a", "b", "c", "d")},
        {"hints": ("First `return best`.", "b")},
        {"discussion": " "},
        {"stub": "def longest(words):\n    return words[0]\n"},
        {"reference": raises},
    ],
)
def test_proof_finds_a_flaw(changes):
    with pytest.raises(AssertionError):
        prove(make(**changes), Catalogue(RIGHT, WRONG))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        (RIGHT[:1], WRONG),
        ([*RIGHT, raises], WRONG),
        (RIGHT, WRONG[:5]),
        (RIGHT, [*WRONG, (longest, "")]),
        (RIGHT, [*WRONG, (lambda words: "x", "")]),
        (RIGHT, [*WRONG, (lambda words: words, "another cause")]),
    ],
)
def test_proof_finds_a_gap_in_the_catalogue(q, right, wrong):
    with pytest.raises(AssertionError):
        prove(q, Catalogue(right, wrong))


def test_a_skipped_exercise_takes_the_reference_until_an_answer_is_checked(capsys) -> None:
    problem = make()

    def mine(words):
        return max(words, key=len, default="")

    problem.check(mine)
    assert problem.skip().state is State.SKIPPED
    assert problem.resolve(mine) is problem.reference
    assert "the reference still stands in" in capsys.readouterr().out
    assert problem.check(mine).correct
    assert problem.resolve(mine) is mine

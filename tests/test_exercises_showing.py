"""What a card shows of an answer: where its error came from, its clicks, and long values."""

from __future__ import annotations

import ast
import linecache
from functools import partial

import pytest
from IPython.core.compilerop import CachingCompiler

from workbook.classroom.calls import alike, attempt
from workbook.classroom.showing import arguments, place, show
from workbook.events.clicks import Click, ClickType
from workbook.lessons.page_view_counter import one_step

# --- where an error came from -------------------------------------------------------------------

CELL = """
import statistics

def helper(words):
    return words[0]

def next_count(count, value):
    if b"Page" in value:
        # one more
        return cuont + 1
    return count

def first(words):
    return helper(words)

def average(words):
    return statistics.mean([])
"""


@pytest.fixture
def cell():
    """The names of a cell that was run as a kernel runs it: its lines are in linecache."""
    compiler, names = CachingCompiler(), {}
    file = compiler.cache(CELL)
    exec(compiler(ast.parse(CELL), file, "exec"), names)
    yield names
    linecache.cache.pop(file)


def test_an_error_names_its_line_in_the_cell(cell):
    card = one_step.check(cell["next_count"])
    assert "It raised NameError: name 'cuont' is not defined" in card.part("Likely cause")
    assert card.part("Where in your cell") == "line 10: return cuont + 1"


@pytest.mark.parametrize(
    ("name", "words", "line"),
    [
        ("first", [], "line 5: return words[0]"),  # in a function of the same cell
        ("average", [], "line 17: return statistics.mean([])"),  # further in, in a library
        ("helper", ["a"], ""),
    ],
)
def test_the_place_is_the_innermost_line_of_the_cell(cell, name, words, line):
    answer = cell[name]
    assert place(attempt(answer, words).error, answer) == line
    wrapped = partial(answer, words)
    assert place(attempt(wrapped).error, wrapped) == line


def test_an_error_outside_the_answer_has_no_place(cell):
    assert place(attempt(int, "x").error, int) == ""
    assert place(attempt(lambda words: words[0], []).error, cell["helper"]) == ""


# --- clicks -------------------------------------------------------------------------------------


def test_each_click_is_shown_on_one_line():
    home = Click(1, ClickType.PAGE, "/home", 10_200, "Firefox")
    shoes = Click(2, ClickType.ACTION, "buy", 10_300, "Firefox", "tab 1")
    assert arguments(lambda clicks, n: None, ([home, shoes], 7)).splitlines() == [
        "clicks = [Click(event_id=1, click_type='Page', name='/home', timestamp=10200),",
        "          Click(event_id=2, click_type='Action', name='buy', timestamp=10300, "
        "tab_id='tab 1')]",
        "n = 7",
    ]


def test_clicks_are_compared_by_all_their_fields():
    firefox, safari = (Click(1, ClickType.PAGE, "/", 1, browser) for browser in ("F", "S"))
    assert show([firefox]) == show([safari])
    assert not alike([firefox], [safari])


def test_long_values_are_cut():
    assert len(show(list(range(100_000)))) < 3_000

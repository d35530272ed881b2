"""The mob's ninety minutes: a program that grows from cell to cell, and a way back to any step."""

import ast
import inspect
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chapters import NOTEBOOKS, cells, places
from kernels import Kernel, kernel

from workbook.classroom.core import as_a_cell
from workbook.classroom.render import State
from workbook.kafka.broker import Broker
from workbook.lessons.mob_ninety_minutes import (
    count_views,
    print_records,
    problems,
)
from workbook.lessons.mob_ninety_minutes import step as step_module
from workbook.lessons.mob_ninety_minutes.commit_on_delivery import commit_behind
from workbook.lessons.mob_ninety_minutes.per_second import page_second

[NOTEBOOK] = [path for path in NOTEBOOKS if path.stem == "mob_ninety_minutes"]
STEPS = range(1, len(problems) + 2)
"""The five steps, and the kill at the end."""

RECOVER_S = 60.0
"""Ten seconds at most on a quiet machine; a busy one mustn't fail the test."""

IMPORT = "from workbook.lessons.mob_ninety_minutes import recover"


def body(text: str) -> list[str]:
    """The lines of the last function in a text, without its head and its gap."""
    function = ast.parse(text).body[-1]
    lines = text.splitlines()[function.lineno : function.end_lineno]
    return [line for line in lines if "..." not in line]


@pytest.mark.parametrize("at", range(1, len(problems)))
def test_each_step_begins_with_the_program_of_the_step_before(at: int) -> None:
    former, stub = problems[at - 1], problems[at].stub
    written = as_a_cell(former.reference, former.stub)
    if at != 2:  # there the mob tidies up: `page_second` takes some of its lines
        assert body(stub) == body(written)
    assert problems[at].before is former
    shown = body(stub)
    assert [line for line in shown if "show(" in line or "views" in line or "produce(" in line]


def test_the_notebook_gives_the_mob_what_the_check_gives_it() -> None:
    for helper in (page_second, commit_behind):
        text = inspect.getsource(helper).rstrip()
        assert [cell for cell in cells(NOTEBOOK) if cell.rstrip() == text], helper.__name__


def test_each_step_is_called_as_the_notebook_calls_it() -> None:
    assert [place.shown_as for place in places(NOTEBOOK)] == [each.called for each in problems]


# --- taking over ------------------------------------------------------------------------------


def mob(reader, show, until):
    """A right answer to the first step, in somebody's own words."""
    while True:
        if until():
            return
        message = reader.poll(0.2)
        if message and message.error():
            raise RuntimeError(message.error())
        if message:
            show(message.key(), message.offset(), message.value())


class Shell:
    def __init__(self) -> None:
        self.puts: list[tuple[str, bool]] = []

    def set_next_input(self, text: str, replace: bool = False) -> None:
        self.puts.append((text, replace))


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    made = Shell()
    monkeypatch.setattr(step_module, "get_ipython", lambda: made)
    yield made
    for each in problems:
        each.check(each.reference)


def stub_of(problem: Any) -> Any:
    names: dict[str, Any] = {}
    exec(problem.stub, names)
    return names["mob"]


def test_an_untouched_cell_takes_over_what_was_written_before(shell: Shell) -> None:
    assert print_records.check(mob).correct
    card = count_views.check(stub_of(count_views))
    assert card.state is State.NOT_ATTEMPTED
    assert "has taken over" in str(card)
    [(text, replaces)] = shell.puts
    assert replaces
    assert text == f"{inspect.getsource(mob).rstrip()}\n\n\ncount_views.check(mob)"


def test_what_is_being_edited_is_never_replaced(shell: Shell) -> None:
    assert print_records.check(mob).correct
    assert count_views.check(mob).state is State.NOT_YET
    assert count_views.check(count_views.reference).correct
    assert shell.puts == []


@pytest.mark.parametrize(
    "answered",
    [
        lambda: print_records.check(print_records.reference),
        lambda: print_records.check(lambda reader, show, until: 0),
        lambda: (print_records.check(mob), print_records.skip()),
        lambda: print_records.check(eval("lambda r, s, u: mob(r, s, u)", globals())),
    ],
    ids=["our program", "a wrong one", "skipped", "of unknown text"],
)
def test_there_is_nothing_to_take_over(shell: Shell, answered: Callable[[], Any]) -> None:
    answered()
    card = count_views.check(stub_of(count_views))
    assert card.state is State.NOT_ATTEMPTED
    assert shell.puts == []


# --- the way back -----------------------------------------------------------------------------


def from_step(step: int) -> list[str]:
    """The code cells from the heading of a step on."""
    found, begun = [], False
    for cell in json.loads(NOTEBOOK.read_text())["cells"]:
        text = "".join(cell["source"])
        begun = begun or (cell["cell_type"] == "markdown" and text.startswith(f"## {step}. "))
        found += [text] if begun and cell["cell_type"] == "code" else []
    return found


def recovered(mine: Kernel, step: int) -> None:
    began = time.monotonic()
    said = mine.run(f"{IMPORT}\nrecover({step})")
    assert f"Go on under “{step}. " in said
    assert (f"Our program of step {step - 1} stands in" in said) == (step > 1)
    assert time.monotonic() - began < RECOVER_S


def test_recover_brings_fresh_topics_with_clicks_and_our_program(broker, tmp_path) -> None:
    topics: dict[int, tuple[str, ...]] = {}
    with kernel(tmp_path) as mine:
        for step in (1, 4, STEPS[-1]):
            recovered(mine, step)
            said = mine.run("print(f'{len(read_messages(chapter.config, clicks))} of {clicks};')")
            topics[step] = re.findall(r"(\d+) of (\S+);", said)[-1]
            assert int(topics[step][0]) >= 120
            if step == 4:
                assert "</figure>" in mine.run("_ = board('a chart')\nprint(views[0])")
                assert "per_second" in mine.run("old = start(mob, print)\nprint(mob.__module__)")
        assert len({name for _, name in topics.values()}) == len(topics) == 3
        assert "True" in mine.run("print(old.exception(0) is None)")
        assert "1\n" in mine.run("import threading\nprint(len(chapter.of_name))")
        mine.run("chapter.close()")


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_from_each_step_it_goes_on_to_the_end(broker: Broker, tmp_path: Path, step: int) -> None:
    with kernel(tmp_path) as mine:
        recovered(mine, step)
        *_, closing = [mine.run(cell) for cell in from_step(step)]
    assert "Closed." in closing

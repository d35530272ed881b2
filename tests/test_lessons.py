"""Exercises in one declaration: each proves itself, and no answer breaks the notebook."""

from __future__ import annotations

import time
from typing import Any

import pytest
from chapters import NOTEBOOKS, given_to, problems, stem
from proof import CAUSE, prove_lesson

from workbook.classroom import frames
from workbook.classroom.render import State

LESSONS = {
    f"{stem(path)}: {each.name}": each
    for path in NOTEBOOKS
    for each in problems(path)
    if each.wrong
}
ADD_UP = "rebalance: Add up the partitions"


@pytest.mark.parametrize("name", LESSONS)
def test_it_proves_itself(name: str, request: pytest.FixtureRequest) -> None:
    prove_lesson(LESSONS[name], **given_to(LESSONS[name], request))


def loops(*args):
    while True:
        pass


def sleeps(*args):
    time.sleep(3600)


def leaves(*args):
    raise SystemExit


def prints_megabytes(*args):
    print("no end " * 10**6)


def changes_its_input(records):
    views = {}
    while records:
        views[records.pop().key] = 1
    return views


def yields(*args):
    yield from args


def polls_for_ever(reader, show, until):
    while True:
        reader.poll(0.1)


def shows_megabytes(reader, show, until):
    show("no end " * 10**6)


def collects(clicks):
    return clicks.collect()


EVERYWHERE = {
    loops: "does not come to an end",
    sleeps: "does not come to an end",
    leaves: "It raised SystemExit",
}
OWN = {
    ADD_UP: {
        prints_megabytes: "It prints the value",
        changes_its_input: "It changes the input",
        yields: "It has a `yield`",
    },
    "mob_ninety_minutes: 3. Count per second": {
        polls_for_ever: "It raised NeverEnds",
        shows_megabytes: "far more than is asked for",
    },
    "views_per_second: Views per second on Spark": {
        prints_megabytes: "It prints the value",
        yields: "It has a `yield`",
        collects: "A DataFrame is asked for",
    },
}


@pytest.mark.parametrize("name", OWN)
def test_a_bad_answer_gets_one_card_in_time_and_the_notebook_goes_on(
    name: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem, given = LESSONS[name], given_to(LESSONS[name], request)
    monkeypatch.setattr(frames, "CALLING_SECONDS", 1.0)
    for answer, cause in {**EVERYWHERE, **OWN[name]}.items():
        began, card = time.monotonic(), problem.check(answer, **given)
        assert card.state is State.NOT_YET
        assert cause in card.part(CAUSE), f"{answer.__name__}:\n{card}"
        assert len(str(card)) < 5_000
        assert time.monotonic() - began < 20
    assert problem.check(problem.reference, **given).correct


def test_a_spark_frame_is_no_dictionary(spark: Any) -> None:
    card = LESSONS[ADD_UP].check(lambda records: spark.range(len(records)))
    assert "of type pyspark.DataFrame, where one of type dict" in card.part(CAUSE)
    assert spark.range(3).count() == 3

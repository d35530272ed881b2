"""A chapter's topics, shop and views on the real broker; and its predictions and questions."""

import os
import subprocess
import sys
from collections.abc import Iterator
from signal import SIGSTOP
from typing import Any

import pytest

from workbook.classroom.chapter import Chapter
from workbook.classroom.questions import Prediction, Recall
from workbook.classroom.render import State
from workbook.errors import BrokerUnreachable, QueryFailed
from workbook.kafka.broker import Broker
from workbook.kafka.readers import consumer, read_all


@pytest.fixture
def chapter(broker: Any) -> Iterator[Chapter]:
    made = Chapter("77_a_test")
    yield made
    made.close()


def test_a_second_chapter_of_the_same_name_ends_what_the_first_left(chapter: Chapter) -> None:
    clicks = chapter.topic("clicks")
    visitors = chapter.visitors(clicks, rate=50)
    seen = []

    def work(reader: Any, until: Any) -> None:
        while not until():
            seen.append(reader.poll(0.05))

    loop = chapter.loop(work, consumer(chapter.config, clicks))
    chapter.wait(lambda: seen, "the loop")
    Chapter("77_a_test").close()
    assert loop.exception(timeout=0) is None
    arrived = visitors.stop().messages
    assert len(read_all(chapter.config, clicks)) == arrived


def test_waiting_in_vain_raises_what_ended_a_loop(chapter: Chapter) -> None:
    def work(reader: Any, until: Any) -> None:
        raise KeyError("browser")

    chapter.loop(work, consumer(chapter.config, chapter.topic("clicks")))
    with pytest.raises(KeyError, match="browser"):
        chapter.wait(lambda: 0, "the loop", seconds=0.5)


def test_a_program_that_fails_ends_the_wait_with_its_last_words(chapter, tmp_path) -> None:
    chapter.program(f"{tmp_path}/log", "run", "ad_statistics", "--nonsense")
    with pytest.raises(QueryFailed, match=r"(?s)Start it again in its cell.*--nonsense"):
        chapter.wait(lambda: 0, "messages")


def test_waiting_in_vain_without_a_broker_names_the_broker(chapter: Chapter) -> None:
    chapter.broker = Broker("127.0.0.1:1")
    with pytest.raises(BrokerUnreachable, match=r"127\.0\.0\.1:1"):
        chapter.wait(lambda: 0, "a miracle", seconds=0.1)


def test_a_source_is_folded_and_says_how_long_it_is(chapter: Chapter) -> None:
    shown = chapter.source(consumer)
    assert repr(shown).startswith("def consumer(")
    assert "<details><summary>The source of <code>consumer</code>, " in shown._repr_html_()


# --- predictions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "actual", "state"),
    [
        (None, 3, State.UNANSWERED),
        ("3", 3, State.AS_PREDICTED),
        (" 1,005 ", 1005, State.AS_PREDICTED),
        ("2", 3, State.SURPRISE),
        ("Both", "both", State.AS_PREDICTED),
    ],
)
def test_a_prediction_is_answered_by_the_run(said: Any, actual: Any, state: State) -> None:
    guess = Prediction("How many?")
    if said is not None:
        guess.say(said)
    card = guess.against(actual, "Because.")
    assert card.state is state
    assert card.part("The run says") == str(actual)
    assert "Because." in repr(card)


def test_a_recall_question_says_what_is_wrong_with_a_choice() -> None:
    recall = Recall({"01: Where?": {"here": "", "there": "It's not there."}})
    [question] = recall.questions
    assert question.answer("here") == "✓ Right."
    assert question.answer("there") == "✗ It's not there. (Chapter 01.)"
    assert repr(recall) == "Where?\n  there\n  here"
    _, buttons, said = recall.children
    buttons.value = "there"
    assert said.value.startswith("✗ It&#x27;s not there.")


def test_a_prediction_is_kept_when_its_cell_runs_again(chapter, monkeypatch) -> None:
    cell: list[str | None] = ["one"]
    monkeypatch.setattr("workbook.classroom.chapter.running_cell", lambda: cell[0])
    guess = chapter.predict("How many?", 1, 2)
    guess.say(2)
    assert chapter.predict("How many?", 1, 2).value == "2"
    assert chapter.predict("How many?", 1, 3).value is None
    for other in ("two", None):
        cell[0] = other
        assert chapter.predict("How many?", 1, 2).value is None


SPARK_SOON = """
import time
from pyspark import SparkContext
from workbook.classroom import chapter as module
from workbook.spark import session
module.PAUSE_S = 10**6  # the tests' lab keeps no spare: each that a test kills would cost another
chapter = module.Chapter("77_a_test", spark=True)
while not session._starting.locked():
    time.sleep(0.01)
spark = chapter.spark()
assert spark.range(3).count() == 3 and chapter.spark() is spark
java = SparkContext._gateway.proc
chapter.close()
chapter.close()
assert SparkContext._gateway is None and java.poll() is not None
"""


def test_spark_starts_in_the_background_and_ends_with_the_chapter(broker: Any) -> None:
    its_own = os.environ | {"SPARK_DRIVER_MEMORY": "2049m"}  # more than a warm one has
    command = [sys.executable, "-c", SPARK_SOON]
    ran = subprocess.run(command, env=its_own, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert "Spark is starting" in ran.stdout


# --- programs beside a notebook ---------------------------------------------------------------


def test_a_program_ends_with_the_chapter_or_the_next_one_of_its_log(broker, tmp_path) -> None:
    chapter, log = Chapter("41_test"), tmp_path / "help.log"
    paused = chapter.program(str(log), "--help")
    paused.send_signal(SIGSTOP)
    assert chapter.program(str(log), "--help").wait(60) == 0
    assert paused.poll() is not None
    assert "usage" in log.read_text()
    last = chapter.program(str(log), "--help")
    last.send_signal(SIGSTOP)
    with subprocess.Popen(["sleep", "600"]) as stranger:
        ended = chapter.program(f"{log}.2", "--help")
        ended.wait(60)
        ended.pid = stranger.pid  # the number is given again
        chapter.close()
        assert stranger.poll() is None
        stranger.kill()
    assert last.poll() is not None

"""Answers that would hang, break or change the notebook: a check stays a check."""

from __future__ import annotations

import copy
import itertools
import os
import signal
import threading
import time
from collections.abc import Iterator

import psutil
import pytest
from jupyter_client.manager import start_new_kernel

from workbook.classroom import apart as module
from workbook.classroom.apart import apart
from workbook.classroom.calls import attempt
from workbook.classroom.judging import Case, NotYet, by_cases
from workbook.errors import CheckBroke
from workbook.events.clicks import Click, ClickType

CLICKS = [Click(1, ClickType.PAGE, "/home", 10_200, "Firefox")]
diagnose = by_cases(
    [
        Case((CLICKS,), [(10, 1)], "One second."),
        Case((CLICKS * 2,), [(10, 2)], "Two views."),
        Case(([],), [], "No clicks."),
    ]
)


def right(clicks):
    return [(click.epoch_second, len(clicks)) for click in clicks[:1]]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    threads, others = threading.active_count(), set(psutil.Process().children())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    yield
    assert set(psutil.Process().children()) <= others
    assert threading.active_count() <= threads
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    signal.signal(signal.SIGINT, before)
    assert diagnose(right) is None


def loops_in_c(clicks):
    return sum(itertools.count())


def loops_in_c_at_the_third(clicks):
    return right(clicks) if clicks else max(itertools.repeat(1))


def swallows_the_interrupt(clicks):
    while True:
        try:
            len(clicks)
        except:  # noqa: E722
            continue


def sleeps(clicks):
    time.sleep(3600)


def waits_for_a_lock(clicks):
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@pytest.mark.parametrize(
    ("answer", "given"),
    [
        (loops_in_c, "clicks = [Click(event_id=1"),
        (loops_in_c_at_the_third, "clicks = []"),
        (swallows_the_interrupt, "clicks = [Click(event_id=1"),
        (sleeps, "clicks = [Click(event_id=1"),
        (waits_for_a_lock, "clicks = [Click(event_id=1"),
    ],
)
def test_what_never_ends_is_ended_and_its_input_is_shown(answer, given):
    began = time.monotonic()
    found = diagnose(answer)
    assert "does not come to an end" in found.cause
    assert found.given.startswith(given)
    assert found.value == "none in time"
    assert time.monotonic() - began < 20


class Own(BaseException):
    pass


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, SystemExit, Own])
def test_whatever_an_answer_raises_is_its_own_error(kind):
    def raises(clicks):
        raise kind

    assert diagnose(raises).cause.startswith(f"It raised {kind.__name__}")
    assert attempt(raises, CLICKS).error.__class__ is kind  # in the notebook's process too


def leaves(clicks):
    os._exit(3)


def kills_itself(clicks):
    os.kill(os.getpid(), signal.SIGSEGV)


@pytest.mark.parametrize(
    ("answer", "how"), [(leaves, "(exit code 3)"), (kills_itself, "(SIGSEGV)")]
)
def test_what_ends_its_process_ends_no_notebook(answer, how):
    found = diagnose(answer)
    assert how in found.cause
    assert found.given.startswith("clicks = ")


def changes_the_class(clicks):
    Click.epoch_second = property(lambda click: 10)
    return right(clicks)


def adds_to_the_class(clicks):
    Click.views = len(clicks)
    return right(clicks)


def changes_the_enum(clicks):
    ClickType.label = "page"
    return right(clicks)


@pytest.mark.parametrize(
    ("answer", "name"),
    [(changes_the_class, "Click"), (adds_to_the_class, "Click"), (changes_the_enum, "ClickType")],
)
def test_a_class_that_is_changed_is_named_and_stays_as_it_was(answer, name, monkeypatch):
    copy.deepcopy(CLICKS)  # which leaves a note in the class
    before = [dict(vars(kind)) for kind in (Click, ClickType)]
    assert f"changes the class `{name}`" in diagnose(answer).cause
    monkeypatch.setattr(module.sys, "platform", "another")  # where nothing is forked
    assert f"changes the class `{name}`" in diagnose(answer).cause
    assert [dict(vars(kind)) for kind in (Click, ClickType)] == before


def test_an_answer_may_copy_what_it_is_given():
    if "__slotnames__" in vars(Click):
        del Click.__slotnames__
    assert diagnose(lambda clicks: right(copy.deepcopy(clicks))) is None


def test_an_answer_that_asks_for_input_is_told_so():
    assert "an answer can't ask for input" in diagnose(lambda clicks: input()).cause


def test_what_a_check_did_to_a_global_is_gone_afterwards():
    seen = []
    diagnose(lambda clicks: seen.append(clicks))
    assert seen == []


def test_outside_linux_the_check_runs_here(monkeypatch):
    monkeypatch.setattr(module.sys, "platform", "darwin")
    assert apart(lambda say: {"process": os.getpid()}).result == {"process": os.getpid()}
    assert diagnose(right) is None
    assert "does not come to an end" in diagnose(sleeps).cause


def test_a_long_result_and_its_last_step_come_back():
    def work(say):
        say(1)
        say(4)
        return {"text": "ä\n" * 1_000_000, "process": os.getpid()}

    ended = apart(work)
    assert ended.result["text"] == "ä\n" * 1_000_000
    assert ended.result["process"] != os.getpid()
    assert (ended.at, ended.hung, ended.died) == (4, False, "")


def test_a_check_that_breaks_does_not_blame_the_answer():
    def work(say):
        raise ZeroDivisionError("division by zero")

    with pytest.raises(CheckBroke, match="ZeroDivisionError: division by zero"):
        apart(work)


def test_what_stands_still_without_a_processor_is_tried_again(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "SILENCE", 0.5)
    tries = tmp_path / "tries"

    def work(say):
        with tries.open("a") as file:
            file.write("x")
        if len(tries.read_text()) == 1:
            time.sleep(3600)
        return {"done": True}

    assert apart(work).result == {"done": True}


# --- the learner's own Ctrl-C -------------------------------------------------------------------


def ctrl_c_after(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("answer", [loops_in_c, swallows_the_interrupt])
def test_ctrl_c_ends_a_check_at_once(answer):
    began, timer = time.monotonic(), ctrl_c_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        diagnose(answer)
    timer.join()
    assert time.monotonic() - began < 3


def test_ctrl_c_is_seen_even_if_the_answer_swallows_it():
    def swallows_once():
        try:
            time.sleep(30)
        except KeyboardInterrupt:
            return 1

    timer = ctrl_c_after(0.5)
    with pytest.raises(KeyboardInterrupt):
        attempt(swallows_once, seconds=40)
    timer.join()


@pytest.fixture
def kernel():
    """A notebook's kernel, as a lab starts it."""
    manager, client = start_new_kernel()
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


CELLS = """
import itertools, threading, sys
import pandas
from workbook.lessons.views_per_second import by_rule
threading.Thread(target=threading.Event().wait, daemon=True).start()
def completed(clicks):
    print("begun", file=sys.__stderr__, flush=True)
    return sum(itertools.count())
"""


def test_a_kernel_stays_usable_and_hears_an_interrupt(kernel):
    manager, client = kernel

    def run(code, then=lambda: None):
        identity, printed = client.execute(code), []
        while (message := client.get_iopub_msg(timeout=120))["msg_type"] != "status" or (
            message["content"]["execution_state"] != "idle"
            or message["parent_header"].get("msg_id") != identity
        ):
            content = message["content"]
            printed.append(str(content.get("data", content.get("text", ""))))
            if message["msg_type"] == "execute_input":
                then()
        while (reply := client.get_shell_msg(timeout=120))["parent_header"]["msg_id"] != identity:
            pass
        return reply["content"], "".join(printed)

    run(CELLS)
    _, shown = run("by_rule.check(completed)")
    assert "does not come to an end" in shown
    interrupt = threading.Timer(1, os.killpg, (manager.provisioner.pgid, signal.SIGINT))
    began = time.monotonic()
    reply, _ = run("by_rule.check(completed)", interrupt.start)
    assert reply.get("ename") == "KeyboardInterrupt", reply
    assert time.monotonic() - began < 60
    _, shown = run("print(by_rule.check(by_rule.reference))")
    assert "Correct: Completed seconds" in shown


# --- memory -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer",
    [
        lambda clicks: "x" * 2**31,
        lambda clicks: [bytes(1_700_000_000)],
        lambda clicks: list(range(10**12)),
    ],
)
def test_an_answer_gets_a_bounded_memory(answer):
    found = diagnose(answer)
    assert isinstance(found, NotYet)
    assert "asks for more than 1 GB of memory" in found.cause


def test_a_memory_that_is_full_does_not_hinder_the_report():
    hoard = []

    def hoards(clicks):
        while True:
            hoard.append(bytes(50_000_000))

    assert "more than 1 GB" in diagnose(hoards).cause

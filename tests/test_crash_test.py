"""``crash-test``: it blames a program for what it does, and no other; all that it starts ends."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from confluent_kafka.admin import AdminClient
from labs import until

from workbook.cli.main import main
from workbook.crashtest import dirt
from workbook.crashtest.copies import Record, slices
from workbook.crashtest.dirt import hostile
from workbook.crashtest.judge import Compare, judge, truth_of
from workbook.crashtest.report import keeps, sentences
from workbook.crashtest.results import Row
from workbook.crashtest.runs import Found, trial
from workbook.crashtest.trial import Setup
from workbook.errors import CrashFailed
from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_messages
from workbook.topics import Topic, new_topic

BUGGY = str(Path(__file__).with_name("buggy.py"))
WORDS = ["--servers", "{servers}", "--topic", "{in}", "--out", "{out}", "--group", "{run}"]


def rows(*pairs: tuple[str | None, str]) -> list[Row]:
    return [Row(key and key.encode(), value.encode()) for key, value in pairs]


CALM = rows(("a", "1"), ("b", "2"), ("c", "3"))


@pytest.mark.parametrize(
    ("killed", "kept", "counts"),
    [
        (CALM, "exactly once", {}),
        ([*CALM, CALM[0]], "at least once", {"twice": 1}),
        (CALM[1:], "at most once", {"lost": 1}),
        (rows(("a", "1"), ("b", "1"), ("c", "3")), "neither", {"changed": 1}),
        (rows(("a", "0"), ("a", "1"), ("b", "2"), ("c", "3")), "at least once", {"unexpected": 1}),
        (rows(("a", "1"), ("a", "0"), ("b", "2"), ("c", "3")), "neither", {"unexpected": 1}),
        ([*CALM, *rows(("d", "4"))], "neither", {"unexpected": 1}),
        ([*CALM[1:], CALM[1]], "neither", {"lost": 1, "twice": 1}),
    ],
)
def test_what_a_run_has_kept(killed: list[Row], kept: str, counts: dict[str, int]) -> None:
    compare = Compare()
    found = judge(truth_of(compare, CALM, CALM), compare, killed)
    assert (found.kept, dict(found.counts)) == (kept, counts)


def test_no_kill_is_blamed_for_what_differs_by_itself() -> None:
    first = rows(("a", "1"), ("b", "0.123"), ("c", "3"))
    second = rows(("a", "1"), ("b", "0.456"), ("c", "3"))
    truth = truth_of(Compare(), first, second)
    assert truth.unstable == {("b",)}
    killed = rows(("a", "1"), ("b", "0.789"), ("c", "4"))
    assert dict(judge(truth, Compare(), killed).counts) == {"changed": 1}


def test_a_result_that_is_new_in_each_run_is_no_fault() -> None:
    first, second, killed = (rows(("a", "1"), ("b", "2"), (f"id-{n}", "x")) for n in range(3))
    truth = truth_of(Compare(), first, second)
    assert not judge(truth, Compare(), killed).counts
    more = judge(truth, Compare(), [*killed, *rows(("id-4", "x"))])
    assert (more.kept, more.counts["new"]) == ("at least once", 1)
    assert truth_of(Compare("bag"), CALM[:1], CALM).judged == 0, "which of the two is the short one"


def test_the_fields_of_what_differs_by_itself_are_named() -> None:
    first, second = (
        rows(*((str(n), f'{{"at": {n + moment}}}') for n in range(3))) for moment in (0, 5)
    )
    found = Found(Setup(Broker(""), (), "", Path(), []), 1, 3, truth_of(Compare(), first, second))
    assert "the fields at: --ignore" in " ".join(sentences(found, "none"))


def test_a_few_results_of_chance_hide_no_loss() -> None:
    first = rows(*((f"k{n % 9}", str(n)) for n in range(99)))
    second = [*first[:-1], Row(first[-1].key, b"chance")]
    truth = truth_of(Compare(), first, second)
    assert truth.by == "bag"
    assert judge(truth, Compare(), first[50:]).counts["lost"]


def test_who_deleted_a_key_and_who_never_had_it_agree() -> None:
    gone = [*CALM, Row(b"a", None)]
    truth = truth_of(Compare("table"), gone, gone)
    assert not judge(truth, Compare("table"), CALM[1:]).counts


def test_a_table_is_compared_by_its_last_values() -> None:
    first = rows(("a", "1"), ("a", "2"), ("b", "1"))
    truth = truth_of(Compare(), first, rows(("a", "2"), ("b", "1")))
    assert truth.by == "table"
    right = judge(truth, Compare(), rows(("b", "1"), ("a", "1"), ("a", "2")))
    assert right.kept == "at least once"
    assert keeps(right, "exactly-once")  # a table can't show more
    assert keeps(right, "at-most-once")
    assert judge(truth, Compare(), rows(("a", "2"), ("a", "1"), ("b", "1"))).kept == "neither"


def test_fields_are_ignored_and_named() -> None:
    def results(moment: int) -> list[Row]:
        return rows(*((None, json.dumps({"id": n, "n": 1, "at": moment})) for n in range(3)))

    compare = Compare("id:id", ["at"])
    truth = truth_of(compare, results(1), results(2))
    assert not truth.unstable
    assert judge(truth, compare, results(3)[1:]).kept == "at most once"
    changing = truth_of(Compare(), results(1), results(2))
    assert changing.judged == 0
    found = Found(Setup(Broker(""), (), "", Path(), []), 7, 3, changing)
    assert "--ignore one" in " ".join(sentences(found, "none"))
    with pytest.raises(CrashFailed, match="field nobody in each result"):
        truth_of(Compare("id:nobody"), results(1), results(2))


def test_the_input_is_cut_in_order_and_whole() -> None:
    records = [Record(0, n, None, b"") for n in range(10)]
    assert [record for part in slices(records, 4) for record in part] == records


def test_dirt_is_made_of_the_input() -> None:
    found = hostile(Record(2, 5, b"k", b'{"n": 1, "name": "x"}'))
    assert len(found) > 50
    assert len({(each.key, each.value) for each in found.values()}) > 45
    assert b"NaN" in (found["n: NaN"].value or b"")


def crash_test(*words: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    known = ("--records", "2000", "--quiet", "2s", "--seed", "7")
    return workbook("crash-test", *known, *options, "--", *words)


def workbook(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "workbook", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize(
    ("bug", "code", "says"),
    [("none", 0, "✓ at least once in this run"), ("early", 1, "✗ neither in this run")],
)
def test_it_finds_the_fault_that_is_there(
    broker: Broker, tmp_path: Path, bug: str, code: int, says: str
) -> None:
    page = tmp_path / "report.html"
    kills = ("--kills", "6", "--html", str(page))
    found = crash_test(sys.executable, BUGGY, bug, *WORDS, options=kills)
    assert found.returncode == code, found.stdout + found.stderr
    assert says in found.stdout
    assert "6 faults" in found.stdout
    assert "<img alt=" in page.read_text()


SILENT = "import time; time.sleep(600)"
FORKS = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
print("I forked", "{in}{out}"); sys.exit(3)
"""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["-c", "print('{in}')"], "Expected {out} in the command"),
        (
            ["-c", "'{in} {out} {server}'"],
            "no place {server} in a command. Did you mean {servers}?",
        ),
        (["-c", "import sys; sys.exit('no {in} {out}')"], "ended with exit code 1. It said:\n  no"),
        (["-c", f"{SILENT} # {{in}} {{out}}"], "without a result in out."),
        (["-c", FORKS], "ended with exit code 3"),
    ],
)
def test_a_program_that_cannot_be_judged(broker: Broker, words: list[str], says: str) -> None:
    before = set(psutil.pids())
    found = crash_test(sys.executable, *words, options=("--start-within", "3s"))
    assert found.returncode == 2
    assert says in found.stderr
    new = [p for p in map(_words_of, set(psutil.pids()) - before) if "time.sleep(600)" in p]
    assert not new


def _words_of(pid: int) -> str:
    try:
        return " ".join(psutil.Process(pid).cmdline())
    except psutil.Error:
        return ""


def test_ctrl_c_ends_all_and_tells_what_was_seen(broker: Broker, tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = [sys.executable, "-m", "workbook", "crash-test", "--records", "2000", "--quiet", "2s"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*command, "--", sys.executable, BUGGY, "none", *WORDS],
            stdout=output, stderr=output, env=dict(os.environ), start_new_session=True,
        )  # fmt: skip
        until(lambda: "2 of 30" in log.read_text(), "two kills")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert "No verdict: it was interrupted after" in log.read_text()
    until(lambda: not [p for p in psutil.pids() if BUGGY in _words_of(p)], "its end")


def test_hostile_records_that_end_a_program_are_named(
    broker: Broker, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dirt, "MOST", 1)
    options = ["--kills", "1", "--dirt", "--records", "300", "--quiet", "2s"]
    assert main(["crash-test", *options, "--", sys.executable, BUGGY, "none", *WORDS]) == 1
    said = capsys.readouterr().out
    assert "these do harm" in said
    assert "exit code 1" in said
    assert said.count("Its value:") == 1


def test_a_run_leaves_no_topic(broker: Broker, tmp_path: Path) -> None:
    with trial(Setup(broker, ("true",), "leaves", tmp_path, [("clicks", 1)]), "none") as run:
        broker.create(Topic(f"{run.run}-views-changelog"))
    admin = AdminClient({**broker.client_config()})
    until(
        lambda: not [n for n in admin.list_topics(timeout=10).topics if "leaves" in n],
        "the end of its topics",
    )


def test_where_nothing_is_judged_no_promise_is_broken(broker: Broker) -> None:
    assert main(["crash-test", "--in", "nobody", "--", "x", "{in}", "{out}"]) == 2


def test_the_input_is_only_read(broker: Broker) -> None:
    made = new_topic("clicks", "crash-test", 2)
    broker.create(made)
    sent = workbook(
        *f"generate clicks --topic {made.name} --partitions 2 --rate 100 --seconds 10".split()
    )
    assert sent.returncode == 0, sent.stderr
    before = [(m.partition(), m.value()) for m in read_messages(broker.client_config(), made.name)]
    options = ("--in", made.name, "--kills", "2")
    found = crash_test(sys.executable, BUGGY, "none", *WORDS, options=options)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "1,000 records" in found.stdout
    after = [(m.partition(), m.value()) for m in read_messages(broker.client_config(), made.name)]
    assert after == before
    asked = AdminClient(broker.client_config())
    groups = [its.group_id for its in asked.list_consumer_groups().result().valid]
    assert not [name for name in groups if name.startswith("crash-test-")]

"""What the command line refuses: in a line, before Kafka and before Spark."""

import errno
import re
import socket
import sqlite3
from argparse import ArgumentTypeError
from pathlib import Path
from unittest.mock import Mock

import pytest

from workbook.cli import run
from workbook.cli.main import main
from workbook.crashlab.crashes import CRASHES
from workbook.errors import CannotGoOn
from workbook.systems import STREAMS, SYSTEMS
from workbook.systems.options import path, span, span_above_zero, topic, whole

pytestmark = pytest.mark.usefixtures("signals_as_before")


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def started(*words: object) -> None:
        raise AssertionError(f"started: {words}")

    monkeypatch.setattr(run, "kafka", started)
    monkeypatch.setattr(run.session, "spark_session", started)


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a command says that is refused; one line of it."""
    try:
        code = main(words)
    except SystemExit as ended:
        code = int(ended.code or 0)
    out, err = capsys.readouterr()
    assert (code != 0, out) == (True, "")
    lines = err.strip().splitlines()
    assert len(lines) == 1 or lines[1].startswith("For all that it takes: "), err
    return lines[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "file"
    made.write_text("something of mine, and no database")
    return made


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize("below", ["", "/state/here"])
def test_a_checkpoint_that_cannot_be_written_is_refused(below, file, capsys) -> None:
    said = refused(capsys, "run", "page_views", "--checkpoint", f"{file}{below}")
    assert f"Expected a folder to write to, but --checkpoint {file}{below} isn't one" in said
    assert "/file is a file" in said


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize(
    ("shared", "words", "came"),
    [
        ("", [], "it isn't set"),
        ("/mnt/all", ["--checkpoint", "/mnt/alles"], "/mnt/alles isn't below it"),
        ("/mnt/all", ["--checkpoint", "/mnt/all/../mine"], "/mnt/mine isn't below it"),
    ],
)
def test_a_checkpoint_that_executors_cannot_reach_is_refused(
    shared: str, words: list[str], came: str, capsys, monkeypatch
) -> None:
    monkeypatch.setenv("SPARK_MASTER", "spark://far:7077")
    monkeypatch.setenv("WORKBOOK_SHARED", shared)
    said = refused(capsys, "run", "page_views", *words)
    assert "Expected a checkpoint that the executors of spark://far:7077 reach too" in said
    assert came in said


@pytest.mark.usefixtures("nothing_starts")
def test_a_checkpoint_on_a_place_without_permission_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(**where: object) -> None:  # root may write to any folder
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("workbook.systems.preflight.tempfile.TemporaryFile", read_only)
    said = refused(capsys, "run", "page_views", "--checkpoint", str(tmp_path / "new"))
    assert f"nothing can be created in {tmp_path} (Read-only file system)" in said
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "error",
    [OSError(errno.ENOSPC, "No space left on device"), sqlite3.OperationalError("disk I/O error")],
)
def test_a_disk_that_is_full_at_the_start_is_said(error, capsys, monkeypatch) -> None:
    monkeypatch.setattr(run, "kafka", Mock(side_effect=error))
    assert main(["run", "page_views"]) == 1
    assert "The disk is full" in capsys.readouterr().err


@pytest.mark.usefixtures("nothing_starts")
def test_a_port_of_prometheus_that_is_taken_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused(capsys, "run", "page_views", "--metrics-port", port)
    assert f"Expected to serve Prometheus on port {port}" in said


@pytest.mark.usefixtures("nothing_starts")
def test_a_store_that_is_something_else_is_refused(tmp_path, file, capsys) -> None:
    for store, why in [
        (file, "a file of another kind"),
        (tmp_path, "it is a folder"),
        (file / "store.db", "is a file"),
    ]:
        said = refused(capsys, "run", "share_holders", "--store", str(store))
        assert f"--store {store} can't be one" in said
        assert why in said
    assert file.read_text() == "something of mine, and no database"


@pytest.mark.usefixtures("nothing_starts")
@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("--lateness banana", "argument --lateness: Expected this option as a time"),
        ("--lateness -5 --out m", "argument --lateness: Expected this option as a time"),
        ("--lateness 5s", "Expected --out with --lateness, but got none"),
        ("--out a/b", "argument --out: expected the name of a topic"),
        ("--seconds soon", "argument --seconds: expected a number above 0, but got 'soon'"),
        ("--latness 5s", "unknown: --latness"),
        ("--checkpoint hdfs://there/state", "expected a path in the file system"),
    ],
)
def test_options_that_mean_nothing_are_refused(words, says, capsys) -> None:
    assert says in refused(capsys, "run", "page_views", *words.split())


def test_a_time_is_read_in_any_unit_and_written_for_spark() -> None:
    written = {"5s": "5 seconds", "0 ms": "0 seconds", "1 Minute 30 seconds": "90 seconds",
               "1.5 s": "1500 milliseconds", "36525 days": "3155760000 seconds"}  # fmt: skip
    assert {text: span(text) for text in written} == written
    for text in ("", "5", "minutes", "5 secs ago", "5 bananas", "-5 seconds", "36526 days"):
        with pytest.raises(ArgumentTypeError, match=f"as a time like .* but got {text!r}"):
            span(text)
    with pytest.raises(ArgumentTypeError, match="from 1 ms to a century"):
        span_above_zero("0 s")


def test_topics_places_and_numbers_are_what_kafka_and_the_shell_take_them_for() -> None:
    assert topic("clicks.01-page_views") == "clicks.01-page_views"
    assert path("~/state") == str(Path.home() / "state")
    assert path("state") == str(Path.cwd() / "state")
    assert whole("24") == 24
    for take, text in [(topic, ""), (topic, ".."), (topic, "a b"), (path, ""), (whole, "0")]:
        with pytest.raises(ArgumentTypeError, match="expected"):
            take(text)


# --- help -------------------------------------------------------------------------------------


NAMES = {"generate": STREAMS, "run": SYSTEMS, "crash": CRASHES}
COMMANDS = ["lab", "store", "metrics", *(f"{do} {name}" for do in NAMES for name in NAMES[do])]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_has_its_meaning_and_its_default(command, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit):
        main([*command.split(), "--help"])
    options = re.findall(r"^  --.*(?:\n   .*)*", capsys.readouterr().out, re.MULTILINE)
    assert options
    for told in options:
        assert "default" in told.lower(), told
        assert len(told.split()) > 6, told


def test_where_an_error_came_from_is_shown_on_request(file, capsys) -> None:
    words = ("run", "share_holders", "--store", str(file))
    assert "a file of another kind" in refused(capsys, *words)
    with pytest.raises(CannotGoOn, match="a file of another kind"):
        main([*words, "--traceback"])


def test_without_a_command_the_commands_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "send a generated stream" in capsys.readouterr().out

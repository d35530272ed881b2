"""``workbook run --out`` and ``workbook metrics``, as a user types them, on real servers."""

import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from brokers import produce
from labs import OwnLab, end, read_until, until, workbook

from workbook.cli.main import main
from workbook.cli.results import LINES
from workbook.cli.screen import Writes
from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.events.metrics import NOT_A_METRIC
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.stream_producer import StreamProducer
from workbook.topics import Topic

MakeTopic = Callable[..., Topic]


def without_waits(text: str) -> list[str]:
    """The lines but those that announce what takes longer on a busy machine."""
    return [line for line in text.splitlines() if not line.endswith(" ...")]


def sparks() -> set[int]:
    """The processes of Spark's Java in this lab, those that only begin among them."""
    lab = OwnLab()
    lab.name = os.environ["WORKBOOK_LAB"]
    return {process.pid for process in lab.servers("org.apache.spark")}


def test_sigterm_while_spark_starts_is_a_clean_end_too(topic: MakeTopic) -> None:
    clicks = topic("clicks")
    its_own = os.environ | {"SPARK_DRIVER_MEMORY": "2049m"}  # more than a warm one has
    words = ("--in", clicks.name, "--out", "metrics.too-early")
    process = workbook("run", "page_views", *words, env=its_own)
    before = sparks()
    read_until(process, "Starting Spark")
    until(lambda: sparks() - before, "Spark's Java to begin")  # in a session of its own
    assert "Traceback" not in end(process, signal.SIGTERM)
    until(lambda: not sparks() - before, "Spark's Java to be gone")


@pytest.mark.usefixtures("signals_as_before")
def test_a_topic_that_is_missing_or_has_two_purposes_is_an_error(topic, capsys) -> None:
    name = topic("clicks").name
    for wrong, why in (name, "written would be read again"), ("nowhere", "Expected a topic 'now"):
        assert main(["run", "page_views", "--in", wrong, "--out", name]) == 1
        assert why in " ".join(capsys.readouterr().err.split())


# --- the reader -------------------------------------------------------------------------------


def test_a_reader_adds_up_the_last_values_of_a_second_and_passes_what_is_no_metric(
    broker: Any, topic: MakeTopic
) -> None:
    """Of many records that are no metrics the first ones are named, and all are counted."""
    metrics = topic("metrics")
    produce(
        broker.client_config(), metrics.name,
        (b"42", b"1700000000"), (b"many", b"1700000001"), (b"-1", b"1700000001"),
        (b"3",), (None, b"1700000002"), (b"4", b"soon"), (b"1", b"1700000003/0"),
        (b"42", b"1700000000"), (b"43", b"1700000000"),
        (b"7", b"1700000001"), (b"2", b"1700000003/1"), (b"5", b"1700000003/0"),
        *[(b"{}" * 50, b"tab")] * 37, (b"9", b"999999999999999999"),
    )  # fmt: skip
    process = workbook("metrics", metrics.name, stderr=subprocess.PIPE)
    assert process.stdout is not None
    lines = [process.stdout.readline().rstrip() for _ in range(7)]
    assert lines == [
        "1700000000 22:13:20 42",
        "1700000003 22:13:23 1",
        "1700000000 22:13:20 43",
        "1700000001 22:13:21 7",
        "1700000003 22:13:23 3",
        "1700000003 22:13:23 7",
        "999999999999999999 01:46:39 9",
    ]
    os.killpg(process.pid, signal.SIGTERM)
    said, named = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "")
    *told, last = without_waits(named)
    assert (len(told), last) == (LINES, "42 records were no metrics.")
    place = f"{metrics.name}, partition 0, offset 1: {NOT_A_METRIC}"
    assert told[0] == f"{place}; got key b'1700000001', value b'many'"


def test_a_closed_gate_lets_no_micro_batch_begin_to_write() -> None:
    writes = Writes()
    for point in ("before-compute", "before-checkpoint", "before-compute"):
        writes(point)
    writes.close()
    writes("before-checkpoint")
    with pytest.raises(InterruptedError):
        writes("before-compute")
    assert writes.begun == 2


# --- run page_views without --out -------------------------------------------------------------


COUNT = 6000


def views_of(stream: ClickStream, last: int) -> dict[str, int]:
    """The views of each page among the first events, as generated."""
    rows = stream.block(0, last).select(["reason", "value", "arrival"]).to_pylist()
    good = [row for row in rows if row["reason"] is None]
    clicks = [Click.from_json(row["value"], row["arrival"]) for row in good]
    return dict(Counter(click.name for click in clicks if click.click_type is ClickType.PAGE))


def shown(said: str) -> dict[str, int]:
    """The table that the command prints at its end."""
    found = re.findall(r"^  (\S+) +([\d,]+)$", said, re.MULTILINE)
    return {name: int(count.replace(",", "")) for name, count in found}


@pytest.mark.slow
def test_the_table_has_every_page_after_kill_9_and_a_restart(broker, topic, tmp_path) -> None:
    clicks, folder = topic("clicks", partitions=2), tmp_path / "state" / "page_views"
    stream = ClickStream(seed=11, rate=500, partitions=2, bad_share=0.05)
    stream = stream.ending_by(int(time.time() * 1000), COUNT)

    def add(first: int, last: int) -> None:
        with StreamProducer(broker.client_config(), clicks.name) as producer:
            producer.send_block(stream.block(first, last))

    def start() -> subprocess.Popen[str]:
        words = ("run", "page_views", "--in", clicks.name, "--checkpoint", str(folder))
        return workbook(*words)

    half = COUNT // 2
    before, after = views_of(stream, half), views_of(stream, COUNT)
    assert 100 < sum(before.values()) < sum(after.values())
    add(0, half)
    killed = start()
    read_until(killed, f"{sum(before.values()):,} page views on {len(before)} pages")
    until(lambda: (folder / "0" / "commits" / "0").exists(), "the commit of the micro-batch")
    killed.kill()
    killed.wait()

    again = start()  # nothing new has come: no micro-batch tells the table anew
    read_until(again, f"It goes on where {folder} ends")
    read_until(again, f"{sum(before.values()):,} page views on {len(before)} pages")
    add(half, COUNT)
    read_until(again, f"{sum(after.values()):,} page views on {len(after)} pages")
    assert shown(end(again, signal.SIGTERM)) == after

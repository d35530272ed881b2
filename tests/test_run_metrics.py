"""``workbook run --out`` and ``workbook metrics``, as a user types them, on real servers."""

import os
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import psutil
import pytest
from confluent_kafka import Producer
from labs import end, read_until, until, workbook

from workbook.cli.results import LINES
from workbook.cli.screen import Writes
from workbook.streams.events.metrics import NOT_A_METRIC
from workbook.topics import Topic

MakeTopic = Callable[..., Topic]


def produce(broker: Any, topic: Topic, *records: tuple[bytes | None, bytes | None]) -> None:
    """Records (key, value) into partition 0."""
    producer = Producer(broker.client_config())
    for key, value in records:
        producer.produce(topic.name, value, key, 0)
    assert producer.flush(20) == 0


def without_waits(text: str) -> list[str]:
    """The lines but those that announce what takes longer on a busy machine."""
    return [line for line in text.splitlines() if not line.endswith(" ...")]


def sparks() -> set[int]:
    """The processes of Spark's Java in this lab, those that only begin among them."""
    found = set()
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            ours = process.environ().get("WORKBOOK_LAB") == os.environ["WORKBOOK_LAB"]
            if ours and "org.apache.spark" in " ".join(process.cmdline()):
                found.add(process.pid)
    return found


def test_sigterm_while_spark_starts_is_a_clean_end_too(topic: MakeTopic) -> None:
    clicks = topic("clicks")
    process = workbook("run", "page_views", "--in", clicks.name, "--out", "metrics.too-early")
    before = sparks()
    read_until(process, "Starting Spark")
    until(lambda: sparks() - before, "Spark's Java to begin")  # in a session of its own
    assert "Traceback" not in end(process, signal.SIGTERM)
    until(lambda: not sparks() - before, "Spark's Java to be gone")


def test_one_topic_for_two_purposes_is_an_error(topic: MakeTopic) -> None:
    name = topic("clicks").name
    process = workbook("run", "page_views", "--in", name, "--out", name)
    said, _ = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in said) == (1, False)
    assert "what is written would be read again" in said


# --- the reader -------------------------------------------------------------------------------


def test_a_reader_adds_up_the_last_values_of_a_second_and_passes_what_is_no_metric(
    broker: Any, topic: MakeTopic
) -> None:
    metrics = topic("metrics")
    produce(
        broker, metrics,
        (b"1700000000", b"42"), (b"1700000001", b"many"), (b"1700000001", b"-1"),
        (None, b"3"), (b"1700000002", None), (b"soon", b"4"), (b"1700000003/0", b"1"),
        (b"1700000000", b"42"), (b"1700000000", b"43"),
        (b"1700000001", b"7"), (b"1700000003/1", b"2"), (b"1700000003/0", b"5"),
        (b"999999999999999999", b"9"),
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
    told = without_waits(named)
    assert len(told) == 5
    place = f"{metrics.name}, partition 0, offset 1: {NOT_A_METRIC}"
    assert told[0] == f"{place}; got key b'1700000001', value b'many'"


def test_a_topic_of_something_else_is_not_printed_record_by_record(
    broker: Any, topic: MakeTopic
) -> None:
    clicks = topic("clicks")
    produce(broker, clicks, *[(b"tab", b"{}" * 50)] * 37)
    process = workbook("metrics", clicks.name)
    line = read_until(process, "offset 0: ")
    assert line.startswith(f"{clicks.name}, partition 0, offset 0: {NOT_A_METRIC}; got key b'tab'")
    read_until(process, f"offset {LINES - 1}: ")
    assert end(process, signal.SIGINT) == "37 records were no metrics.\n"


def test_a_closed_gate_lets_no_micro_batch_begin_to_write() -> None:
    writes = Writes()
    for point in ("before-compute", "before-checkpoint", "before-compute"):
        writes(point)
    writes.close()
    writes("before-checkpoint")
    with pytest.raises(InterruptedError):
        writes("before-compute")
    assert writes.begun == 2

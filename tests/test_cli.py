"""The command line on real servers, as a user types it."""

import re
import signal
import time
from pathlib import Path

import pytest
from labs import OwnLab, read_until


def workbook(lab: OwnLab, *arguments: str) -> tuple[int, str]:
    process = lab.start("-m", "workbook", *arguments)
    said, _ = process.communicate(timeout=180)
    return process.returncode, said


def test_a_generated_stream_is_counted_and_ctrl_c_ends_it_cleanly(lab: OwnLab) -> None:
    assert workbook(lab, "up")[0] == 0
    code, said = workbook(lab, "run", "page_views", "--in", "nowhere")
    assert (code, "Traceback" in said) == (1, False)
    assert "Expected a topic 'nowhere'" in said
    code, said = workbook(
        *(lab, "generate", "clicks", "--rate", "1000", "--seconds", "3"),
        *("--partitions", "24", "--bad-share", "0.1"),
    )
    assert (code, "3,000 events" in said) == (0, True)
    process = lab.start("-m", "workbook", "run", "page_views", "--in", "clicks")
    read_until(process, "page views on 1")
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    counted = sum(int(n) for n in re.findall(r"^\s*/\S+\s+(\d+)$", said, re.MULTILINE))
    assert 1500 < counted < 2700, said
    assert workbook(lab, "down")[0] == 0
    lab.assert_nothing_is_left(set())


@pytest.mark.parametrize("command", [("generate", "clicks"), ("run", "page_views")])
def test_a_broker_that_is_down_is_an_error_within_ten_seconds(
    lab: OwnLab, command: tuple[str, ...]
) -> None:
    began = time.monotonic()
    code, said = workbook(lab, "generate", "clicks", "--bad-share", "2")
    assert (code, "between 0 and 1" in said, "Traceback" in said) == (1, True, False)
    to_start = time.monotonic() - began  # Python, on a machine as busy as it is
    lab.env["KAFKA_BOOTSTRAP_SERVERS"] = "127.0.0.1:1"
    began = time.monotonic()
    code, said = workbook(lab, *command)
    assert time.monotonic() - began < 10 + 3 * to_start
    assert (code, "Check KAFKA_BOOTSTRAP_SERVERS" in said, "Traceback" in said) == (1, True, False)


def test_a_lab_that_cannot_keep_copies_starts_nothing_and_faults_of_spark_are_told(
    lab: OwnLab, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    nowhere = str(tmp_path / "file" / "my_notebooks")
    lab.env |= {"WORKBOOK_NOTEBOOKS": nowhere, "SPARK_DRIVER_MEMORY": "lots"}
    lab.env |= {"SPARK_MASTER": "spark://127.0.0.1:1"}
    code, said = workbook(lab, "lab", "--no-browser")
    assert (code, "Traceback" in said, "Starting" in said) == (1, False, False)
    assert f"cannot be written to {nowhere}" in said
    assert "set WORKBOOK_NOTEBOOKS" in said
    assert "SPARK_DRIVER_MEMORY is 'lots'" in said
    assert "No Spark master answers at spark://127.0.0.1:1" in said
    lab.assert_nothing_is_left(set())

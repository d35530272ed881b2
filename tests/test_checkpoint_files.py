"""The files of a checkpoint, as Spark names them: each with its micro-batch and its time."""

import os
from pathlib import Path

from workbook.spark.checkpoints import checkpoint_files, planned

PLAN = 'v1\n{"batchWatermarkMs":0,"conf":{}}\n{"clicks":{"0":%d}}'


def write(path: Path, at: float, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (at, at))


def test_each_kind_has_its_micro_batch_and_time(tmp_path: Path) -> None:
    write(tmp_path / "offsets/7", 10)
    write(tmp_path / "state/0/0/8.delta", 11)
    write(tmp_path / "state/0/1/8.changelog", 12)
    write(tmp_path / "state/1/left-keyToNumValues/0/8_5f0c.changelog", 13)
    write(tmp_path / "commits/7", 14)
    assert sorted(checkpoint_files(tmp_path)) == [
        ("commits", 7, 14.0), ("offsets", 7, 10.0),
        ("state", 7, 11.0), ("state", 7, 12.0), ("state", 7, 13.0),
    ]  # fmt: skip


def test_what_is_no_file_of_a_micro_batch_is_left_out(tmp_path: Path) -> None:
    """A snapshot beside its changelog neither: a thread of its own makes it, at any time."""
    for name in (
        "offsets/.7.crc", "offsets/7.compact", "metadata", "sources/0/0", "state/0/_metadata/v2/0",
        "state/0/_stateSchema/default/0_aea1", "state/0/0/.8.delta.crc", "state/0/0/8.snapshot",
        "state/0/1/SSTs/000008-153d.sst",
    ):  # fmt: skip
        write(tmp_path / name, 1)
    assert checkpoint_files(tmp_path) == []
    assert checkpoint_files(tmp_path / "there is none") == []
    write(tmp_path / "state/0/0/8.changelog", 1)
    write(tmp_path / "state/0/0/8.zip", 99)
    write(tmp_path / "state/0/0/9.zip", 2)
    assert sorted(checkpoint_files(tmp_path)) == [("state", 7, 1.0), ("state", 8, 2.0)]


def test_up_to_which_offset_each_micro_batch_reads(tmp_path: Path) -> None:
    write(tmp_path / "offsets/0", 1, PLAN % 100)
    write(tmp_path / "offsets/1", 1, PLAN % 200)
    write(tmp_path / "offsets/2", 1, "v1\n{}\n" + '{"other":{"0":5}}\n{"clicks":{"0":300}}')
    write(tmp_path / "offsets/3", 1, "v1\n{}\n" + '{"clicks":{"0":300,"1":5}}')
    write(tmp_path / "offsets/4", 1, "v1\n{half")
    write(tmp_path / "offsets/5", 1)
    clamped = '{"offsets":{"clicks":{"0":400}},"tops":{}}'
    write(tmp_path / "offsets/6", 1, "v1\n{}\n" + clamped)
    assert planned(tmp_path, "clicks") == {0: 100, 1: 200, 2: 300, 6: 400}
    assert planned(tmp_path, "others") == {}
    assert planned(tmp_path / "there is none", "clicks") == {}

"""What chapter 41 has of its own: a picture of two commits, and programs beside the notebook."""

import os
import subprocess
from pathlib import Path
from signal import SIGSTOP

from workbook.classroom.chapter import Chapter
from workbook.classroom.two_commits import two_commits
from workbook.kafka.broker import Broker


def test_a_death_between_two_commits_leaves_one_in_the_database_twice(tmp_path: Path) -> None:
    for name, at in {"offsets/0": 1, "commits/0": 3, "offsets/1": 4, "commits/1": 9}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))
    drawn = two_commits(str(tmp_path), [(0, 2.0), (1, 5.0), (1, 8.0)], [6.0])
    assert drawn.words == (
        "When the kill fell, micro-batch 1 was in offsets and database, and not in commits. The "
        "last one in commits was 0. Since then 1 was written to database and commits."
    )
    assert drawn.rows[1] == {
        "micro-batch": "1", "offsets": "-2.00 s", "database": "-1.00 s, +2.00 s",
        "commits": "+3.00 s",
    }  # fmt: skip
    assert "✂ it dies" in drawn.figure
    assert 'title="commits/1 is missing"' in drawn.figure


def test_a_program_ends_with_the_chapter_or_the_next_one_of_its_log(
    broker: Broker, tmp_path: Path
) -> None:
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

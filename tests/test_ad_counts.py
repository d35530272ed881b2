"""What chapter 41 has of its own: programs beside the notebook."""

import subprocess
from pathlib import Path
from signal import SIGSTOP

from workbook.classroom.chapter import Chapter
from workbook.kafka.broker import Broker


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

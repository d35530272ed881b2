"""``workbook run page_views`` without ``--out``: the views of each page, over restarts."""

import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from labs import end, read_until, until, workbook

from workbook.streams.events.clicks import Click, ClickType
from workbook.streams.generators.clicks import ClickStream
from workbook.streams.stream_producer import StreamProducer
from workbook.topics import Topic

COUNT = 6000
MakeTopic = Callable[..., Topic]


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
def test_the_table_has_every_page_after_kill_9_and_a_restart(
    broker: Any, topic: MakeTopic, tmp_path: Path
) -> None:
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

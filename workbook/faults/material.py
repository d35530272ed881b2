"""What a crash lab works on: the clicks that wait in its topic, and how far they are read."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pandas as pd
from confluent_kafka import Producer

from workbook.errors import CrashFailed
from workbook.events.clicks import Click, ClickType
from workbook.faults.plan import EVENTS, SECONDS
from workbook.generators.clicks import ClickStream
from workbook.kafka.stream_producer import generate


def fill(config: dict[str, Any], topic: str, seed: int) -> pd.DataFrame:
    """Send the clicks; the page views that must be counted: event_id, timestamp (ms), second."""
    start = (int(time.time()) - SECONDS - 120) * 1000
    rate = EVENTS / SECONDS
    stream = ClickStream(seed=seed, rate=rate, start_ms=start, daily=0, bad_share=0.01)
    generate(config, topic, stream, EVENTS)
    _close(config, topic, start + (SECONDS + 60) * 1000)
    sent = stream.expected(0, EVENTS)
    views = sent[sent["reason"].isna() & (sent["click_type"] == ClickType.PAGE)]
    return views[["event_id", "timestamp"]].assign(second=views["timestamp"] // 1000)


def _close(config: dict[str, Any], topic: str, at: int) -> None:
    """Send one more page view, so much later that all seconds before it are complete."""
    click = Click(EVENTS, ClickType.PAGE, "/closing", at, "crash lab")
    producer = Producer({**config, "log_level": 0})
    producer.produce(topic, click.to_json(), partition=0, timestamp=at)
    if producer.flush(15):
        raise CrashFailed(
            "The broker did not take the input of the crash lab (python -m workbook doctor)."
        )


def committed(checkpoint: Path, topic: str) -> int | None:
    """Return the offset behind the last micro-batch that a checkpoint calls committed, or None."""
    done = [int(file.name) for file in (checkpoint / "commits").glob("[0-9]*")]
    if not done:
        return None
    lines = (checkpoint / "offsets" / str(max(done))).read_text().splitlines()
    return int(json.loads(lines[-1])[topic]["0"])


def recovery(killed_at: float | None, metrics: pd.DataFrame) -> float | None:
    """Return the seconds from the kill to the first metric after it, by record timestamps."""
    if killed_at is None:
        return None
    after = metrics["timestamp"][metrics["timestamp"] > killed_at * 1000]
    return float(after.iloc[0] / 1000 - killed_at) if len(after) else None

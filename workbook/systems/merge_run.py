"""Of a merge of two topics: where it begins, what is refused before, and where its clocks are."""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from confluent_kafka import Message

from workbook.errors import Rejected
from workbook.kafka.start_offsets import look_up
from workbook.pipelines.event_time_merge.columns import SUMS
from workbook.spark import checkpoints
from workbook.spark.runner import Batch, Sink
from workbook.streams.events.visits import CLOCK, Heartbeat, read_message
from workbook.systems.base import Shown, utc


def where_to_start(config: dict[str, str], options: Namespace, checkpoint: Path) -> str:
    """Return where to begin without a checkpoint: as the last merged visits say."""
    if checkpoints.begun(checkpoint):
        return "earliest"  # not asked: the checkpoint says where
    found = look_up(config, options.out, [options.source, options.orders])
    for note in found.notes:
        print(f"Something may be lost. {note}", flush=True)
    return found.to_json()


def is_of_a_visit(record: Message) -> bool:
    """Return whether a record is a good one with its ssid as key: others go to any partition."""
    try:
        message = read_message(record.key(), record.value(), record.timestamp()[1])
    except Rejected:
        return False
    return not isinstance(message, Heartbeat)


class Clocks(Sink):
    """Notes where each of the ``number`` partitions of a merge stands, by rows of kind clock."""

    kind = "clocks"

    def __init__(self, topics: Sequence[str], number: int) -> None:
        self._topics, self._number = tuple(topics), number
        self.partitions: dict[int, Mapping[str, Any]] = {}

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Note where the partitions of a micro-batch stand."""
        clocks = (row for row in rows.to_pylist() if row["kind"] == CLOCK)
        self.partitions = {**self.partitions, **{row["partition"]: row for row in clocks}}

    def sum_of(self, name: str) -> int:
        """Add up one of ``columns.SUMS`` over the partitions."""
        return sum(row[name] for row in self.partitions.values())

    def counts(self) -> dict[str, int]:
        """Return the sums; ``fragments`` are parts that arrived after their visit was emitted."""
        return {name: self.sum_of(name) for name in SUMS}

    def completed(self) -> int:
        """Return the clock (ms) of the slowest partition, 0 while one has none or is unheard."""
        clocks = [row["timestamp"] or 0 for row in self.partitions.values()]
        return min(clocks, default=0) if len(clocks) == self._number else 0

    def line(self) -> str:
        """Count the visits, and name the slowest partition."""
        if not self.partitions:
            return ""
        visits = f"{self.sum_of('open'):,} visits open, {self.sum_of('emitted'):,} emitted"
        return f"{visits}, {self._slowest()}"

    def _slowest(self) -> str:
        """Say how far the slowest partition has come, and which of its topics holds it back.

        One that is idle, or goes on after it was, is behind the clock and doesn't.
        """
        rows = [row for row in self.partitions.values() if row["timestamp"] is not None]
        silent = [
            f"{self._topics[number]}[{row['partition']}]"
            for row in self.partitions.values()
            for number in (0, 1)
            if row["timestamp"] is None and row[f"newest_{number}"] is None
        ]
        if silent:
            return f"nothing yet from {silent[0]}"
        if not rows:
            return "no clock yet"
        last = min(rows, key=lambda row: row["timestamp"])
        newest, number = min((last[f"newest_{n}"] or -1, n) for n in (0, 1))
        by = "by" if newest >= last["timestamp"] else "without"
        return f"clock {utc(last['timestamp'])} {by} {self._topics[number]}[{last['partition']}]"

    def shown(self, timeout: str) -> Shown:
        """Return a row per partition: its newest event times, its clock (UTC), its visits."""
        rows = [
            (
                str(number),
                *(_clock(row[f"newest_{n}"]) for n in (0, 1)),
                _clock(row["timestamp"]),
                f"{row['open']:,}",
                f"{row['emitted']:,}",
            )
            for number, row in sorted(self.partitions.items())
        ]
        waits = self.sum_of("open") and not self.sum_of("emitted")
        notes = [_WAITS.format(timeout=timeout)] if waits else []
        return Shown(("partition", *self._topics, "clock", "open", "emitted"), rows, notes=notes)

    def summary(self, out: str, dead_letters: str) -> list[str]:
        """Count the results, with the names of their topics.

        The counts are known of partitions from which something has come since the start.
        """
        if not self.partitions:
            return [f"No micro-batch has ended: {out} holds what was there before."]
        emitted, still = self.sum_of("emitted"), self.sum_of("open")
        fragments, lone = self.sum_of("fragments"), self.sum_of("no_visit")
        more = f", {fragments:,} of them a further part of their visit" if fragments else ""
        rest = f" {lone:,} orders without one are in {dead_letters}." if lone else ""
        return [f"{emitted:,} merged visits{more} are in {out}.{rest} {still:,} are open."]


_WAITS = (
    "No visit is complete yet: the clock of its partition must pass its newest message by "
    "{timeout} (--timeout). Streams that have ended move no clock; heartbeats do."
)


def _clock(time_ms: int | None) -> str:
    if time_ms is None:
        return "nothing yet"
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%m-%d %H:%M:%S}"

"""Sinks that note what each micro-batch says of a run: the line, the table and the end of it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from workbook.pipelines.event_time_merge import columns
from workbook.pipelines.page_views.completed import SUMS
from workbook.spark.runner import Batch, Sink
from workbook.streams.events.metrics import COMPLETE
from workbook.streams.events.visits import CLOCK
from workbook.systems.base import Shown, utc

# --- of a count of page views -------------------------------------------------------------------

_WORDS = {"others": "no page views", "open": "in open seconds"}


class Sums(Sink):
    """Notes the sums that ``completed_views`` emits with each micro-batch, in ``now``."""

    kind = "sums"

    def __init__(self) -> None:
        self.now = dict.fromkeys((*SUMS, "clock"), 0)

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Note the sums of a micro-batch: its rows beside those of seconds and late records."""
        others = rows.filter(pc.not_equal(rows["kind"], COMPLETE)).to_pylist()
        sums = {row["kind"]: row["views"] for row in others if row["offsets"] is None}
        self.now = sums or self.now

    def counts(self) -> dict[str, int]:
        """Return the sums."""
        return {name: self.now[name] for name in SUMS}

    def completed(self) -> int:
        """Return the time (ms) up to which all seconds are complete."""
        return self.now["clock"]

    def line(self) -> str:
        """Account for the records read, and say how far all seconds are complete."""
        if not self.now["read"]:
            return ""
        waits = f", waiting for partition {self.now['slowest']}" if self.now["open"] else ""
        return f"{self.balance()}, complete up to {utc(self.now['clock'])}{waits}"

    def balance(self) -> str:
        """Account for every record read since the checkpoint began."""
        parts = [f"{self.now[name]:,} {_WORDS.get(name, name)}" for name in SUMS[1:]]
        return f"{self.now['read']:,} read = {' + '.join(parts)}"

    def parts(self) -> list[tuple[str, str]]:
        """Return the sums, each with its name, the largest first below all that was read."""
        named = sorted(((self.now[n], _WORDS.get(n, n)) for n in SUMS[1:]), reverse=True)
        return [("read", f"{self.now['read']:,}"), *((name, f"{n:,}") for n, name in named)]

    def summary(self) -> list[str]:
        """Return the account at the end of a run."""
        if not self.now["read"]:
            return ["No micro-batch ended in this run."]
        return [f"Since the checkpoint began: {self.balance()}."]


# --- of a merge ---------------------------------------------------------------------------------


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
        return {name: self.sum_of(name) for name in columns.SUMS}

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

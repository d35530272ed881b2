"""Accounts for every record that a count of page views has read."""

import pyarrow as pa
import pyarrow.compute as pc

from workbook.pipelines.page_views.completed import SUMS
from workbook.spark.runner import Batch, Sink
from workbook.streams.events.metrics import COMPLETE
from workbook.systems.base import utc

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

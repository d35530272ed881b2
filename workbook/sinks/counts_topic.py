"""Send the new totals of each micro-batch to a compacted topic."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.compute as pc

from workbook.sinks.counts_table import KEY, CountsTable
from workbook.sinks.table_topic import TableTopic
from workbook.spark.runner import Batch, Sink


class CountsTopic(Sink):
    """Sends the total of each key that a micro-batch has counted, as the database has it.

    At least once: for a micro-batch that was in the database before a crash, it sends the present
    totals of its keys. A record's key is the JSON array of ad, day, type and source; its value has
    these and ``count``.
    """

    kind = "topic"

    def __init__(self, counts: CountsTable, topic: TableTopic) -> None:
        self._counts, self._topic = counts, topic

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the totals; all of them are delivered on return."""
        keys = rows.filter(pc.equal(rows["kind"], "count")).group_by(list(KEY)).aggregate([])
        if not len(keys):
            return
        totals = self._counts.totals(keys)
        for row in totals:
            row["day"] = str(row["day"])
        table = pa.Table.from_pylist(
            [
                {"key": json.dumps([row[name] for name in KEY]), **row, "deleted": False}
                for row in totals
            ]
        )
        self._topic.write(table, batch)

    def line(self) -> str:
        """Count the records that the broker has taken, for a status line."""
        return self._topic.line()

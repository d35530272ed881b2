"""Send actions that are too old to the dead letters."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from workbook.events.ad_actions import Fate
from workbook.events.reasons import Reason
from workbook.kafka.dead_letters import DeadLetters
from workbook.spark.runner import Batch, Sink


class OldLetters(Sink):
    """Sends the rows of fate ``too old``, which have the bytes of their record. At least once.

    ``topic`` is the one that they were read from.
    """

    kind = "letters"

    def __init__(self, topic: str, letters: DeadLetters) -> None:
        self._topic, self._letters = topic, letters

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the micro-batch's old actions; all of them are delivered on return."""
        with self._letters:
            for row in rows.filter(pc.equal(rows["kind"], Fate.TOO_OLD.value)).to_pylist():
                self._letters.send({**row, "topic": self._topic}, Reason.TOO_OLD.value)

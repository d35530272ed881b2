"""Sends page views that come too late for their second to the dead letters."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from workbook.events.reasons import Reason
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.too_late import send_too_late
from workbook.spark.runner import Batch, Sink


class LateLetters(Sink):
    """Reads the records in the column ``offsets`` from ``topic`` once more, with their bytes.

    ``config`` has the client's settings. At least once.
    """

    kind = "letters"

    def __init__(
        self,
        config: Mapping[str, str],
        topic: str,
        letters: DeadLetters,
        reason: Reason = Reason.TOO_LATE,
    ) -> None:
        self._config, self._topic, self._letters, self._reason = config, topic, letters, reason

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the micro-batch's late records; all of them are delivered on return."""
        late = rows.filter(pc.is_valid(rows["offsets"])).to_pylist()
        rows = (row for row in late if row["offsets"])
        send_too_late(rows, self._config, self._topic, self._letters, self._reason)

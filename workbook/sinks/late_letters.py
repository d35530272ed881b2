"""Sends page views that come too late for their second to the dead letters."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from workbook.kafka.dead_letters import DeadLetters
from workbook.spark.runner import Batch, Sink
from workbook.streams.too_late import send_too_late


class LateLetters(Sink):
    """Reads what ``completed_views`` calls too late from ``topic`` once more, with its bytes.

    ``config`` has the client's settings. At least once.
    """

    kind = "letters"

    def __init__(self, config: Mapping[str, str], topic: str, letters: DeadLetters) -> None:
        self._config, self._topic, self._letters = config, topic, letters

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the micro-batch's late records; all of them are delivered on return."""
        late = rows.filter(pc.is_valid(rows["offsets"])).to_pylist()
        send_too_late(
            (row for row in late if row["offsets"]), self._config, self._topic, self._letters
        )

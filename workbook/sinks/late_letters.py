"""Sends page views that come too late for their second to the dead letters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from workbook.errors import Rejected
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import reread
from workbook.spark.runner import Batch, Sink
from workbook.streams.events.reasons import Reason


class LateLetters(Sink):
    """Reads what ``completed_views`` calls too late from ``topic`` once more, with its bytes.

    ``config`` has the client's settings. At least once.
    """

    kind = "letters"

    def __init__(self, config: Mapping[str, str], topic: str, letters: DeadLetters) -> None:
        self._config, self._topic, self._letters = config, topic, letters

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the micro-batch's late records; the broker has all of them on return.

        A record that the topic no longer has is sent without key and value.
        """
        wanted: dict[int, set[int]] = defaultdict(set)
        for row in rows.filter(pc.is_valid(rows["offsets"])).to_pylist():
            wanted[row["partition"]].update(row["offsets"])
        if not wanted:
            return
        places = {partition: sorted(offsets) for partition, offsets in wanted.items()}
        with self._letters as letters:
            for message in reread(self._config, self._topic, places):
                letters(message, Rejected(Reason.TOO_LATE))
                wanted[message.partition() or 0].discard(message.offset() or 0)
            for partition, offsets in wanted.items():
                for offset in offsets:
                    gone = {"key": None, "value": None, "arrival": -1}
                    where = {"topic": self._topic, "partition": partition, "offset": offset}
                    letters.send({**gone, **where}, Reason.TOO_LATE.value)

"""Sends page views that came too late for their second to the dead letters, as they arrived."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from workbook.errors import Rejected
from workbook.kafka.dead_letters import DeadLetters
from workbook.kafka.readers import reread
from workbook.streams.events.reasons import Reason


def send_too_late(
    rows: Iterable[Mapping[str, Any]], config: Mapping[str, str], topic: str, letters: DeadLetters
) -> int:
    """Read the records that ``rows`` (partition, offsets) mean once more, and send each of them.

    Returns how many were sent; the broker has them all by then. One that the topic no longer has
    goes without key and value. Raises ``BrokerUnreachable`` as the dead letters do.
    """
    wanted: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        wanted[row["partition"]].update(row["offsets"])
    if not wanted:
        return 0
    too_late = Rejected(Reason.TOO_LATE)
    with letters:
        found = set()
        for message in reread(config, topic, {p: sorted(o) for p, o in wanted.items()}):
            letters(message, too_late)
            found.add((message.partition(), message.offset()))
        for partition, offsets in wanted.items():
            for offset in sorted(offsets):
                if (partition, offset) not in found:
                    gone = {"key": None, "value": None, "arrival": -1}
                    where = {"topic": topic, "partition": partition, "offset": offset}
                    letters.send({**gone, **where}, Reason.TOO_LATE.value)
    return sum(map(len, wanted.values()))

"""Where to read on without a checkpoint: merged messages carry the offsets to begin at.

The idea is OTTO's: each emitted message carries the smallest source offsets of all that was open
when its batch began. A new release, whose code can't use the old state, begins there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from workbook.kafka.identity import topic_ids
from workbook.kafka.offsets import PartitionOffsets, partition_offsets
from workbook.kafka.probe import require_readable, unreachable
from workbook.kafka.readers import FAST_PLAIN, PATIENCE_S

HEADER = "source-offsets"
"""Of a record in the sink: topic -> offset in the source partition of the same number, as JSON."""

IDS = "source-topics"
"""Of the same: topic -> its id, since a recreated topic has other records at its offsets."""

EARLIEST = -2
"""As in Spark's ``startingOffsets``."""

_FIRST_STEP, _AT_ONCE = 500, 10_000
_ALONE = {
    "group.id": "workbook-start-offsets",
    "isolation.level": "read_committed",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 5,
    # The first records may be deleted while the last ones are read.
    "auto.offset.reset": "earliest",
}


def headers(ids: Mapping[str, str], offsets: Sequence[int | None]) -> dict[str, bytes]:
    """Return the headers of a record: where to begin in these topics, given with their ids.

    A topic that has delivered nothing yet has no offset.
    """
    known = {t: o for t, o in zip(ids, offsets, strict=True) if o is not None}
    return {HEADER: json.dumps(known).encode(), IDS: json.dumps(dict(ids)).encode()}


@dataclass
class Start:
    """Where to begin: ``offsets`` by topic and partition, and ``notes`` on what is deleted."""

    offsets: dict[str, dict[int, int]]
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> str:
        """Return it as Spark's ``startingOffsets``."""
        return json.dumps(self.offsets)


Choose = Callable[[int | None, int, int], int]
"""How a start is chosen for a partition: as ``where_to_begin`` does."""


def where_to_begin(said: int | None, first: int, end: int) -> int:
    """Return where to begin in a partition that has the offsets ``first`` up to before ``end``.

    ``said`` is the sink's offset for it, None where no record says one. An offset that the
    partition has is the answer, ``end`` included, since nothing may have arrived since. Otherwise
    it's ``EARLIEST``: reading too much loses nothing.
    """
    return said if said is not None and first <= said <= end else EARLIEST


def look_up(
    config: Mapping[str, str],
    sink: str,
    topics: Sequence[str],
    *,
    choose: Choose = where_to_begin,
) -> Start:
    """Derive where to begin from the last record of each sink partition that says so.

    Partition p of the sink speaks for partition p of each topic, and ``choose`` decides there; it
    gets ``EARLIEST`` for a topic that had delivered nothing by then. A record counts if it was
    committed and names these topics, with these ids if it has ids. The look-up doesn't wait for an
    open transaction: it begins before it, and an older record only reads more. ``notes`` name the
    offsets that a record asks for and retention has deleted. Raises ``BrokerUnreachable``, and
    ``RightMissing`` for a user who may write to the sink, and not read it.
    """
    require_readable(config, sink)
    ids, start = topic_ids(config, topics), Start({topic: {} for topic in topics})
    try:
        found = _all_said({**FAST_PLAIN, **config, **_ALONE}, sink, ids)
        for topic in topics:
            # Spark's source reads what isn't committed, too: its offsets may lie behind that.
            for at in partition_offsets({**config, "isolation.level": "read_uncommitted"}, topic):
                says = found.get(at.partition)
                said = None if says is None else says.get(topic, EARLIEST)
                start.offsets[topic][at.partition] = choose(said, at.begin, at.end)
                if said is not None and 0 <= said < at.begin:
                    where = f"partition {at.partition} of {topic}"
                    start.notes.append(f"Offsets {said} to {at.begin - 1} of {where} are deleted.")
    except (TimeoutError, KafkaException) as failure:
        raise unreachable(config, PATIENCE_S) from failure
    return start


def _all_said(
    settings: dict[str, Any], sink: str, ids: Mapping[str, str]
) -> dict[int, dict[str, int] | None]:
    """Return what each partition of the sink says: offsets by topic, or None."""
    reader = Consumer(settings)
    try:
        places = partition_offsets(settings, sink)
        return {at.partition: _last_said(reader, sink, at, ids) for at in places}
    finally:
        reader.close()


def _last_said(
    reader: Consumer, sink: str, at: PartitionOffsets, ids: Mapping[str, str]
) -> dict[str, int] | None:
    """Return the offsets in the last record that counts: from the end back, in doubling steps."""
    end, step = at.end, _FIRST_STEP
    while at.begin < end:
        low = max(at.begin, end - step)
        records = _records(reader, TopicPartition(sink, at.partition, low), end)
        if known := [said for each in records if (said := _said(each, ids)) is not None]:
            return known[-1]
        end, step = low, step * 2
    return None


def _records(reader: Consumer, place: TopicPartition, end: int) -> Iterator[Message]:
    """Yield a partition's committed records from an offset up to before ``end``."""
    reader.assign([place])
    position, until = place.offset, time.monotonic() + PATIENCE_S
    while position < end:
        if time.monotonic() > until:
            raise TimeoutError
        for message in reader.consume(min(end - position, _AT_ONCE), timeout=0.2):
            error, offset = message.error(), message.offset() or 0
            if error is None:
                position, until = offset + 1, time.monotonic() + PATIENCE_S
                if offset < end:
                    yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                position = max(position, offset)


def _said(message: Message, ids: Mapping[str, str]) -> dict[str, int] | None:
    """Return a record's offsets by topic; None unless it names these topics, and no others."""
    found = dict(message.headers() or ())
    with suppress(ValueError):  # no JSON, or something else in JSON
        offsets = msgspec.json.decode(found.get(HEADER) or b"", type=dict[str, int])
        if IDS in found:
            named = msgspec.json.decode(found[IDS] or b"", type=dict[str, str])
            return offsets if named == ids else None
        return offsets if offsets.keys() == ids.keys() else None
    return None

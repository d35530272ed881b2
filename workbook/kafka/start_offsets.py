"""Where to read on without a checkpoint: merged messages carry the offsets to begin at.

The idea is OTTO's: each emitted message carries the smallest source offsets of all that was open
when its batch began. A new release, whose code can't use the old state, begins there.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from confluent_kafka import Message

from workbook.kafka.offsets import COMMITTED, partition_offsets
from workbook.kafka.readers import records
from workbook.kafka.require import topic_ids

HEADER = "source-offsets"
"""Of a record in the sink: topic -> offset in the source partition of the same number, as JSON."""

IDS = "source-topics"
"""Of the same: topic -> its id, since a recreated topic has other records at its offsets."""

EARLIEST = -2
"""As in Spark's ``startingOffsets``."""

FIRST_STEP = 500


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
    config: Mapping[str, Any],
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
    topic_ids(config, [sink])
    start = Start({topic: {} for topic in topics})
    found = _all_said({**config, **COMMITTED}, sink, topics)
    for topic in topics:
        # Spark's source reads what isn't committed, too: its offsets may be greater.
        for at in partition_offsets({**config, "isolation.level": "read_uncommitted"}, topic):
            says = found.get(at.partition)
            said = None if says is None else says.get(topic, EARLIEST)
            start.offsets[topic][at.partition] = choose(said, at.begin, at.end)
            if said is not None and 0 <= said < at.begin:
                where = f"partition {at.partition} of {topic}"
                start.notes.append(f"Offsets {said} to {at.begin - 1} of {where} are deleted.")
    return start


def _all_said(
    config: Mapping[str, Any], sink: str, topics: Sequence[str]
) -> dict[int, dict[str, int]]:
    """Return what each partition's last record that counts says: offsets by topic.

    It looks from the ends back, in doubling steps.
    """
    ids, said = topic_ids(config, topics), dict[int, dict[str, int]]()
    places = {at.partition: (at.begin, at.end) for at in partition_offsets(config, sink)}
    step = FIRST_STEP
    while places:
        lows = {number: (max(begin, end - step), end) for number, (begin, end) in places.items()}
        for message in records(config, sink, lows):
            if (offsets := _said(message, ids)) is not None:
                said[message.partition() or 0] = offsets
        places = {
            number: (begin, lows[number][0])
            for number, (begin, _) in places.items()
            if number not in said and lows[number][0] > begin
        }
        step *= 2
    return said


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

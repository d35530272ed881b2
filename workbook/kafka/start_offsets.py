"""Where to read on without a checkpoint: what merged messages say of the offsets behind them.

The idea is OTTO's: each message that is emitted carries the smallest source offsets of all that was
open when its batch began. A new release, whose code can't use the old state, begins there.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from workbook.kafka.identity import topic_ids
from workbook.kafka.offsets import begin_and_end
from workbook.kafka.probe import require_readable, unreachable
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import FAST_PLAIN, PATIENCE_S

HEADER = "source-offsets"
"""Of a record in the sink: topic -> offset in the source partition of the same number, as JSON."""

IDS = "source-topics"
"""Of the same: topic -> its id, since another one of this name has other records at its offsets."""

LATEST, EARLIEST = -1, -2
"""As in Spark's ``startingOffsets``."""

_AT_ONCE = 500
_ALONE = {
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "fetch.wait.max.ms": 5,
    # Somebody else's open transaction must not hide what was written since it began.
    "isolation.level": "read_uncommitted",
    # The first records may be deleted while the last are looked for.
    "auto.offset.reset": "earliest",
}


def headers(
    topics: Sequence[str], offsets: Sequence[int | None], ids: Mapping[str, str] | None = None
) -> dict[str, bytes]:
    """Return the headers of a record: where to begin, in those topics that have given something.

    With ``ids`` (``identity.topic_ids``) they also say in which topics of these names.
    """
    known = {t: o for t, o in zip(topics, offsets, strict=True) if o is not None}
    found = {HEADER: json.dumps(known).encode()}
    return found if ids is None else found | {IDS: json.dumps(dict(ids)).encode()}


def begin(
    config: Mapping[str, Any], sink: str, partitions: int, offsets: Mapping[str, Mapping[int, int]]
) -> None:
    """Say in each partition of the sink where all begins: at these offsets, as ``Start.known``.

    Such a marker is a record with an empty key and without a value. From then on neither a crash
    before the first merged message nor a lost checkpoint loses anything, and what retention deletes
    meanwhile is noticed.
    """
    ids = topic_ids(config, list(offsets))
    with DeliveringProducer(config, sink) as producer:
        for partition in range(partitions):
            here = [of.get(partition, EARLIEST) for of in offsets.values()]
            known = [offset if offset >= 0 else None for offset in here]
            producer.produce(None, b"", partition, headers=headers(list(offsets), known, ids))


@dataclass
class Start:
    """Where to begin: ``offsets`` by topic and partition, and ``notes`` on what may be lost.

    ``new``: nothing has ever been written to the sink, so all begins with the first record.
    ``bounds`` are the first offset and the end of each topic and partition.
    """

    new: bool
    offsets: dict[str, dict[int, int]]
    notes: list[str] = field(default_factory=list)
    bounds: dict[tuple[str, int], tuple[int, int]] = field(default_factory=dict)

    def known(self) -> dict[str, dict[int, int]]:
        """Return the offsets, with those of first records and ends for ``EARLIEST``, ``LATEST``."""
        return {
            topic: {
                partition: {EARLIEST: first, LATEST: end}.get(offset, offset)
                for partition, offset in of.items()
                for first, end in [self.bounds[topic, partition]]
            }
            for topic, of in self.offsets.items()
        }

    def pin_ends(self) -> bool:
        """Make of each ``LATEST`` the end that was found; return whether there was one.

        Then a marker can say it, and a start that emits nothing begins there again.
        """
        found = False
        for topic, of in self.offsets.items():
            latest = [partition for partition, offset in of.items() if offset == LATEST]
            of.update({partition: self.bounds[topic, partition][1] for partition in latest})
            found = found or bool(latest)
        return found

    def to_json(self) -> str:
        """Return it as Spark's ``startingOffsets``."""
        return json.dumps(self.offsets)


Choose = Callable[[int | None, int, int], int]
"""How a start is chosen for a partition: as ``where_to_begin`` does."""


def where_to_begin(said: int | None, first: int, end: int) -> int:
    """Return where to begin in a partition that has the offsets ``first`` up to before ``end``.

    ``said`` is what the sink says of it, perhaps ``EARLIEST``; None where no record is left that
    says anything, which gives ``LATEST``. An offset that the partition has is the answer, ``end``
    included, since nothing may have come since. ``EARLIEST`` where it's deleted, or where the
    topic was made anew and ends before it.
    """
    if said is None:
        return LATEST
    return said if first <= said <= end else EARLIEST


def look_up(
    config: Mapping[str, str],
    sink: str,
    topics: Sequence[str],
    partitions: int,
    *,
    choose: Choose = where_to_begin,
) -> Start:
    """Derive where to begin from the last record of each sink partition that says so.

    Partition p of the sink speaks for partition p of each topic, and ``choose`` decides there. It's
    asked with ``EARLIEST`` where that partition never had a record, where nothing of a topic had
    come, and where it was made anew since. What may be lost by its choice is in ``notes``. Raises
    ``BrokerUnreachable``, and ``RightMissing`` for a user who may write to the sink, and not read
    it.
    """
    require_readable(config, sink)
    ids = topic_ids(config, topics)
    reader = Consumer({**FAST_PLAIN, "group.id": "workbook-start-offsets", **config, **_ALONE})
    try:
        ends = {
            p: begin_and_end(reader, TopicPartition(sink, p), _until()) for p in range(partitions)
        }
        start = Start(all(end == 0 for _, end in ends.values()), {topic: {} for topic in topics})
        for partition, (begin, end) in ends.items():
            said = _last_said(reader, TopicPartition(sink, partition), begin, end)
            for topic in topics:
                place = TopicPartition(topic, partition)
                first, last = begin_and_end(reader, place, _until())
                known = None if said is None else said.of(topic, ids[topic])
                chosen = choose(known, first, last)
                start.offsets[topic][partition] = chosen
                start.bounds[topic, partition] = first, last
                if end:
                    anew = said is not None and said.is_another(topic, ids[topic])
                    start.notes += _notes(place, known, chosen, first, last, anew)
        return start
    except (TimeoutError, KafkaException) as failure:
        raise unreachable(config, PATIENCE_S) from failure
    finally:
        reader.close()


@dataclass(frozen=True)
class _Said:
    """What a record of the sink says: offsets by topic, and the topics' ids if it has them."""

    offsets: Mapping[str, int]
    ids: Mapping[str, str]

    def of(self, topic: str, topic_id: str) -> int:
        """Return the offset in a topic, ``EARLIEST`` if it's another one, or nothing had come."""
        return EARLIEST if self.is_another(topic, topic_id) else self.offsets.get(topic, EARLIEST)

    def is_another(self, topic: str, topic_id: str) -> bool:
        """Return whether it was said of another topic with this name."""
        return self.ids.get(topic, topic_id) != topic_id


def _notes(
    place: TopicPartition, said: int | None, chosen: int, first: int, last: int, anew: bool
) -> Iterator[str]:
    """Yield what may be lost by beginning at ``chosen``."""
    where = f"partition {place.partition} of {place.topic}"
    if anew:
        yield f"P{where[1:]} was made anew: what wasn't merged of the one before is gone."
    elif chosen == LATEST and last > first:
        wanted = "No record says where to begin in" if said is None else "It begins at the end of"
        yield f"{wanted} {where}: offsets {first} to {last - 1} are passed over."
    elif said == EARLIEST and first:
        yield f"Nothing of {where} had been merged, and its offsets before {first} are deleted."
    elif said is not None and 0 <= said < first:
        yield f"Offsets {said} to {first - 1} of {where} are deleted."
    elif said is not None and said > last:
        yield f"P{where[1:]} ends at {last}, before {said}: it was made anew."


def _until() -> float:
    """Return until when to wait for the next answer."""
    return time.monotonic() + PATIENCE_S


def _last_said(reader: Consumer, place: TopicPartition, begin: int, end: int) -> _Said | None:
    """Return what the last record with such a header says, from the end backwards.

    Nothing where the partition never had a record; None where none is left that says anything.
    """
    if end == 0:
        return _Said({}, {})
    while begin < end:
        low = max(begin, end - _AT_ONCE)
        said = [_said(m) for m in _records(reader, place, low, end, _until())]
        known = [each for each in said if each is not None]
        if known:
            return known[-1]
        end = low
    return None


def _records(
    reader: Consumer, place: TopicPartition, low: int, end: int, until: float
) -> Iterator[Message]:
    reader.assign([TopicPartition(place.topic, place.partition, low)])
    position = low
    while position < end:
        if time.monotonic() > until:
            raise TimeoutError
        for message in reader.consume(end - position, timeout=0.2):
            error, offset = message.error(), message.offset() or 0
            if error is None:
                position = offset + 1
                if offset < end:
                    yield message
            elif error.code() == KafkaError._PARTITION_EOF:
                position = max(position, offset)


def _said(message: Message) -> _Said | None:
    """Return what a record says; None for one of somebody else."""
    found = dict(message.headers() or ())
    offsets = _of_type(int, found.get(HEADER))
    return None if offsets is None else _Said(offsets, _of_type(str, found.get(IDS)) or {})


T = TypeVar("T", int, str)


def _of_type(kind: type[T], header: str | bytes | None) -> dict[str, T] | None:
    """Return a header's values of this type by topic; None if it's nothing like that."""
    with suppress(ValueError, AttributeError, TypeError, RecursionError):
        return {str(t): o for t, o in json.loads(header or b"").items() if type(o) is kind}
    return None

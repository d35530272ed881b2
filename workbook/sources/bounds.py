"""Asks again and again where the partitions of topics begin and end, by one consumer."""

import json
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    Consumer,
    KafkaError,
    KafkaException,
    TopicPartition,
)

from workbook.errors import RecordsLost, TopicMissing
from workbook.kafka.offsets import Place
from workbook.kafka.readers import is_away, range_reader, refused
from workbook.kafka.require import ANSWER_S, PATIENCE_S

Offsets = dict[str, dict[str, int]]
"""Topic -> partition (as text, since it travels as JSON) -> offset."""

Places = dict[Place, tuple[int, int]]
"""Where each partition begins, and the offset that comes next there."""

EARLIEST, LATEST = -2, -1
"""As in ``startingOffsets``."""

RESTART_S, RETRY_S = 10.0, 0.1
"""Seconds for which a broker that has just started may know no topic; until it's asked again."""


def client(config: Mapping[str, Any], fail_on_loss: bool, **more: Any) -> Consumer:
    """Return a consumer that by default reads what isn't committed, too, as Spark's own source."""
    return range_reader(
        {"isolation.level": "read_uncommitted", **config}, strict=fail_on_loss, **more
    )


class Bounds:
    """Asks a broker for the partitions of topics, by a ``reader`` that others may use, too.

    With isolation.level=read_committed a partition ends where its first open transaction begins.
    """

    def __init__(
        self, config: Mapping[str, str], topics: Sequence[str], fail_on_loss: bool
    ) -> None:
        self._config, self._topics, self._answered = config, tuple(topics), False
        self._said = deque[KafkaError](maxlen=100)
        self.reader = client(config, fail_on_loss, error_cb=self._said.append)

    def ask(self) -> Places:
        """Return where partitions begin and end; wait for a broker that answered before.

        Raises KafkaException for a broker that doesn't answer, and as ``refused`` for a topic that
        can't be read.
        """
        began = time.monotonic()
        while True:
            try:
                return self._ask()
            except (KafkaException, TopicMissing) as failure:
                if time.monotonic() - began > self._patience(failure):
                    raise
                time.sleep(RETRY_S)

    def _patience(self, failure: Exception) -> float:
        """Return for how long (s) it may last; a broker that has just started knows no topic."""
        if not self._answered:
            return 0.0
        if isinstance(failure, TopicMissing):
            return RESTART_S
        error = failure.args[0]
        unknown = error.code() == KafkaError._UNKNOWN_PARTITION
        return RESTART_S if unknown else PATIENCE_S if is_away(error) else 0.0

    def _ask(self) -> Places:
        keys = [(topic, number) for topic in self._topics for number in self._partitions(topic)]
        self._answered = True
        lows, highs = (self._offsets_at(when, keys) for when in (OFFSET_BEGINNING, OFFSET_END))
        return {key: (lows[key], highs[key]) for key in keys}

    def _partitions(self, topic: str) -> list[int]:
        try:
            described = self.reader.list_topics(topic, timeout=ANSWER_S).topics[topic]
        except KafkaException as failure:
            if self._answered:
                raise
            self.reader.poll(0)  # what the brokers said comes by a callback; nothing is read yet
            why = [e for e in self._said if e.code() != KafkaError._ALL_BROKERS_DOWN]
            said = f"{failure.args[0].str()}. {why[-1].str() if why else ''}".strip()
            raise KafkaException(KafkaError(failure.args[0].code(), said)) from failure
        if described.error is not None:
            raise refused(self._config, topic, described.error)
        return sorted(described.partitions)

    def _offsets_at(self, when: int, keys: Sequence[Place]) -> dict[Place, int]:
        """Ask for the first or the next offset of all partitions at once."""
        asked = [TopicPartition(*key, when) for key in keys]
        found = self.reader.offsets_for_times(asked, timeout=ANSWER_S)
        for place in found:
            if place.error is not None:
                raise KafkaException(place.error)
        return {(place.topic, place.partition): place.offset for place in found}


def ends_of(bounds: Places) -> Offsets:
    """Return where the partitions end."""
    ends: Offsets = {topic: {} for topic, _ in bounds}
    for (topic, number), (_, high) in bounds.items():
        ends[topic][str(number)] = high
    return ends


def begins_of(starting: str, topics: Sequence[str], bounds: Places) -> Offsets:
    """Return where a query begins that has no checkpoint, by the option ``startingOffsets``.

    Raises ValueError for one that names other partitions, or an offset beyond an end.
    """
    words = {"earliest": EARLIEST, "latest": LATEST}
    where = words.get(starting.strip().lower())
    named = dict.fromkeys(bounds, where) if where is not None else _named(starting, topics, bounds)
    begins: Offsets = {topic: {} for topic in topics}
    for (topic, number), (low, high) in bounds.items():
        chosen = named[topic, number]
        begins[topic][str(number)] = {EARLIEST: low, LATEST: high}.get(chosen, chosen)
        if chosen > high:
            raise ValueError(
                f"Expected an offset in startingOffsets that partition {number} of {topic} has, "
                f"but it ends at {high}, and {chosen} was asked for."
            )
    return begins


def _named(text: str, topics: Sequence[str], bounds: Places) -> dict[Place, int]:
    """Read offsets of each partition, no more and no less."""
    try:
        found = json.loads(text)
        named = {(t, int(p)): o for t, of in found.items() for p, o in of.items()}
    except (ValueError, AttributeError, TypeError):
        named = {}
    numbers = all(type(o) is int and o >= EARLIEST for o in named.values())
    if not numbers or {*named} != {*bounds}:
        example = json.dumps({topic: {"0": 23} for topic in topics})
        raise ValueError(
            "Expected startingOffsets as earliest, latest, or an offset for each partition of "
            f"{' and '.join(topics)} in JSON like {example}, but got {text!r}."
        )
    return named


def require_same(start: Offsets, topics: Sequence[str], bounds: Places) -> None:
    """Raise unless a checkpoint is of these topics, with no more partitions than they have.

    Raises ValueError for other topics, RecordsLost for partitions that are gone.
    """
    if {*start} != {*topics}:
        raise ValueError(
            f"Expected the checkpoint of {' and '.join(topics)}, but it is of "
            f"{' and '.join(start)}. Name another checkpoint."
        )
    for topic, of in start.items():
        for number in of:
            if (topic, int(number)) not in bounds:
                raise RecordsLost(
                    f"Expected partition {number} of {topic}, but it isn't there: the topic "
                    "was recreated with fewer. Begin with another checkpoint."
                )


def readable_from(key: Place, offset: int, bounds: tuple[int, int], fail_on_loss: bool) -> int:
    """Return from where to read a partition: ``offset``, or its first one if that is lost.

    Raises RecordsLost instead with ``fail_on_loss``.
    """
    low, high = bounds
    if low <= offset <= high:
        return offset
    older = f"they begin at {low}: older ones are deleted."
    why = older if offset < low else f"they end at {high}: the topic was recreated."
    if fail_on_loss:
        raise RecordsLost(
            f"Expected records of partition {key[1]} of {key[0]} from offset {offset}, but {why} "
            f"With failOnDataLoss=false reading goes on at {low}."
        )
    return low

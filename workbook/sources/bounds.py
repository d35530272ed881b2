"""Decides where a query begins and goes on, by where the partitions of its topics begin and end."""

import json
from collections.abc import Sequence

from workbook.errors import RecordsLost
from workbook.kafka.offsets import Place
from workbook.kafka.start_offsets import EARLIEST

Offsets = dict[str, dict[str, int]]
"""Topic -> partition (as text, since it travels as JSON) -> offset."""

Places = dict[Place, tuple[int, int]]
"""Where each partition begins, and the offset that comes next there."""

LATEST = -1
"""As in ``startingOffsets``."""


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

"""Wrong answers to "Who has it?", from a group and the instances to a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import mod
from typing import Any

from workbook.classroom.mistakes import Mistake, same_idea
from workbook.lessons.windowed_store.who_has_it_hashes import (
    HASHED,
    Answer,
    Instances,
    at,
    from_sums,
    positive,
    positive_hash,
    signed,
)


def _where(find: Callable[[int, Instances], Any]) -> Answer:
    """Return the answer that finds the right partition, and another instance."""
    return lambda group, instances, partitions: find(positive_hash(group) % partitions, instances)


def _first_of_a_list(partition: int, instances: Instances) -> str:
    names = [name for name, its in instances.items() if partition in its]
    return names[0]


def _between(partition: int, instances: Instances) -> str | None:
    its = ((name, min(p, default=0), max(p, default=-1)) for name, p in instances.items())
    return next((name for name, first, last in its if first <= partition <= last), None)


def _among(
    names: Callable[[Instances], Sequence[str]], number: Callable[[int, int], int]
) -> Answer:
    """Return the answer that divides a number of the group among the instances that are up."""

    def answer(group: str, instances: Instances, partitions: int) -> Any:
        if not instances:
            return None
        return names(instances)[number(positive_hash(group), partitions) % len(instances)]

    return answer


MISTAKES = [
    *HASHED,
    Mistake(
        _where(lambda partition, instances: partition),
        "It returns the partition. Which instance reads it?",
    ),
    *from_sums(
        lambda total: positive(signed(total)),
        "It looks for the hash itself among the partitions: modulo `partitions` is missing.",
        lambda number, partitions: number,
    ),
    *same_idea(
        *(
            _among(names, number)
            for names in (sorted, list)
            for number in (lambda hashed, partitions: hashed, mod)
        ),
        cause="It divides the hash among the instances that are up. The partitions are divided "
        "among them: first modulo `partitions`, then look who reads it.",
    ),
    *same_idea(
        lambda group, instances, partitions: at(
            positive_hash(group) % sum(map(len, instances.values())), instances
        ),
        lambda group, instances, partitions: at(
            positive_hash(group) % (1 + max(n for its in instances.values() for n in its)),
            instances,
        ),
        cause="It takes the hash modulo the partitions that are read now. Those of instances that "
        "are down exist as well: `partitions` is the number of all.",
    ),
    Mistake(
        lambda group, instances, partitions: list(instances)[
            positive_hash(group) % partitions * len(instances) // partitions
        ],
        "It gives each instance as many partitions, in their order. `instances` says who reads "
        "which.",
    ),
    Mistake(
        _where(_between),
        "It asks whether the partition lies between an instance's first and last one. Others may "
        "read some in between: ask by `in`.",
    ),
    *same_idea(
        _where(lambda partition, instances: at(partition, instances) or next(iter(instances))),
        _where(lambda partition, instances: at(partition, instances) or min(instances)),
        _where(lambda partition, instances: at(partition, instances) or list(instances)[-1]),
        cause="Where nobody reads the partition, it names an instance all the same. That one "
        "knows nothing of the group: return None.",
    ),
    *same_idea(
        _where(_first_of_a_list),
        _where(lambda p, instances: next(name for name, its in instances.items() if p in its)),
        _where(lambda p, instances: {n: name for name, its in instances.items() for n in its}[p]),
        cause="Where nobody reads the partition, it raises an error. An instance that's down is no "
        "mistake: return None, as by `next(..., None)` or `get`.",
    ),
    Mistake(
        _where(
            lambda p, instances: next((n for n in list(instances)[:1] if p in instances[n]), None)
        ),
        "It returns None as soon as one instance doesn't read the partition. Look at all of them "
        "first: `return None` stands behind the loop.",
    ),
    Mistake(
        _where(lambda partition, instances: at(partition, instances) if partition else None),
        "It takes partition 0 for none at all. It's the first one: ask `is None`.",
    ),
    Mistake(
        lambda group, instances, partitions: at(positive_hash(group) % 50, instances),
        "It takes 50 partitions, always. The topic may have another number, and `partitions` says "
        "how many.",
    ),
    Mistake(
        lambda group, instances, partitions: at(
            positive_hash(group) % max(partitions - 1, 1), instances
        ),
        "It takes one partition too few: `partitions` is their number, not the last one's.",
    ),
    Mistake(
        lambda group, instances, partitions: at(positive_hash(group) % partitions + 1, instances),
        "It counts the partitions from 1. The first one is 0.",
    ),
]
"""The answers of learners, as models; the first that gives the same names the cause."""

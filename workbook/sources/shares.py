"""Shares out what a micro-batch reads: among the partitions of a topic, and among tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbook.sources.kafka_records import Range

PER_TASK = 10_000
"""Another task begins where those before have so many offsets: a smaller one costs more to run."""


def shared(begins: Mapping[str, int], ends: Mapping[str, int], most: int | None) -> dict[str, int]:
    """Return up to where to read partitions so that it's ``most`` offsets in all.

    Each has the same share; one that needs less leaves the rest to the others. With fewer offsets
    than partitions each still has one, so that none waits for good.
    """
    behind = {number: end - begins[number] for number, end in ends.items() if end > begins[number]}
    if most is None or sum(behind.values()) <= most:
        return dict(ends)
    left, found = max(most, len(behind)), dict(begins)
    for done, number in enumerate(sorted(behind, key=lambda number: behind[number])):
        share = min(behind[number], left // (len(behind) - done))
        found[number] += share
        left -= share
    return found


def in_tasks(ranges: Sequence[Range], tasks: int) -> list[list[Range]]:
    """Divide ranges among ``tasks`` at most, and among one where they are small.

    The largest come first, each to the task that has least. No range is divided, so each task
    gives the records of a partition in their order.
    """
    offsets = sum(each.end - each.begin for each in ranges)
    number = min(tasks, len(ranges), -(-offsets // PER_TASK))
    parts: list[list[Range]] = [[] for _ in range(number)]
    load = [0] * number
    for each in sorted(ranges, key=lambda each: each.begin - each.end):
        least = load.index(min(load))
        parts[least].append(each)
        load[least] += each.end - each.begin
    return parts

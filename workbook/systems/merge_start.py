"""Decides where a merge begins, and looks at what its topics hold before it does."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Message

from workbook.errors import Rejected, WorkbookError
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.start_offsets import EARLIEST, look_up
from workbook.spark import checkpoints
from workbook.streams.events.visits import Heartbeat, read_message


def where_to_start(config: dict[str, str], options: Namespace, checkpoint: Path) -> str:
    """Return where to begin without a checkpoint: as asked, or as the last merged visits say."""
    if checkpoints.begun(checkpoint):
        return "earliest"  # not asked: the checkpoint says where
    if options.from_offsets:
        return json.dumps(options.from_offsets)
    found = look_up(config, options.out, [options.source, options.orders])
    for note in found.notes:
        print(f"Something may be lost. {note}", flush=True)
    return found.to_json()


def is_of_a_visit(record: Message) -> bool:
    """Return whether a record is a good one with its ssid as key: others go to any partition."""
    try:
        message = read_message(record.key(), record.value(), record.timestamp()[1])
    except Rejected:
        return False
    return not isinstance(message, Heartbeat)


def require_offsets(
    config: dict[str, str], given: Mapping[str, Mapping[int, int]], partitions: int
) -> None:
    """Refuse offsets that no query can begin with, before Spark starts."""
    for name, offsets in given.items():
        if {*offsets} != {*range(partitions)}:
            raise WorkbookError(
                f"Expected --from-offsets for each partition of {name}, 0 to {partitions - 1}, "
                f"but got it for {', '.join(map(str, sorted(offsets))) or 'none'}."
            )
        for place in partition_offsets(config, name):
            if not EARLIEST <= (offset := offsets[place.partition]) <= place.end:
                raise WorkbookError(
                    f"Expected in --from-offsets an offset that partition {place.partition} of "
                    f"{name} has, up to its end at {place.end}, or -2 for the first record or -1 "
                    f"for the end, but got {offset}."
                )

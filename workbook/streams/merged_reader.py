"""Reads merged visits: from their topic, and from the dead letters those that were none."""

from __future__ import annotations

from contextlib import suppress
from json import JSONDecodeError

from workbook.kafka.readers import read_dead_letters, read_messages
from workbook.streams.events.merged import Merged
from workbook.streams.events.reasons import Reason

Placed = tuple[int, Merged]
"""A partition, and a merged visit that lies in it or came from it."""


def read_merged(config: dict[str, str], topic: str) -> list[Placed]:
    """Read every merged visit of a topic, each with its partition; raise as ``read_messages``.

    Records of somebody else are skipped. Raises ValueError for a visit with a wrong timestamp
    (``Merged.from_json``).
    """
    found = []
    for message in read_messages(config, topic):
        with suppress(JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
            visit = Merged.from_json(message.value() or b"")
            found.append((int(message.partition() or 0), visit))
    return found


def read_no_visits(config: dict[str, str], dead_letters: str) -> list[Placed]:
    """Read the orders whose visit never came, each with the partition that it came from."""
    letters = read_dead_letters(config, dead_letters)
    lone = letters[letters["reason"] == str(Reason.NO_VISIT)]
    return [
        (int(partition), Merged.from_json(value))
        for partition, value in zip(lone["partition"], lone["value"], strict=True)
    ]

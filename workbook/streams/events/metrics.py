"""The metrics topic: how many page views a completed second had, as a Kafka record."""

import re
from dataclasses import dataclass
from typing import Self

from workbook.errors import Rejected

EVENTS = "events"
"""A header of the crash lab's metrics: the ids of the events that were counted, comma between."""

COMPLETE = "complete"
"""The kind of a second to which nothing can be added any more."""

NOT_A_METRIC = "not a metric: wants second or second/partition as key, a whole number as value"

_KEY = re.compile(rb"(0|[1-9][0-9]{0,17})(?:/(0|[1-9][0-9]{0,8}))?")
_VALUE = re.compile(rb"0|[1-9][0-9]{0,17}")


@dataclass(frozen=True, slots=True)
class Metric:
    """The page views of a second: of all partitions of the clicks, or of one of them.

    As a record, in decimal text: key ``1700000000`` or, for one partition, ``1700000000/3``;
    value ``42``. A metric may be written twice (at least once): the last value of a key counts.
    """

    second: int
    views: int
    partition: int | None = None

    def key(self) -> bytes:
        """Encode second and partition as the record's key: the same key replaces the same count."""
        place = "" if self.partition is None else f"/{self.partition}"
        return f"{self.second}{place}".encode()

    def value(self) -> bytes:
        """Encode the count as the record's value."""
        return str(self.views).encode()

    @classmethod
    def from_record(cls, key: bytes | None, value: bytes | None) -> Self:
        """Read a record, or raise ``Rejected``: anybody may write to a topic."""
        where, count = _KEY.fullmatch(key or b""), _VALUE.fullmatch(value or b"")
        if where is None or count is None:
            raise Rejected(NOT_A_METRIC)
        second, partition = where.groups()
        return cls(int(second), int(count[0]), None if partition is None else int(partition))

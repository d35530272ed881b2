"""Demographics of invented users: each record a function of the stream's parameters and its id."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.viewers import TRAITS, UNKNOWN, Viewer
from workbook.streams.generators.streams import (
    Facts,
    Ints,
    Kinds,
    Messages,
    PacedStream,
    changed,
    encode,
)

SPOILED: Kinds = (
    (None, lambda key, fields: (key, encode(fields)[:-20])),
    (None, lambda key, fields: (key, b"")),
    (None, lambda key, fields: (key, encode({}))),
    (None, changed(age_group=None, gender=7, region="Atlantis")),
)
"""The kinds of records without demographics; none of them is rejected."""


@dataclass(frozen=True, slots=True)
class ViewerStream(PacedStream):
    """A record for each of ``users``, by their numbers, and then changes of some of them.

    Of the records, ``bad_share`` have no traits that can be read, and ``duplicate_share`` of the
    others are sent twice. Of the changes, ``erased_share`` are tombstones.

    Facts: event_id, arrival (ms), user, partition, deleted (bool: a tombstone), age_group, gender
    and region. Traits that can't be read, and those of a tombstone, are ``unknown``.
    """

    BAD: ClassVar[Kinds] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "users")

    users: int = 50_000
    erased_share: float = 0.2
    bad_share: float = 0.05

    def _facts(self, places: Ints, ids: Ints) -> Facts:
        users = np.where(ids < self.users, ids, self._hash("user", ids) % self.users)
        deleted = (ids >= self.users) & (self._draw("erased", ids) < self.erased_share)
        hidden = deleted | (self._kinds(ids) >= 0)
        traits = {t: np.where(hidden, UNKNOWN, drawn) for t, drawn in self._drawn(ids).items()}
        return {
            "event_id": ids,
            "arrival": self.arrivals(ids),
            "user": users,
            "partition": np.array(partition_of(_keys(users), self.partitions)),
            "deleted": deleted,
            **traits,
        }

    def _messages(self, ids: Ints, facts: Facts) -> Messages:
        known = zip(facts["deleted"], *self._drawn(ids).values(), strict=True)
        viewers = (None if deleted else Viewer(*traits) for deleted, *traits in known)
        return _keys(facts["user"]), viewers

    def _drawn(self, ids: Ints) -> dict[str, npt.NDArray[np.object_]]:
        """Return the traits of each record before it is spoiled or erased."""
        return {
            trait: np.array(values, dtype=object)[self._hash(trait, ids) % len(values)]
            for trait, values in TRAITS.items()
        }


def _keys(users: Ints) -> list[bytes]:
    return [b"%d" % user for user in users.tolist()]

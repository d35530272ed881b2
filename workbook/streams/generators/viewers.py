"""Demographics of invented users: each record a function of the stream's parameters and its id."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.viewers import TRAITS, UNKNOWN, Viewer
from workbook.streams.generators.streams import (
    Ints,
    Kinds,
    PacedStream,
    changed,
    encode,
    require_ids,
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

    Of the records, ``bad_share`` have no traits that can be read, and ``duplicate_share`` are sent
    twice, bad ones too. Of the changes, ``erased_share`` are tombstones.
    """

    BAD: ClassVar[Kinds] = SPOILED
    COUNTS: ClassVar[tuple[str, ...]] = ("partitions", "users")

    users: int = 50_000
    erased_share: float = 0.2
    bad_share: float = 0.05

    def expected(self, first: int, last: int) -> pd.DataFrame:
        """Return the facts of the messages for ids ``first`` to ``last`` (excluded), a row each.

        event_id, arrival (ms), user, partition, deleted (bool: a tombstone), age_group, gender and
        region. Traits that can't be read, and those of a tombstone, are ``unknown``.
        """
        return pd.DataFrame(self._facts(self._sent(first, last)))

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages: event_id, partition, arrival (ms), key and value (null: erased)."""
        facts = self._facts(self._sent(first, last))
        drawn = self._drawn(facts["event_id"])
        viewers = map(Viewer, *drawn.values())
        record = self._records(facts["event_id"], _keys(facts["user"]), viewers)
        nothing = pa.scalar(None, pa.binary())
        record["value"] = pc.if_else(pa.array(facts["deleted"]), nothing, record["value"])
        known = {name: pa.array(facts[name]) for name in ("event_id", "partition", "arrival")}
        return pa.table({**known, **record})

    def _sent(self, first: int, last: int) -> Ints:
        """Return the event id of each message."""
        require_ids(first, last)
        ids = np.arange(first, last)
        return np.repeat(ids, 1 + (self._draw("again", ids) < self.duplicate_share))

    def _facts(self, ids: Ints) -> dict[str, npt.NDArray[Any]]:
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

    def _drawn(self, ids: Ints) -> dict[str, npt.NDArray[np.object_]]:
        """Return the traits of each record before it is spoiled or erased."""
        return {
            trait: np.array(values, dtype=object)[self._hash(trait, ids) % len(values)]
            for trait, values in TRAITS.items()
        }


def _keys(users: Ints) -> list[bytes]:
    return [b"%d" % user for user in users.tolist()]

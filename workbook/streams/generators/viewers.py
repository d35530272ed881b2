"""Demographics of invented users: each record a function of the stream's parameters and its id."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from workbook.kafka.partitioning import partition_of
from workbook.streams.events.viewers import TRAITS, UNKNOWN, Viewer
from workbook.streams.generators.streams import (
    Ints,
    PacedStream,
    Spoil,
    changed,
    encode,
    require_ids,
    spoiled,
)

SPOILED: tuple[Spoil, ...] = (
    lambda key, fields: (key, encode(fields)[:-20]),
    lambda key, fields: (key, b""),
    lambda key, fields: (key, encode({})),
    changed(age_group=None, gender=7, region="Atlantis"),
)
"""The kinds of records without demographics: how they are made from a good one."""


@dataclass(frozen=True, slots=True)
class ViewerStream(PacedStream):
    """A record for each of ``users``, by their numbers, and then changes of some of them.

    Of the records, ``bad_share`` have no traits that can be read, in every way of SPOILED, and
    ``duplicate_share`` are sent twice. Of the changes, ``erased_share`` are tombstones. Raises
    NoSuchStream for values that describe no stream.
    """

    users: int = 50_000
    erased_share: float = 0.2
    duplicate_share: float = 0.0
    bad_share: float = 0.05

    def __post_init__(self) -> None:
        self._need_shares("erased_share", "duplicate_share", "bad_share")
        self._need_at_least_one("partitions", "users")
        _ = self.curve  # refuses a rate that cannot be

    def expected(self, first: int, last: int) -> pd.DataFrame:
        """Return the facts of the messages for ids ``first`` to ``last`` (excluded), a row each.

        event_id, arrival (ms), user, partition, deleted (bool: a tombstone), age_group, gender and
        region. Traits that can't be read, and those of a tombstone, are ``unknown``.
        """
        facts = self._facts(self._sent(first, last))
        return pd.DataFrame(facts).drop(columns="kind")

    def block(self, first: int, last: int) -> pa.Table:
        """Return the messages: event_id, partition, arrival (ms), key and value (null: erased)."""
        facts = self._facts(self._sent(first, last))
        drawn = self._drawn(facts["event_id"])
        good = [Viewer(*of).to_json() for of in zip(*drawn.values(), strict=True)]
        keys = pa.array(_keys(facts["user"]), pa.binary())
        _, values = spoiled(keys, pa.array(good, pa.binary()), facts["kind"], SPOILED)
        nothing = pa.scalar(None, pa.binary())
        values = pc.if_else(pa.array(facts["deleted"]), nothing, values)
        known = {name: pa.array(facts[name]) for name in ("event_id", "partition", "arrival")}
        return pa.table({**known, "key": keys, "value": values})

    def _sent(self, first: int, last: int) -> Ints:
        """Return the event id of each message."""
        require_ids(first, last)
        ids = np.arange(first, last)
        return np.repeat(ids, 1 + (self._draw("again", ids) < self.duplicate_share))

    def _facts(self, ids: Ints) -> dict[str, npt.NDArray[Any]]:
        users = np.where(ids < self.users, ids, self._hash("user", ids) % self.users)
        kinds = self._kind_of_bad(ids, len(SPOILED), self.bad_share)
        deleted = (ids >= self.users) & (self._draw("erased", ids) < self.erased_share)
        hidden = deleted | (kinds >= 0)
        traits = {t: np.where(hidden, UNKNOWN, drawn) for t, drawn in self._drawn(ids).items()}
        return {
            "event_id": ids,
            "arrival": self.arrivals(ids),
            "user": users,
            "partition": np.array(partition_of(_keys(users), self.partitions)),
            "deleted": deleted,
            "kind": kinds,
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

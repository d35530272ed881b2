"""Rows of the old table of counts, some of them bad: each a function of the seed and its place."""

from collections.abc import Callable, Iterable, Iterator
from datetime import date, timedelta
from itertools import groupby, islice, product
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from workbook.streams.events.ad_actions import SOURCES, ActionType
from workbook.streams.events.legacy_counts import CREATE, of_table
from workbook.streams.events.reasons import Reason
from workbook.streams.generators.streams import hashed

AT_ONCE, ROWS = 64, 100
"""Batches that wait for Cassandra, and rows of a batch, at most."""

BAD_ONE_IN = 500

T = TypeVar("T")


class Old(NamedTuple):
    """A row as the old table has it; ``counted`` may be missing."""

    ad: str
    day: str
    type: str
    source: str
    counted: int | None


SPOILED: tuple[tuple[Reason, Callable[[Old], Old]], ...] = (
    (Reason.NO_DAY, lambda row: row._replace(day=f"{row.day[:4]}-{row.day[4:6]}-{row.day[6:]}")),
    (Reason.NO_DAY, lambda row: row._replace(day=f"{row.day[:4]}1345")),
    (Reason.UNKNOWN_ACTION, lambda row: row._replace(type="vist")),
    (Reason.NOT_PLAIN, lambda row: row._replace(source="søk")),
    (Reason.NOT_A_COUNT, lambda row: row._replace(counted=-1)),
    (Reason.NOT_A_COUNT, lambda row: row._replace(counted=None)),
)
"""Why a bad row is rejected, and how a good row becomes one."""


def legacy_counts(
    last: date, ads: int = 200, days: int = 30, seed: int = 1
) -> Iterator[tuple[Old, Reason | None]]:
    """Yield the rows of ``ads`` on the ``days`` up to ``last``, and why a row is rejected, or None.

    Of the 24 pairs of type and source, an ad has about one in four on a day. The rows of an ad
    follow each other.
    """
    pairs = list(product(ActionType, SOURCES))
    every = [f"{last - timedelta(n):%Y%m%d}" for n in reversed(range(days))]
    width = days * len(pairs)
    for ad in range(ads):
        drawn = hashed(seed, "legacy", np.arange(ad * width, (ad + 1) * width)).tolist()
        for (day, (kind, source)), number in zip(product(every, pairs), drawn, strict=True):
            if number % 4:
                continue
            row = Old(f"ad-{ad + 1:05d}", day, kind.value, source, 1 + number // 4 % 997)
            if number // 4 % BAD_ONE_IN == 0:
                reason, spoil = SPOILED[number // (4 * BAD_ONE_IN) % len(SPOILED)]
                yield spoil(row), reason
            else:
                yield row, None


def fill(
    session: Any, table: str, rows: Iterable[Old], say: Callable[[int], None] = lambda n: None
) -> int:
    """Create the table if it is missing, and insert rows; return how many. ``say`` gets them, too.

    ``session`` is one of Cassandra's driver. Rows that follow each other with one ad go into one
    batch, because they are in one partition.
    """
    keyspace, name = of_table(table)
    for statement in CREATE:
        session.execute(statement.format(keyspace=keyspace, table=name))
    insert = session.prepare(
        f"INSERT INTO {table} (ad, day, type, source, count) VALUES (?, ?, ?, ?, ?)"
    )
    sent = 0
    for some in _parts(_batches(insert, rows), AT_ONCE):
        for answer in [session.execute_async(batch) for batch, _ in some]:
            answer.result()
        sent += sum(number for _, number in some)
        say(sent)
    return sent


def _batches(insert: Any, rows: Iterable[Old]) -> Iterator[tuple[Any, int]]:
    """Yield each batch with its number of rows."""
    from cassandra.query import BatchStatement, BatchType

    for _, of_ad in groupby(rows, itemgetter(0)):
        for some in _parts(of_ad, ROWS):
            batch = BatchStatement(BatchType.UNLOGGED)
            for row in some:
                batch.add(insert, row)
            yield batch, len(some)


def _parts(of: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(of)
    while part := list(islice(rest, size)):
        yield part

"""Read a table of Cassandra on Spark, by ranges of tokens: a task for each range.

A row's partition key has a token, a hash of 64 bits, and the nodes share the ring of all tokens.
So ``token(key) > a AND token(key) <= b`` is a part of the table that can be read alone, from the
nodes that have it. A read in the order of keys would ask all nodes for everything.
"""

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import BooleanType, LongType, StringType, StructField, StructType

from workbook.errors import CannotGoOn, CassandraUnreachable, WorkbookError
from workbook.stack.cassandra import connect, connected, login
from workbook.streams.events.legacy_counts import of_table

if TYPE_CHECKING:
    from cassandra.cluster import Session

FIRST, LAST = -(2**63), 2**63 - 1
"""The smallest and the largest number of 64 bits. No row has FIRST as its token."""

PAGE = 5_000
"""The rows that a node returns at once."""

PATIENCE_S = 60.0
COLUMNS = ("ad", "day", "type", "source", "count")
TEXTS, NUMBERS = ("text", "ascii"), ("bigint", "int", "counter")
"""The types that are read: of ``count`` NUMBERS, of the other columns TEXTS."""

KEY = {"ad": "partition_key", "day": "clustering", "type": "clustering", "source": "clustering"}
"""The columns of the primary key, by kind: each row is in the range of its ad, and has all four."""

TRIES = 3
"""How often a page is asked for whose reading took a node too long."""

Ring = Sequence[tuple[int, int]]
"""Ranges of tokens: the first token is excluded, the last one included."""

SCHEMA = StructType(
    [
        *(StructField(name, LongType()) for name in ("first", "count")),
        *(StructField(name, StringType()) for name in ("ad", "day", "type", "source", "failure")),
        StructField("ended", BooleanType()),
    ]
)
_ARROW = to_arrow_schema(SCHEMA)

_sessions: dict[tuple[int, str], "Session"] = {}
"""A session for each process and cluster: it takes a second to connect."""


@dataclass(frozen=True)
class Legacy:
    """A table of Cassandra, as executors read it.

    ``table`` is KEYSPACE.TABLE with the columns of ``events.legacy_counts``, ``contact_points``
    are host:port,host:port. Each task reads at most ``rate`` rows a second; 0: as fast as it can.
    A node that doesn't answer is asked again for ``patience`` seconds.
    """

    contact_points: str
    table: str
    rate: float = 0
    patience: float = PATIENCE_S
    login: tuple[str, str] | None = field(default_factory=login, repr=False)
    """The user and the password; executors don't have the driver's environment."""


def split_ring(parts: int) -> list[tuple[int, int]]:
    """Return ``parts`` ranges of about the same length; together they are all tokens."""
    bounds = [FIRST + 2**64 * part // parts for part in range(parts)]
    return list(pairwise([*bounds, LAST]))


def require_table(legacy: Legacy) -> None:
    """Raise ``WorkbookError`` unless the table has the columns and the key that are read."""
    keyspace, table = of_table(legacy.table)
    with connected(legacy.contact_points) as session:
        asked = (
            "SELECT column_name, type, kind FROM system_schema.columns WHERE keyspace_name = %s "
            "AND table_name = %s"
        )
        found = {name: of for name, *of in session.execute(asked, (keyspace, table))}
    if why := _unfit(found):
        raise WorkbookError(
            f"Expected {legacy.table} to have the columns {', '.join(COLUMNS)}, but {why}. Check "
            "the table's name; in the lab, `python -m workbook generate legacy_counts` makes one, "
            "and `python -m workbook up` keeps the lab's tables from one command to the next."
        )


def _unfit(columns: Mapping[str, Sequence[str]]) -> str:
    """Say why columns, by name with type and kind, can't be read; "" if they can."""
    if not columns:
        return "there is no such table"
    if lacks := [name for name in COLUMNS if name not in columns]:
        return f"it lacks {', '.join(lacks)}"
    for name in COLUMNS:
        types = NUMBERS if name == "count" else TEXTS
        if columns[name][0] not in types:
            return f"{name} is of the type {columns[name][0]}, not {' or '.join(types)}"
    kinds = {name: kind for name, (_, kind) in columns.items() if kind in KEY.values()}
    return "" if kinds == KEY else "its primary key isn't ((ad), day, type, source)"


def read_ranges(
    spark: SparkSession,
    legacy: Legacy,
    ranges: Ring,
    at: Callable[[str], None] | None = None,
    *,
    strict: bool = False,
) -> DataFrame:
    """Return the rows of these token ranges; a Spark partition has the rows of one range.

    Out: ``first`` (the range's first token), ``ad``, ``day``, ``type``, ``source`` (string) and
    ``count``. The last row of each range has
    ``ended`` true and no other values, but ``failure`` where the range couldn't be read: what went
    wrong there doesn't keep other ranges waiting. With ``strict`` the query fails instead.
    ``at`` is called with ``page`` behind each page. Raises ``CassandraUnreachable`` in a task if no
    node answers for ``legacy.patience`` seconds.
    """
    read = partial(
        _read, legacy=legacy, ranges=list(ranges), at=at or (lambda point: None), strict=strict
    )
    return spark.range(0, len(ranges), 1, max(len(ranges), 1)).mapInArrow(read, SCHEMA)


def _read(
    numbers: Iterator[pa.RecordBatch],
    legacy: Legacy,
    ranges: Ring,
    at: Callable[[str], None],
    strict: bool,
) -> Iterator[pa.RecordBatch]:
    from cassandra import DriverException, ReadFailure, ReadTimeout

    for batch in numbers:
        for number in batch["id"].to_pylist():
            first, last = ranges[number]
            failure = None
            try:
                for rows in _pages(legacy, first, last):
                    yield _batch(first, rows)
                    at("page")
            except DriverException as error:
                words = " ".join(str(error).split())
                if strict or not isinstance(error, (ReadFailure, ReadTimeout)):
                    raise CannotGoOn(
                        f"Expected to read {legacy.table}, but Cassandra says: {words[:150]}. "
                        "Repair the cause; then start the migration again: ranges that are "
                        "finished aren't read again."
                    ) from None
                failure = words[:300]
            yield _batch(first, [], failure, ended=True)


def _pages(legacy: Legacy, first: int, last: int) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a range page by page, not faster than ``legacy.rate``."""
    session = _session(legacy)
    query = (
        f"SELECT {', '.join(COLUMNS)} FROM {legacy.table} WHERE token(ad) > ? AND token(ad) <= ?"
    )
    asked = _patiently(legacy, lambda: session.prepare(query)).bind((first, last))
    asked.fetch_size = PAGE
    state, more = None, True
    while more:
        began = time.monotonic()
        page = _patiently(legacy, lambda: session.execute(asked, paging_state=state))  # noqa: B023
        rows, state = page.current_rows, page.paging_state
        yield rows
        more = state is not None
        if legacy.rate:
            time.sleep(max(0, len(rows) / legacy.rate - (time.monotonic() - began)))


def _patiently(legacy: Legacy, ask: Callable[[], Any]) -> Any:
    """Ask for a page, and again if it takes a node too long, or if none answers."""
    from cassandra import OperationTimedOut, ReadTimeout, Unavailable, UnresolvableContactPoints
    from cassandra.cluster import NoHostAvailable

    away = (NoHostAvailable, OperationTimedOut, Unavailable, UnresolvableContactPoints)
    deadline, tries = time.monotonic() + legacy.patience, 0
    while True:
        try:
            return ask()
        except ReadTimeout:
            tries += 1
            if tries == TRIES:
                raise
        except away as error:
            if time.monotonic() > deadline:
                raise CassandraUnreachable(
                    f"Expected a node of {legacy.contact_points} to answer within "
                    f"{legacy.patience:.0f} s, but none did ({type(error).__name__}). Check that "
                    "it runs; then start the migration again: ranges that are finished aren't "
                    "read again."
                ) from None
        time.sleep(0.5)


def _session(legacy: Legacy) -> "Session":
    mine = (os.getpid(), legacy.contact_points)
    if mine not in _sessions:
        points, by = legacy.contact_points, legacy.login
        _sessions[mine] = _patiently(legacy, lambda: connect(points, by=by))
    return _sessions[mine]


def _batch(
    first: int, rows: Sequence[tuple[Any, ...]], failure: str | None = None, *, ended: bool = False
) -> pa.RecordBatch:
    found: dict[str, list[Any]] = {name: [row[n] for row in rows] for n, name in enumerate(COLUMNS)}
    if ended:
        found = {name: [None] for name in COLUMNS}
    length = len(found["ad"])
    found |= {"first": [first] * length, "failure": [failure] * length, "ended": [ended] * length}
    return pa.RecordBatch.from_pydict({name: found[name] for name in _ARROW.names}, _ARROW)

"""Write an old table's counts into PostgreSQL, range by range, each exactly once.

The rows of a range and the mark that it is finished are one transaction, so whatever is killed,
a range is in the tables as a whole or not at all. The counts have a generation of their own,
LEGACY: no row that the live query or a replay has written is changed. Readers add them up.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbook.errors import CannotGoOn, DatabaseUnreachable
from workbook.sinks.counts_table import create_tables
from workbook.sinks.postgres import Limited, connect, copy_rows, words
from workbook.sources.token_ranges import Ring

LEGACY = -1
"""The generation of migrated counts."""

LONG_S = 600.0
"""The time limit of statements that write a range, wait for another task, or add up all days."""

TABLES = Path(__file__).with_name("migration.sql")
DONE = "first BIGINT, failure STRING"

_KEY = ("ad", "day", "type", "source")
_LETTER = ("first", "old", "reason")
_DONE = pa.schema([("first", pa.int64()), ("failure", pa.string())])


class DaySum(NamedTuple):
    """What makes the counts of a day equal to those of another table; see ``day_sums``."""

    rows: int
    total: int
    checksum: int


@dataclass(frozen=True)
class Progress:
    """How far a migration is: its ranges, and the rows of those that are finished."""

    ranges: int
    finished: int
    migrated: int
    rejected: int


class Migration:
    """The target of a migration: the tables in a ``schema`` of the database at ``url``.

    ``source`` names the old table. Executors get this object: it has no connection.
    """

    def __init__(self, url: str, source: str, schema: str = "ad_statistics") -> None:
        self.url, self.source, self.schema = url, source, schema

    def begin(self, ranges: Ring, before: date | None = None, *, again: bool = False) -> None:
        """Begin a migration, or continue it: then its own ranges and day stay.

        With ``again`` everything that was migrated from ``source`` is deleted first. Raises
        ``CannotGoOn`` if there are newer counts and no ``before`` says which days are theirs, or
        if the migration began with another ``before``.
        """
        with self._connected() as connection, connection.transaction():
            create_tables(connection, self.schema)
            known = connection.execute("SELECT to_regclass('rejected_rows')").fetchone()
            if known == (None,):  # else this needs no right to create
                connection.execute(TABLES.read_text())
            self._require_alone(connection)
            if again:
                self._forget(connection)
            begun = connection.execute(
                "SELECT before FROM migrations WHERE source = %s FOR UPDATE", [self.source]
            ).fetchone()
            if begun:
                _require_same(begun[0], before)
                return
            if before is None:
                _require_none(connection)
            connection.execute(
                "INSERT INTO migrations (source, before) VALUES (%s, %s)", (self.source, before)
            )
            connection.cursor().executemany(
                "INSERT INTO ranges (source, first, last) VALUES (%s, %s, %s)",
                [(self.source, *each) for each in ranges],
            )

    def ranges(self, where: str = "true") -> Ring:
        """Return the migration's ranges, or those for which an SQL condition is true."""
        rows = self.ask(
            f"SELECT first, last FROM ranges WHERE source = %s AND {where} ORDER BY first",
            self.source,
        )
        return [(first, last) for first, last in rows]

    def before(self) -> date | None:
        """Return the first day that isn't migrated; None: all are."""
        [(day,)] = self.ask("SELECT before FROM migrations WHERE source = %s", self.source)
        return day

    def progress(self) -> Progress:
        """Return how far the migration is."""
        [row] = self.ask(
            "SELECT count(*), count(finished), sum(migrated)::bigint, sum(rejected)::bigint "
            "FROM ranges WHERE source = %s",
            self.source,
        )
        return Progress(*(number or 0 for number in row))

    def failures(self) -> dict[tuple[int, int], str]:
        """Return the ranges whose last attempt failed, and why."""
        rows = self.ask(
            "SELECT first, last, failure FROM ranges WHERE source = %s AND failure IS NOT NULL "
            "ORDER BY first",
            self.source,
        )
        return {(first, last): failure for first, last, failure in rows}

    def day_sums(self) -> dict[date, DaySum]:
        """Sum up the migrated counts by day, as ``pipelines.migrate.day_sums`` does."""
        text = "concat_ws('|', ad, to_char(day, 'YYYY-MM-DD'), type, source, count)"
        rows = self.ask(
            f"SELECT day, count(*), sum(count)::bigint, "
            f"sum(('x' || substr(md5({text}), 1, 15))::bit(60)::bigint) "
            f"FROM counts_by_generation WHERE generation = {LEGACY} GROUP BY day",
            limit=LONG_S,
        )
        return {day: DaySum(count, total, int(check)) for day, count, total, check in rows}

    def ask(self, query: str, *values: Any, limit: float = 60.0) -> list[tuple[Any, ...]]:
        """Return the rows of a query to the tables, which may take ``limit`` seconds."""
        with self._connected(limit) as connection:
            return connection.execute(query, values or None).fetchall()

    def write(self, rows: DataFrame, at: Callable[[str], None] | None = None) -> DataFrame:
        """Return, per range, its ``first`` token and its ``failure``, once it is written.

        ``rows`` are those of ``pipelines.migrate.migrated``; each Spark partition is one range. It
        is written when the result is computed. ``at`` is called with ``before-commit``.
        """
        [(begun,)] = self.ask("SELECT begun FROM migrations WHERE source = %s", self.source)
        passes = at or (lambda point: None)

        def written(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return self._write(batches, begun, passes)

        return rows.mapInArrow(written, DONE)

    # --- in each task ---------------------------------------------------------------------------

    def _write(
        self, batches: Iterator[pa.RecordBatch], begun: datetime, at: Callable[[str], None]
    ) -> Iterator[pa.RecordBatch]:
        with self._connected() as connection:
            connection.execute("CREATE TEMP TABLE old (LIKE counts_by_generation)")
            connection.execute("CREATE TEMP TABLE bad (LIKE rejected_rows)")
            first, numbers = None, Counter[str]()
            for batch in batches:
                rows = pa.Table.from_batches([batch])
                if first is None and len(rows):
                    first = rows["first"][0].as_py()
                    self._mark(connection, begun, first, "attempts = attempts + 1")
                numbers.update(self._staged(connection, rows.filter(pc.invert(rows["ended"]))))
                last = rows.filter(rows["ended"])
                if len(last):  # else the range hasn't been read to its end
                    failure = last["failure"][0].as_py()
                    if failure:
                        self._mark(connection, begun, first, "failure = %s", failure)
                    else:
                        self._commit(connection, begun, first, numbers, at)
                    yield pa.RecordBatch.from_pydict(
                        {"first": [first], "failure": [failure]}, _DONE
                    )

    def _staged(self, connection: Limited, rows: pa.Table) -> dict[str, int]:
        """Copy rows into this connection's own tables, and return how many there are of each."""
        bad = rows.filter(pc.is_valid(rows["reason"]))
        old = rows.filter(pc.is_null(rows["reason"]))
        generation = pa.array([LEGACY] * len(old), pa.int64())
        copy_rows(connection, "old", old.select(_KEY).append_column("generation", generation)
              .append_column("count", old["count"]))  # fmt: skip
        source = pa.array([self.source] * len(bad), pa.string())
        copy_rows(connection, "bad", bad.select(_LETTER).add_column(0, "source", source))
        return {"migrated": len(old), "rejected": len(bad)}

    def _commit(
        self,
        connection: Limited,
        begun: datetime,
        first: int | None,
        numbers: Counter[str],
        at: Callable[[str], None],
    ) -> None:
        """Write the range and its mark, unless another run has done so meanwhile."""
        changes = "finished = clock_timestamp(), failure = NULL, migrated = %s, rejected = %s"
        counted = numbers["migrated"], numbers["rejected"]
        with connection.transaction():
            if self._mark(connection, begun, first, changes, *counted):
                connection.execute(
                    "INSERT INTO counts_by_generation SELECT * FROM old "
                    "ON CONFLICT (ad, day, type, source, generation) "
                    "DO UPDATE SET count = excluded.count"
                )
                connection.execute("INSERT INTO rejected_rows SELECT * FROM bad")
                at("before-commit")

    def _mark(
        self, connection: Limited, begun: datetime, first: int | None, change: str, *values: Any
    ) -> int:
        """Change an unfinished range of the migration that began then; return 1 if it did, else 0.

        After ``--again`` the former migration changes nothing more: it began at another time.
        """
        where = (
            "WHERE EXISTS (SELECT FROM migrations WHERE begun = %s) AND source = %s "
            "AND first = %s AND finished IS NULL"
        )
        found = connection.execute(
            f"UPDATE ranges SET {change} {where}", (*values, begun, self.source, first)
        )
        return found.rowcount

    # --------------------------------------------------------------------------------------------

    def _forget(self, connection: Limited) -> None:
        """Delete what was migrated, the ranges first: a task that writes one has locked it."""
        for table in ("ranges", "migrations", "rejected_rows"):
            connection.execute(f"DELETE FROM {table}")
        connection.execute("DELETE FROM counts_by_generation WHERE generation = %s", [LEGACY])

    def _require_alone(self, connection: Limited) -> None:
        other = connection.execute(
            "SELECT source FROM migrations WHERE source <> %s", [self.source]
        ).fetchone()
        if other:
            raise CannotGoOn(
                f"Expected a schema without counts of another old table, but {self.schema} has "
                f"those of {other[0]}, and one would overwrite the other. Migrate "
                f"{self.source} into a --schema of its own."
            )

    @contextmanager
    def _connected(self, limit: float = LONG_S) -> Iterator[Limited]:
        """Connect; say what to do if the database is away, or refuses a statement."""
        try:
            with connect(self.url, self.schema, limit, lock=limit) as connection:
                yield connection
        except psycopg.OperationalError as error:
            raise DatabaseUnreachable(
                f"Expected PostgreSQL to take the migrated rows, but it says: {words(error)}. "
                "Check that it runs and has space on its disk; then start the migration again: "
                "ranges that are finished aren't read again."
            ) from None
        except psycopg.Error as error:
            raise CannotGoOn(
                "Expected to make or find this package's tables, but PostgreSQL says: "
                f"{words(error)}. Somebody changed them, or this user lacks a right. Repair that, "
                "or name another --schema; then start the migration again."
            ) from None


def _require_none(connection: Limited) -> None:
    """Refuse to guess which days the target has counted completely."""
    days = connection.execute(
        "SELECT day, sum(count)::bigint FROM counts_by_generation WHERE generation >= 0 "
        "GROUP BY day ORDER BY day"
    ).fetchall()
    if days:
        some = ", ".join(f"{day}: {count:,}" for day, count in days[:3])
        raise CannotGoOn(
            "Expected to know which days are the old table's, but the target has counted actions "
            f"of {len(days)} days already ({some}{', …' if days[3:] else ''}). They are never "
            "overwritten. Name the first day that the new pipeline has counted completely: "
            "--before DAY. Older days are migrated, and late actions that the target has counted "
            "are added to them."
        )


def _require_same(begun: date | None, before: date | None) -> None:
    if before not in (None, begun):
        began = f"with --before {begun}" if begun else "without --before"
        raise CannotGoOn(
            f"Expected to continue the migration that began {began}, but got "
            f"--before {before}. Leave it out; or add --again, which deletes what was migrated and "
            "starts from the beginning."
        )

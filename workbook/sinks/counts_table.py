"""Add each micro-batch's counts to a table in PostgreSQL, exactly once."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg import sql
from psycopg.rows import dict_row

from workbook.errors import CannotGoOn, DatabaseUnreachable
from workbook.sinks.once import OnceSink
from workbook.sinks.postgres import Limited, connect, copy_rows, require_rights, words
from workbook.sinks.topics import TableTopic
from workbook.sinks.viewers import GROUPS, VIEWERS, add_sketches
from workbook.spark.checkpoints import planned_ends
from workbook.spark.runner import Batch, Sink

KEY = ("ad", "day", "type", "source")
PATIENCE_S = 60.0
TABLES = Path(__file__).with_name("counts.sql")
"""Creates the tables that are missing."""

T = TypeVar("T")


@dataclass(frozen=True)
class Fence:
    """Where a query begins; all are next offsets by partition.

    Records before ``counted`` are in the database already. A query without a checkpoint reads from
    ``starting`` on, so that it finds all duplicates; a partition that isn't named is read from its
    beginning.
    """

    counted: Mapping[int, int]
    starting: Mapping[int, int]


class CountsTable(OnceSink):
    """Adds rows of kind ``count`` to the counts, and all fates to the table ``fates``.

    Rows of kinds ``viewers`` and ``group`` are merged into the sketches. Counts and sketches have a
    *generation*: 0, or behind a day's last replay the next one (``sinks/replay.py``).

    A transaction also moves the *fence*: which micro-batch of which query is in the database, and
    the offsets where it ends. The fence has an epoch. ``claim`` raises it, and a run whose epoch is
    older can't commit any more. So of two runs one goes on. Another query, as after a lost
    checkpoint, continues the counts from the fence's offsets; nothing is emptied.

    ``url`` names the database; tables are in the ``schema``, which is created if missing. ``topic``
    has the name and the id of the topic that is read, ``checkpoint`` is the folder of the query.
    If the database is away, or silent for ``patience`` seconds, it is retried for that time. ``at``
    is called with ``before-commit``, when all but the commit of a transaction is done.
    """

    kind = "database"

    def __init__(
        self,
        url: str,
        pipeline: str,
        topic: tuple[str, str],
        checkpoint: Path,
        *,
        schema: str = "ad_statistics",
        patience: float = PATIENCE_S,
        at: Callable[[str], None] = lambda point: None,
    ) -> None:
        self._url, self._schema, self._patience, self._at = url, schema, patience, at
        self._name, self._id = topic
        self._mine = (pipeline, self._id)
        self._checkpoint = checkpoint
        self._epoch, self._fence = -1, Fence({}, {})
        self._open: Limited | None = None
        self._busy = Lock()
        self.fates: dict[str, int] = {}
        """The number of records of each fate, as of the last micro-batch."""

    def __str__(self) -> str:
        return f"the table {self._schema}.counts"

    def claim(self, query: str) -> Fence:
        """Create the tables if missing, raise the epoch, and return where the query begins.

        ``query`` is the id in its checkpoint, "" if there is none.
        """
        self._fence = self._retrying(lambda: self._claimed(query))
        return self._fence

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Write a micro-batch as ``OnceSink`` does, and again if the database was away."""
        self._retrying(lambda: super(CountsTable, self).write(rows, batch))
        self.fates = self._fates

    def resume(self, query: str, committed: int, planned: int) -> None:
        """Refuse as ``OnceSink`` does, and wait for a database that is away."""
        self._retrying(lambda: super(CountsTable, self).resume(query, committed, planned))

    def totals(self, keys: pa.Table) -> list[dict[str, Any]]:
        """Return the present rows of ``counts`` with these keys."""
        columns = [keys[name].to_pylist() for name in KEY]
        wanted = "SELECT * FROM unnest(%s::text[], %s::date[], %s::text[], %s::text[])"
        return self.ask(  # the view would add up all its keys before it is joined
            "SELECT ad, day, type, source, sum(count)::bigint AS count FROM counts_by_generation "
            f"JOIN ({wanted}) AS wanted (ad, day, type, source) USING (ad, day, type, source) "
            "WHERE generation NOT IN (SELECT generation FROM replays WHERE NOT shown) "
            "GROUP BY ad, day, type, source",
            columns,
        )

    def ask(self, query: str, values: Sequence[Any] = ()) -> list[dict[str, Any]]:
        """Return the rows of a query, each as a dictionary."""

        def rows(connection: Limited) -> list[dict[str, Any]]:
            return connection.cursor(row_factory=dict_row).execute(query, values).fetchall()

        return self.within(rows)

    def within(self, work: Callable[[Limited], T]) -> T:
        """Do the work in a transaction, and return its result; again if the database was away."""

        def done() -> T:
            with self._transaction() as connection:
                return work(connection)

        return self._retrying(done)

    def counts(self) -> Mapping[str, int]:
        """Return the number of records of each fate."""
        return self.fates

    def close(self) -> None:
        """Close the connection, unless a stopped query's micro-batch is still being written."""
        if self._busy.acquire(timeout=1):
            if self._open:
                self._open.close()
            self._busy.release()

    # --- what OnceSink asks for -----------------------------------------------------------------

    @contextmanager
    def _transaction(self) -> Iterator[Limited]:
        with self._busy:
            if self._open is None or self._open.closed:
                self._open = connect(self._url, self._schema, self._patience)
            self._open.limit = self._patience
            with self._open.transaction():
                yield self._open

    def _last(self, connection: Limited, query: str) -> int:
        row = connection.execute(
            "SELECT epoch, query, batch FROM fence WHERE (pipeline, topic) = (%s, %s) FOR UPDATE",
            self._mine,
        ).fetchone()
        epoch, written_by, number = row or (None, "", -1)
        if epoch != self._epoch:
            raise CannotGoOn(
                f"Expected to be the only run that writes {self}, but another one of "
                f"{self._mine[0]}, or a replay, has started since (epoch {epoch}, this run has "
                f"{self._epoch}). It goes on; this one has ended, and wrote nothing after that."
            )
        return int(number) if query == written_by else -1

    def _empty(self, connection: Limited) -> None:
        """Empty nothing: another query continues the counts."""

    def _put(self, connection: Limited, rows: pa.Table) -> None:
        placed = self._placed(connection, rows)
        self._add_counts(connection, placed.filter(pc.equal(placed["kind"], "count")))
        placed = placed.rename_columns({"type": "trait", "source": "value"})
        for kind, of in (("viewers", VIEWERS), ("group", GROUPS)):
            sketches = placed.filter(pc.equal(placed["kind"], kind))
            if len(sketches):
                add_sketches(connection, of, sketches)
        no_fates = pa.array(["count", "viewers", "group", "start"])
        self._add_fates(connection, rows.filter(pc.invert(pc.is_in(rows["kind"], no_fates))))
        self._note_starts(connection, rows.filter(pc.equal(rows["kind"], "start")))

    def _placed(self, connection: Limited, rows: pa.Table) -> pa.Table:
        """Return the rows of each day that this table takes, with their ``generation``."""
        days = pc.unique(rows["day"].drop_null())
        generations = self._generations(connection, days.to_pylist())
        of_days = pa.array([generations.get(day) for day in days.to_pylist()], pa.int64())
        placed = rows.append_column(
            "generation", pc.take(of_days, pc.index_in(rows["day"], value_set=days))
        )
        return placed.filter(pc.is_valid(placed["generation"]))

    def _generations(self, connection: Limited, days: Sequence[date]) -> dict[date, int]:
        """Return the generation to write, by day: the one behind the day's last replay."""
        found = connection.execute(
            "SELECT day, coalesce(max(generation) + 1, 0) FROM unnest(%s::date[]) AS asked (day) "
            "LEFT JOIN replays ON day BETWEEN first_day AND last_day GROUP BY day",
            [days],
        )
        return dict(found.fetchall())

    def _add_counts(self, connection: Limited, rows: pa.Table) -> None:
        by = [*KEY, "generation"]
        counts = rows.group_by(by).aggregate([("count", "sum")])
        added = counts.select([*by, "count_sum"]).filter(pc.greater(counts["count_sum"], 0))
        connection.execute("CREATE TEMP TABLE added (LIKE counts_by_generation) ON COMMIT DROP")
        copy_rows(connection, "added", added)
        connection.execute(
            "INSERT INTO counts_by_generation AS counts SELECT * FROM added "
            "ON CONFLICT (ad, day, type, source, generation) "
            "DO UPDATE SET count = counts.count + excluded.count"
        )

    def _add_fates(self, connection: Limited, rows: pa.Table) -> None:
        fates = rows.group_by(["kind", "reason"]).aggregate([("count", "sum")]).to_pylist()
        connection.cursor().executemany(
            "INSERT INTO fates VALUES (%s, %s, %s, %s, %s) ON CONFLICT (pipeline, topic, fate, "
            "reason) DO UPDATE SET count = fates.count + excluded.count",
            [(*self._mine, f["kind"], f["reason"] or "", f["count_sum"]) for f in fates],
        )
        self._records = sum(f["count_sum"] for f in fates)
        self._fates = self._all_fates(connection)

    def _note(self, connection: Limited, batch: Batch) -> None:
        ends = self._ends(batch)
        offsets, born = json.dumps(ends), json.dumps(self._fence.counted)
        connection.execute(
            "UPDATE fence SET query = %s, batch = %s, offsets = %s, born = %s "
            "WHERE (pipeline, topic) = (%s, %s)",
            (batch.query, batch.number, offsets, born, *self._mine),
        )
        connection.execute("DELETE FROM batches WHERE written < now() - interval '1 hour'")
        connection.execute(
            "INSERT INTO batches VALUES (%s, %s, %s, %s, %s)",
            (*self._mine, batch.query, batch.number, self._records),
        )
        self._finish(connection, ends)
        self._at("before-commit")

    def _finish(self, connection: Limited, ends: Mapping[int, int]) -> None:
        """Do what belongs to the end of a transaction that has read up to the offsets ``ends``."""

    def _ends(self, batch: Batch) -> dict[int, int]:
        return planned_ends(self._checkpoint / "0", batch.number, self._name)

    def _note_starts(self, connection: Limited, rows: pa.Table) -> None:
        connection.cursor().executemany(
            "INSERT INTO starts VALUES (%s, %s, %s, %s) ON CONFLICT (pipeline, topic, partition) "
            "DO UPDATE SET first_offset = excluded.first_offset",
            [(*self._mine, row["partition"], row["count"]) for row in rows.to_pylist()],
        )

    def _all_fates(self, connection: Limited) -> dict[str, int]:
        rows = connection.execute(
            "SELECT fate, sum(count)::bigint FROM fates WHERE (pipeline, topic) = (%s, %s) "
            "GROUP BY fate ORDER BY fate",
            self._mine,
        )
        return dict(rows.fetchall())

    # --- the fence ------------------------------------------------------------------------------

    def _claimed(self, query: str) -> Fence:
        with self._transaction() as connection:
            create_tables(connection, self._schema)
            row = connection.execute(
                "INSERT INTO fence (pipeline, topic, epoch) VALUES (%s, %s, 1) "
                "ON CONFLICT (pipeline, topic) DO UPDATE SET epoch = fence.epoch + 1 "
                "RETURNING epoch, query, offsets, born",
                self._mine,
            ).fetchone()
            assert row is not None
            self._epoch, written_by, offsets, born = row
            ends = {int(partition): end for partition, end in born.items()}
            if not query or query != written_by:
                # A query that was still catching up ends before the fence of the one before it.
                for partition, end in offsets.items():
                    ends[int(partition)] = max(end, ends.get(int(partition), 0))
            self.fates = self._fates = self._all_fates(connection)
            starts = connection.execute(
                "SELECT partition, first_offset FROM starts WHERE (pipeline, topic) = (%s, %s)",
                self._mine,
            )
            return Fence(ends, dict(starts.fetchall()))

    # --- errors ---------------------------------------------------------------------------------

    def _retrying(self, work: Callable[[], T]) -> T:
        """Do the work; while the database is away, again. The fence stops a repeated write.

        The patience begins with the first error: that of a frozen database takes long to arrive.
        """
        deadline = 0.0
        while True:
            try:
                return work()
            except (
                *(psycopg.OperationalError, psycopg.InterfaceError),
                psycopg.errors.IdleInTransactionSessionTimeout,  # a laptop that slept, say
            ) as error:
                deadline = deadline or time.monotonic() + self._patience
                if "authentication failed" in str(error) or time.monotonic() > deadline:
                    raise self._unreachable(error) from None
                time.sleep(0.5)
            except psycopg.Error as error:
                if isinstance(error, psycopg.errors.InsufficientPrivilege):
                    require_rights(self._url, self._schema, TABLES)
                raise CannotGoOn(
                    f"Expected the tables in the schema {self._schema!r} to be as this package "
                    f"made them, but PostgreSQL says: {words(error)}. Somebody changed them, or "
                    "this user lacks a right. Nothing of this micro-batch is written: repair "
                    "that, and start again with the same --checkpoint."
                ) from None

    def _unreachable(self, error: psycopg.Error) -> DatabaseUnreachable:
        where = psycopg.conninfo.conninfo_to_dict(self._url)
        at = f"{where.get('host', 'localhost')}:{where.get('port', 5432)}"
        return DatabaseUnreachable(
            f"Expected PostgreSQL at {at} to take the counts within {self._patience:.0f} s, but it "
            f"says: {words(error)}. Check that it runs and has space on its disk, and "
            "DATABASE_URL; then start again: nothing is lost, and with the same --checkpoint "
            "nothing is counted twice."
        )


class CountsTopic(Sink):
    """Sends the total of each key that a micro-batch has counted, as the database has it.

    At least once: for a micro-batch that was in the database before a crash, it sends the present
    totals of its keys. A record's key is the JSON array of ad, day, type and source; its value has
    these and ``count``.
    """

    kind = "topic"

    def __init__(self, counts: CountsTable, topic: TableTopic) -> None:
        self._counts, self._topic = counts, topic

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Send the totals; all of them are delivered on return."""
        keys = rows.filter(pc.equal(rows["kind"], "count")).group_by(list(KEY)).aggregate([])
        if not len(keys):
            return
        totals = self._counts.totals(keys)
        for row in totals:
            row["day"] = str(row["day"])
        table = pa.Table.from_pylist(
            [
                {"key": json.dumps([row[name] for name in KEY]), **row, "deleted": False}
                for row in totals
            ]
        )
        self._topic.write(table, batch)

    def line(self) -> str:
        """Count the records that the broker has taken, for a status line."""
        return self._topic.line()


def create_tables(connection: Limited, schema: str) -> None:
    """Create the schema and its tables, where they're missing."""
    connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", (schema,))
    known = "SELECT FROM pg_namespace WHERE nspname = %s"
    if connection.execute(known, (schema,)).fetchone() is None:  # else this needs no such right
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    row = connection.execute("SELECT to_regclass('starts')").fetchone()
    # The newest table: once it is there, views that somebody reads must not be replaced.
    if row is None or row[0] is None:
        connection.execute(TABLES.read_text())

"""Connect to PostgreSQL so that nothing waits for ever, even if the server is silent."""

import io
import re
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.csv
from psycopg import sql
from psycopg.abc import RV, PQGen

from workbook.errors import RightMissing

GRACE_S = 5.0
"""The client waits this much longer than the server's limit for the server's own error."""

SETTINGS: dict[str, Any] = {
    "connect_timeout": 10,
    "client_encoding": "UTF8",  # as are the rows that are copied
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
"""The settings of a connection, unless its URL has others."""


class Limited(psycopg.Connection[Any]):
    """A connection that closes itself if an answer takes longer than its ``limit`` (s) + GRACE_S.

    A server that is frozen, or that the network has cut off, can't enforce its own limits.
    """

    limit = 60.0

    def wait(self, gen: PQGen[RV], interval: float = 0.1, timeout: float | None = None) -> RV:
        """Wait as ``psycopg.Connection`` does; raise ``OperationalError`` after the limit."""
        most = self.limit + GRACE_S
        try:
            return super().wait(gen, interval, most if timeout is None else timeout)
        except psycopg.errors._WaitTimeout:
            self.pgconn.finish()
            raise psycopg.OperationalError(f"no answer within {most:.0f} s") from None

    def allow(self, seconds: float) -> None:
        """Limit each later statement to this time, in the server and in this client."""
        self.limit = seconds
        self.execute(f"SET statement_timeout = {seconds * 1000:.0f}")


def connect(url: str, schema: str, limit: float, lock: float = 10.0) -> Limited:
    """Connect, with the schema as search path; outside of transactions, each statement commits.

    A statement may take ``limit`` seconds, and wait ``lock`` seconds for another program's lock.
    """
    known = psycopg.conninfo.conninfo_to_dict(url)
    connection = Limited.connect(**{**SETTINGS, **known}, autocommit=True)
    connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
    connection.execute(f"SET lock_timeout = {lock * 1000:.0f}")
    connection.execute("SET idle_in_transaction_session_timeout = '30s'")  # of a frozen run
    connection.allow(limit)
    return connection


def copy_rows(connection: Limited, table: str, rows: pa.Table) -> None:
    """Copy rows into a table that has their columns, in their order."""
    csv = io.BytesIO()
    pyarrow.csv.write_csv(rows, csv, pyarrow.csv.WriteOptions(include_header=False))
    with connection.cursor().copy(f"COPY {table} FROM STDIN (FORMAT csv)") as copy:
        copy.write(csv.getvalue())


_MADE = re.compile(r"CREATE (?:TABLE IF NOT EXISTS|OR REPLACE VIEW) (\w+)")
_LACKS = """
SELECT current_user, string_agg(format('GRANT %%s TO %%I;', what, current_user), ' ')
FROM current_database() AS db, CAST(to_regnamespace(quote_ident(%(schema)s)) AS oid) AS place,
LATERAL (SELECT count(DISTINCT oid) AS made, bool_and(has_table_privilege(oid, needed)) AS enough
  FROM pg_class, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed
  WHERE relnamespace = place AND relname = ANY (%(tables)s)
    AND (relkind <> 'v' OR needed = 'SELECT')) AS tables,
LATERAL (VALUES
  (has_database_privilege(db, 'TEMPORARY'), format('TEMPORARY ON DATABASE %%I', db)),
  (place IS NOT NULL OR has_database_privilege(db, 'CREATE'), format('CREATE ON DATABASE %%I', db)),
  (has_schema_privilege(place, 'USAGE'), format('USAGE ON SCHEMA %%I', %(schema)s)),
  (has_schema_privilege(place, 'CREATE') OR made = cardinality(%(tables)s),
   format('CREATE ON SCHEMA %%I', %(schema)s)),
  (enough, format('SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %%I', %(schema)s))
) AS needs (held, what) WHERE NOT held
"""


def require_rights(url: str, schema: str, *scripts: Path) -> None:
    """Raise ``RightMissing`` unless this user may create what scripts create, and write to it."""
    tables = [name for script in scripts for name in _MADE.findall(script.read_text())]
    with connect(url, schema, limit=10.0) as connection:
        row = connection.execute(_LACKS, {"schema": schema, "tables": tables}).fetchone()
    user, grants = row or ("", None)
    if grants:
        raise RightMissing(
            f"Expected the rights on the database that the tables in the schema {schema!r} need, "
            f"but the user {user} lacks some. Ask the database's owner for: {grants} Then start "
            "again."
        )


def words(error: psycopg.Error) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__

"""Connect to PostgreSQL so that nothing waits for ever, even if the server is silent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
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


_MADE = re.compile(r"CREATE (?:TABLE IF NOT EXISTS|OR REPLACE VIEW) (\w+)")
_LACKS = """
WITH schema AS (SELECT oid FROM pg_namespace WHERE nspname = %(schema)s),
made AS (SELECT pg_class.* FROM pg_class JOIN schema ON relnamespace = schema.oid
  WHERE relname = ANY (%(tables)s)),
lacks (what) AS (
  SELECT format('CREATE ON DATABASE %%I', current_database())
    WHERE NOT EXISTS (TABLE schema) AND NOT has_database_privilege(current_database(), 'CREATE')
  UNION ALL SELECT format('TEMPORARY ON DATABASE %%I', current_database())
    WHERE NOT has_database_privilege(current_database(), 'TEMPORARY')
  UNION ALL SELECT format('USAGE ON SCHEMA %%I', %(schema)s) FROM schema
    WHERE NOT has_schema_privilege(oid, 'USAGE')
  UNION ALL SELECT format('CREATE ON SCHEMA %%I', %(schema)s) FROM schema
    WHERE NOT has_schema_privilege(oid, 'CREATE')
      AND (SELECT count(*) FROM made) < cardinality(%(tables)s)
  UNION SELECT format('SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %%I', %(schema)s)
    FROM made, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS needed
    WHERE (relkind <> 'v' OR needed = 'SELECT') AND NOT has_table_privilege(oid, needed))
SELECT current_user, string_agg(format('GRANT %%s TO %%I;', what, current_user), ' ') FROM lacks
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

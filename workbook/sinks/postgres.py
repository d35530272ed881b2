"""Connect to PostgreSQL so that nothing waits for ever, whoever is silent."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from psycopg.abc import RV, PQGen

GRACE_S = 5.0
"""The time beyond a limit of the server's in which it must have said that it's passed."""

SETTINGS: dict[str, Any] = {
    "connect_timeout": 10,
    "client_encoding": "UTF8",  # as are the rows that are copied
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": 30_000,
}
"""Of a connection, unless its URL has others."""


class Limited(psycopg.Connection[Any]):
    """A connection that is closed where no answer comes for longer than its ``limit``.

    A server that is frozen, or behind a cut network, keeps none of its own limits.
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
        """Limit each statement from here on, by the server and by this client."""
        self.limit = seconds
        self.execute(f"SET statement_timeout = {seconds * 1000:.0f}")


def connect(url: str, schema: str, limit: float, lock: float = 10.0) -> Limited:
    """Connect, with the schema as search path; each statement commits, outside of transactions.

    A statement may take ``limit`` seconds, and wait for another program's lock for ``lock``.
    """
    known = psycopg.conninfo.conninfo_to_dict(url)
    connection = Limited.connect(**{**SETTINGS, **known}, autocommit=True)
    connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
    connection.execute(f"SET lock_timeout = {lock * 1000:.0f}")
    connection.execute("SET idle_in_transaction_session_timeout = '30s'")  # of a frozen run
    connection.allow(limit)
    return connection


def words(error: psycopg.Error) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__

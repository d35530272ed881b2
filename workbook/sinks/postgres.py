"""Connect to PostgreSQL so that nothing waits for ever, even if the server is silent."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql
from psycopg.abc import RV, PQGen

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


def words(error: psycopg.Error) -> str:
    """Return what an error says, on one line."""
    return " ".join(str(error).split())[:300] or type(error).__name__

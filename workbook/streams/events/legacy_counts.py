"""The old table of counts, in Cassandra: a row per ad, day, type and traffic source."""

import re

from workbook.errors import WorkbookError

LEGACY = "legacy.counts"
"""The table of the lab."""

CREATE = (
    "CREATE KEYSPACE IF NOT EXISTS {keyspace} WITH replication = "
    "{{'class': 'SimpleStrategy', 'replication_factor': 1}}",
    "CREATE TABLE IF NOT EXISTS {keyspace}.{table} (ad text, day text, type text, source text, "
    "count bigint, PRIMARY KEY (ad, day, type, source))",
)
"""Creates it. ``ad`` is the partition key: its token says where on the ring a row lies."""

DAY_FORMAT = "yyyyMMdd"
"""How the old table writes a day, as 20260131."""

DAY = r"(19|20)[0-9]{6}"

MOST = 10**12
"""The largest count: sums of millions of them stay within a BIGINT."""


def of_table(name: str) -> tuple[str, str]:
    """Return keyspace and table of a name such as ``legacy.counts``; raise ``WorkbookError``."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,47}\.[a-z][a-z0-9_]{0,47}", name):
        raise WorkbookError(
            f"Expected a table of Cassandra as KEYSPACE.TABLE, in lower case, but got {name!r}. "
            f"The lab's is {LEGACY}."
        )
    keyspace, _, table = name.partition(".")
    return keyspace, table

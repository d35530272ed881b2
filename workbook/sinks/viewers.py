"""Count the different users who viewed an ad, by sketches that can be merged over days.

A theta sketch keeps the K smallest hashes of the users that it has seen. Up to K users it is exact;
beyond, K and the largest of these hashes say how many users there are. So the sketch of two days is
the K smallest of both, and nobody who came on both is counted twice. Sketches of the same users
are equal byte by byte, in whatever order and in however many parts the users came. The idea is
Bar-Yossef et al., "Counting distinct elements in a data stream" (2002); the format is that of
Apache DataSketches, which Spark SQL reads: ``theta_union_agg`` and ``theta_sketch_estimate``.
docs/measurements.md says why it isn't HyperLogLog.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple

from datasketches import compact_theta_sketch, theta_union, update_theta_sketch

from workbook.errors import CannotGoOn, SketchUnreadable

if TYPE_CHECKING:
    import psycopg
    import pyarrow as pa

LOG_K = 12
"""K = 4,096: the standard error is 1.6 %, and a sketch has 32 KiB at most. Spark's default too."""


class Viewers(NamedTuple):
    """The different users on some days together, and the sum of each day's different users."""

    unique: int
    summed: int


class Sketches(NamedTuple):
    """A table of sketches: its name, and which users a sketch counts (columns with their types)."""

    table: str
    key: dict[str, str]
    log_k: int

    @property
    def place(self) -> dict[str, str]:
        """Return the columns of the primary key, with their types."""
        return {**self.key, "generation": "bigint"}


VIEWERS = Sketches("viewers_by_generation", {"ad": "text", "day": "date"}, LOG_K)
GROUPS = Sketches("groups_by_generation", {**VIEWERS.key, "trait": "text", "value": "text"}, 10)
"""K = 1,024 for a group: the standard error is 3.1 %, and a sketch has 8 KiB at most."""


# --- sketches ---------------------------------------------------------------------------------


def sketch_of(users: Iterable[int], log_k: int = LOG_K) -> bytes:
    """Return the sketch of these users (64-bit numbers)."""
    sketch = update_theta_sketch(log_k)
    for user in users:
        sketch.update(user)
    sketch.trim()
    return sketch.compact().serialize()


def merged(sketches: Iterable[bytes], log_k: int = LOG_K) -> bytes:
    """Return the sketch of all users of these sketches; raise ``SketchUnreadable``."""
    union = theta_union(log_k)
    for sketch in sketches:
        union.update(_read(sketch))
    return union.get_result().serialize()


def estimate(sketch: bytes) -> int:
    """Return how many users a sketch has seen; raise ``SketchUnreadable``."""
    return round(_read(sketch).get_estimate())


def _read(sketch: bytes) -> compact_theta_sketch:
    try:
        return compact_theta_sketch.deserialize(sketch)
    except Exception as error:  # one of several, as the bytes are wrong in one way or another
        raise SketchUnreadable(
            f"Expected a theta sketch in the format of Apache DataSketches, but got "
            f"{len(sketch)} bytes that can't be read as one: {error}. Read it with the version "
            "that wrote it, or build it again from the users."
        ) from None


# --- the table --------------------------------------------------------------------------------


def add_sketches(connection: psycopg.Connection[Any], of: Sketches, rows: pa.Table) -> None:
    """Merge a micro-batch's sketches (``of.place`` and ``sketch``) into the table.

    A sketch that doesn't change isn't written. Raises ``CannotGoOn`` if a stored one can't be read.
    """
    new = defaultdict[tuple[Any, ...], list[bytes]](list)
    columns = (rows[name].to_pylist() for name in (*of.place, "sketch"))
    for *place, sketch in zip(*columns, strict=True):
        new[*place].append(sketch)
    # Runs of two topics may write one table: between reading and writing a row only one of them. A
    # replay, whose last transaction may take minutes, has a generation of its own.
    for generation in sorted({generation for *_, generation in new}):
        table = f"'{of.table}'::regclass::oid::int"
        connection.execute(f"SELECT pg_advisory_xact_lock({table}, %s)", [generation])
    cursor = connection.cursor(binary=True)  # %b: binary, too, a third of the time of text
    names, arrays = ", ".join(of.place), [f"%b::{kind}[]" for kind in of.place.values()]
    cursor.execute(
        f"SELECT {names}, sketch FROM {of.table} "
        f"JOIN unnest({', '.join(arrays)}) AS new ({names}) USING ({names})",
        [[key[part] for key in new] for part in range(len(of.place))],
    )
    stored = {tuple(key): sketch for *key, sketch in cursor}
    changed = []
    for key, sketches in new.items():
        before = stored.get(key)
        after = _with_stored(of, key, before, sketches)
        if after != before:
            changed.append((*key, after, estimate(after)))
    cursor.execute(
        f"INSERT INTO {of.table} SELECT * FROM unnest({', '.join(arrays)}, "
        f"%b::bytea[], %b::bigint[]) ON CONFLICT ({names}) "
        "DO UPDATE SET sketch = excluded.sketch, estimate = excluded.estimate",
        [[row[column] for row in changed] for column in range(len(of.place) + 2)],
    )


def _with_stored(
    of: Sketches, key: tuple[Any, ...], stored: bytes | None, sketches: list[bytes]
) -> bytes:
    try:
        return merged(sketches if stored is None else [stored, *sketches], of.log_k)
    except SketchUnreadable as error:
        (ad, day, *group), trait = key[: len(of.key)], ""
        if group:
            trait = " and {} {!r}".format(*group)
        raise CannotGoOn(
            f"The row of ad {ad!r} and day {day}{trait} in the table {of.table} can't be merged "
            f"with new viewers. {error} Nothing of this micro-batch is written. Bring the row back "
            "from a backup, or delete it (the viewers of that day are then counted from here on); "
            "then start again with the same --checkpoint."
        ) from None


def viewers_of(connection: psycopg.Connection[Any], ad: str, first: date, last: date) -> Viewers:
    """Return the viewers of an ad from the ``first`` day to the ``last``, both included.

    The connection's ``search_path`` has the view ``viewers``.
    """
    sketches = sketches_by_day(connection, ad, first, last)
    together = merged(sketches.values())
    return Viewers(estimate(together), sum(map(estimate, sketches.values())))


def sketches_by_day(
    connection: psycopg.Connection[Any], ad: str, first: date, last: date = date.max
) -> dict[date, bytes]:
    """Return the sketch of each of these days; the generations of a replayed day are united."""
    rows = connection.execute(
        "SELECT day, array_agg(sketch) FROM viewers WHERE ad = %s AND day BETWEEN %s AND %s "
        "GROUP BY day ORDER BY day",
        (ad, first, last),
    )
    return {day: merged(of) if len(of) > 1 else of[0] for day, of in rows}


def groups_of(
    connection: psycopg.Connection[Any], ad: str, first: date
) -> dict[str, dict[str, int]]:
    """Return the viewers of an ad from the ``first`` day on: for each trait, by its value.

    The connection's ``search_path`` has the view ``groups``.
    """
    rows = connection.execute(
        "SELECT trait, value, array_agg(sketch) FROM groups WHERE ad = %s AND day >= %s "
        "GROUP BY trait, value ORDER BY trait, value",
        (ad, first),
    )
    found: dict[str, dict[str, int]] = {}
    for trait, value, sketches in rows:
        found.setdefault(trait, {})[value] = estimate(merged(sketches, GROUPS.log_k))
    return found

"""Count the different users who viewed an ad, by sketches that can be merged over days.

A theta sketch keeps the K smallest hashes of the users that it has seen. Up to K users it is exact;
beyond, K and the largest of these hashes say how many users there are. So the sketch of two days is
the K smallest of both, and nobody who came on both is counted twice. Sketches of the same users
are equal byte by byte, in whatever order and in however many parts the users came. The idea is
Bar-Yossef et al., "Counting distinct elements in a data stream" (2002); the format is that of
Apache DataSketches, which Spark SQL reads: ``theta_union_agg`` and ``theta_sketch_estimate``.
``benchmarks/viewers.py`` says why it isn't HyperLogLog.
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


# --- sketches ---------------------------------------------------------------------------------


def sketch_of(users: Iterable[int]) -> bytes:
    """Return the sketch of these users (64-bit numbers)."""
    sketch = update_theta_sketch(LOG_K)
    for user in users:
        sketch.update(user)
    sketch.trim()
    return sketch.compact().serialize()


def merged(sketches: Iterable[bytes]) -> bytes:
    """Return the sketch of all users of these sketches; raise ``SketchUnreadable``."""
    union = theta_union(LOG_K)
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


def add_viewers(connection: psycopg.Connection[Any], rows: pa.Table) -> None:
    """Merge a micro-batch's sketches (``ad``, ``day``, ``generation``, ``sketch``) into the table.

    A sketch that doesn't change isn't written. Raises ``CannotGoOn`` if a stored one can't be read.
    """
    new = defaultdict[tuple[str, date, int], list[bytes]](list)
    for row in rows.select(["ad", "day", "generation", "sketch"]).to_pylist():
        new[row["ad"], row["day"], row["generation"]].append(row["sketch"])
    # Runs of two topics may write one table: between reading and writing a row only one of them. A
    # replay, whose last transaction may take minutes, has a generation of its own.
    for generation in sorted({generation for *_, generation in new}):
        table = "'viewers_by_generation'::regclass::oid::int"
        connection.execute(f"SELECT pg_advisory_xact_lock({table}, %s)", [generation])
    cursor = connection.cursor(binary=True)  # %b: binary, too, a third of the time of text
    cursor.execute(
        "SELECT ad, day, generation, sketch FROM viewers_by_generation "
        "JOIN unnest(%b::text[], %b::date[], %b::bigint[]) AS new (ad, day, generation) "
        "USING (ad, day, generation)",
        [[key[part] for key in new] for part in range(3)],
    )
    stored = {tuple(key): sketch for *key, sketch in cursor}
    changed = []
    for key, sketches in new.items():
        before = stored.get(key)
        after = _with_stored(before, sketches, *key[:2])
        if after != before:
            changed.append((*key, after, estimate(after)))
    cursor.execute(
        "INSERT INTO viewers_by_generation SELECT * FROM unnest(%b::text[], %b::date[], "
        "%b::bigint[], %b::bytea[], %b::bigint[]) ON CONFLICT (ad, day, generation) "
        "DO UPDATE SET sketch = excluded.sketch, estimate = excluded.estimate",
        [[row[column] for row in changed] for column in range(5)],
    )


def _with_stored(stored: bytes | None, sketches: list[bytes], ad: str, day: date) -> bytes:
    try:
        return merged(sketches if stored is None else [stored, *sketches])
    except SketchUnreadable as error:
        raise CannotGoOn(
            f"The row of ad {ad!r} and day {day} in the table viewers_by_generation can't be "
            f"merged with new viewers. {error} Nothing of this micro-batch is written. Bring the "
            "row back from a backup, or delete it (the viewers of that day are then counted from "
            "here on); then start again with the same --checkpoint."
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

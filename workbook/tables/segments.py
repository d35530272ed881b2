"""A table of state in segments: a batch costs as much as it changes, however large the table is.

A segment is sorted by a hash of the columns that rows are looked up by, and never changed. What a
batch writes becomes a new one, whose rows hide older rows with the same key. As they grow, segments
are merged (a log-structured merge tree: O'Neil, Cheng, Gawlick, O'Neil, 1996): a row is rewritten a
few times in its life, and a look-up searches few segments.
"""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import polars as pl

HASH, GONE = "__hash", "__gone"
"""Columns of a segment: the hash by which it's sorted; true for a row that was taken out."""

YOUNG_ROWS = 256
"""A segment of at most this size is rewritten by each batch, and stored within the list."""


@dataclass(frozen=True)
class Keyed:
    """The layout of a table: rows are looked up ``by`` columns; these and ``also`` are its key.

    A row is forgotten once ``expires`` (bigint, never null) is passed. Of the ``least`` columns
    (bigint) each segment knows the smallest value. Without any column the table is read and
    written whole.
    """

    by: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    expires: str | None = None
    least: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Return the columns by which a row is known."""
        return (*self.by, *self.also)


@dataclass(frozen=True)
class Segment:
    """A segment, with the facts that are known before it is read: rows, the range of ``expires``.

    ``frame`` is there if it's young or new; the others are loaded by name.
    """

    name: str
    rows: int
    low: int | None = None
    high: int | None = None
    least: tuple[int | None, ...] = ()
    frame: pl.DataFrame | None = field(default=None, compare=False, repr=False)
    was_young: bool = False


class Segments:
    """A table in segments, newest first; ``load`` reads one by its name."""

    def __init__(
        self,
        keyed: Keyed,
        segments: Iterable[Segment] = (),
        floor: int | None = None,
        load: Callable[[str], pl.DataFrame] | None = None,
    ) -> None:
        self.keyed, self.segments, self.floor = keyed, list(segments), floor
        self._load = load
        self._before = {segment.name for segment in self.segments}
        self._fresh = False  # whether the newest one was begun by this batch

    # --- reading ------------------------------------------------------------------------------

    def of(self, keys: pl.DataFrame) -> pl.DataFrame | None:
        """Return the rows with these values in the ``by`` columns; None if the table has none."""
        wanted = np.unique(_hashes(keys, self.keyed.by))
        found = self._live([_among(self._frame(each), wanted) for each in self.segments])
        if found is None:
            return None
        by = list(self.keyed.by)
        return found.join(keys.select(by).unique(), on=by, how="semi", nulls_equal=True)

    def all(self) -> pl.DataFrame | None:
        """Return every row; None if the table has none."""
        return self._live([self._frame(each) for each in self.segments])

    def least(self, column: str) -> int | None:
        """Return a bound below all values of a ``least`` column, read from no row; None if empty.

        It may be smaller than they are, by rows that are hidden, taken out or expired.
        """
        at = self.keyed.least.index(column)
        known = [low for each in self.segments if (low := each.least[at]) is not None]
        return min(known, default=None)

    # --- writing ------------------------------------------------------------------------------

    def write(self, rows: pl.DataFrame, gone: pl.DataFrame | None = None) -> None:
        """Write rows over those with the same key, and take out those with the keys in ``gone``."""
        parts = [rows.with_columns(pl.lit(False).alias(GONE))]
        if gone is not None and len(gone) and self.segments:
            taken = gone.select(self.keyed.key).with_columns(pl.lit(True).alias(GONE))
            parts.append(taken)
        both = pl.concat(parts, how="diagonal") if len(parts) > 1 else parts[0]
        if len(both):
            self._add(hashed(both, self.keyed).sort(HASH))

    def replace(self, rows: pl.DataFrame) -> None:
        """Write these rows instead of all that are there."""
        self.segments, self._fresh = [], False
        self.write(rows)

    def expire(self, before: int) -> pl.DataFrame | None:
        """Forget the rows that expire before this time; return them, None if the table has none."""
        assert self.keyed.expires is not None, "expected a table that was declared with expires"
        column = pl.col(self.keyed.expires)
        due = column < before
        if self.floor is not None:  # what was forgotten before isn't looked up again
            due &= column >= self.floor
        old = [
            self._frame(each).filter(due).select(self.keyed.by)
            for each in self.segments
            if each.low is not None and each.low < before
        ]
        found = self.of(pl.concat(old)) if old else self._none()
        self.floor = before if self.floor is None else max(before, self.floor)
        return None if found is None else found.filter(column < before)

    def settle(self) -> None:
        """Merge what has grown, and drop the oldest segments if all of their rows have expired."""
        if self.floor is not None:
            while self.segments and (self.segments[-1].high or 0) < self.floor:
                self.segments.pop()
        total, merged = 0, 0
        for each in self.segments:
            if merged and total < _share(each.name) * each.rows and each.rows > YOUNG_ROWS:
                break
            total, merged = total + each.rows, merged + 1
        if merged > 1:
            self._merge(merged)

    def hash_anew(self) -> None:
        """Write every segment again, with the hashes of this version of Polars."""
        frames = [hashed(self._frame(each), self.keyed) for each in self.segments]
        self.segments = [self._segment(frame.sort(HASH)) for frame in frames]

    @property
    def added(self) -> list[Segment]:
        """Return the segments that are to be stored: new ones that aren't young."""
        large = [s for s in self.segments if s.rows > YOUNG_ROWS and s.frame is not None]
        return [s for s in large if s.name not in self._before or s.was_young]

    @property
    def dropped(self) -> list[str]:
        """Return the names of the segments that are no longer there."""
        return sorted(self._before - {segment.name for segment in self.segments})

    # --- segments -----------------------------------------------------------------------------

    def _add(self, frame: pl.DataFrame) -> None:
        self.segments.insert(0, self._segment(frame))
        if self._fresh:  # one new segment per batch, however often it writes
            self._merge(2)
        self._fresh = True

    def _merge(self, number: int) -> None:
        """Merge the newest ``number`` segments into one."""
        newest, rest = self.segments[:number], self.segments[number:]
        rows = self._latest([self._frame(each) for each in newest])
        if not rest:  # then there is nothing left that they hide
            rows = self._standing(rows)
        self.segments = [self._segment(rows), *rest] if len(rows) else rest

    def _segment(self, frame: pl.DataFrame) -> Segment:
        low = high = None
        if self.keyed.expires:
            times = frame[self.keyed.expires]
            low, high = times.min(), times.max()
        least = tuple(frame[column].min() for column in self.keyed.least)
        return Segment(secrets.token_hex(8), len(frame), low, high, least, frame)  # type: ignore[arg-type]

    def _frame(self, segment: Segment) -> pl.DataFrame:
        if segment.frame is not None:
            return segment.frame
        assert self._load is not None, "expected a way to load segments"
        return self._load(segment.name)

    def _live(self, found: Sequence[pl.DataFrame]) -> pl.DataFrame | None:
        """Return the latest version of each row that is still there; newest segments first."""
        return self._standing(self._latest(found)).drop(HASH, GONE) if found else None

    def _latest(self, found: Sequence[pl.DataFrame]) -> pl.DataFrame:
        """Return the newest row of each key, sorted by hash, as those found are."""
        some = [frame for frame in found if len(frame)] or found[:1]
        if len(some) == 1 or not self.keyed.key:
            return some[0]
        # In one piece: rows are taken out of lists in many pieces a hundred times slower.
        both = pl.concat(some, how="diagonal").rechunk()
        hashes = both[HASH].to_numpy()
        order = np.argsort(hashes, kind="stable")  # quick, since each part is sorted
        again = np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]]) + 1
        if self.keyed.also or not _same(both, self.keyed.by, order[again], order[again - 1]):
            return both[order].unique(self.keyed.key, keep="first", maintain_order=True)
        return both[np.delete(order, again)]

    def _standing(self, rows: pl.DataFrame) -> pl.DataFrame:
        there = ~pl.col(GONE)
        if self.keyed.expires is not None and self.floor is not None:
            there &= pl.col(self.keyed.expires) >= self.floor
        return rows.filter(there)

    def _none(self) -> pl.DataFrame | None:
        return self._live([self._frame(self.segments[0]).clear()]) if self.segments else None


def hashed(frame: pl.DataFrame, keyed: Keyed) -> pl.DataFrame:
    """Add the hash of each row's ``by`` columns; rows without one by which they're sorted."""
    return frame.with_columns(pl.Series(HASH, _hashes(frame, keyed.by)))


def _hashes(frame: pl.DataFrame, by: Sequence[str]) -> npt.NDArray[np.uint64]:
    if not by:
        return np.zeros(len(frame), np.uint64)
    return frame.select(by).hash_rows(seed=1).to_numpy()


def _same(
    frame: pl.DataFrame,
    columns: Sequence[str],
    some: npt.NDArray[np.intp],
    others: npt.NDArray[np.intp],
) -> bool:
    """Return whether rows have the same values as others: two keys may have one hash."""
    keys = frame.select(columns)
    equal = [a.eq_missing(b).all() for a, b in zip(keys[some], keys[others], strict=True)]
    return all(equal)


def _among(frame: pl.DataFrame, wanted: npt.NDArray[np.uint64]) -> pl.DataFrame:
    """Return the rows with one of these hashes, which are sorted, too."""
    hashes = frame[HASH].to_numpy()
    first = np.searchsorted(hashes, wanted, "left")
    times = np.searchsorted(hashes, wanted, "right") - first
    starts = np.repeat(first - (np.cumsum(times) - times), times)
    return frame[starts + np.arange(int(times.sum()))]


def _share(name: str) -> float:
    """Return the share of a segment at which newer ones are merged into it: 0.3 to 0.7.

    It differs from name to name, so that buckets of one size aren't all merged by one batch.
    """
    return 0.3 + 0.4 * int(name[:4], 16) / 0xFFFF

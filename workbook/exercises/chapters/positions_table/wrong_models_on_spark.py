"""Chapter 10: wrong ideas about the latest row per key on Spark, as models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from workbook.exercises.engine.frames import Row
from workbook.exercises.engine.judging import Mistake, same_idea

_POSITION, _CLIENT, _TICKER, _AMOUNT, _DELETED, _OFFSET = range(6)


def _best(rows: list[Row], by: Callable[[Row], Any], key: Callable[[Row], Any]) -> list[Row]:
    """Return each key's largest row."""
    best: dict[Any, Row] = {}
    for row in rows:
        at = key(row)
        if at not in best or by(row) > by(best[at]):
            best[at] = row
    return list(best.values())


def _latest(
    rows: list[Row],
    *,
    first: Callable[[Row], bool] = lambda row: True,
    by: Callable[[Row], Any] = lambda row: row[_OFFSET],
    key: Callable[[Row], Any] = lambda row: row[_POSITION],
    last: Callable[[Row], bool] = lambda row: not row[_DELETED],
) -> list[Row]:
    """Model a mistake: the right answer with one idea exchanged."""
    newest = _best([row for row in rows if first(row)], by, key)
    return _shown([row for row in newest if last(row)])


def _shown(rows: list[Row]) -> list[Row]:
    return sorted((row[:_DELETED] for row in rows), key=repr)


def _live(row: Row) -> bool:
    return not row[_DELETED]


def _anyway(row: Row) -> bool:
    return True


def _by_fields(row: Row) -> tuple[Any, ...]:
    """Order rows by their fields, one after the other, as Spark orders structs: null first."""
    fields = (row[_CLIENT], row[_TICKER], row[_AMOUNT], row[_DELETED], row[_OFFSET])
    return tuple((field is not None, field) for field in fields)


def _columns_alone(rows: list[Row]) -> list[Row]:
    """Take each position's largest client, largest ticker, largest amount."""
    found = []
    for position in {row[_POSITION] for row in rows if _live(row)}:
        own = [row for row in rows if row[_POSITION] == position and _live(row)]
        found.append((position, *(max(row[c] for row in own) for c in (1, 2, 3))))
    return sorted(found, key=repr)


def _never_closed(rows: list[Row]) -> list[Row]:
    closed = {row[_POSITION] for row in rows if row[_DELETED]}
    return _latest(rows, first=lambda row: row[_POSITION] not in closed)


def _in_order(rows: list[Row], first: Callable[[Row], bool] = _anyway) -> list[Row]:
    """Keep each position's first row in the frame."""
    kept: dict[Any, Row] = {}
    for row in filter(first, rows):
        kept.setdefault(row[_POSITION], row)
    return _shown([row for row in kept.values() if _live(row)])


def _sums(rows: list[Row]) -> list[Row]:
    amounts = {
        position: sum(r[_AMOUNT] for r in rows if r[_POSITION] == position and _live(r))
        for position in {row[_POSITION] for row in rows}
    }
    return sorted(((p, c, t, amounts[p]) for p, c, t, _ in _latest(rows)), key=repr)


def _newest_of_all(rows: list[Row]) -> list[Row]:
    return _shown([max(rows, key=lambda row: row[_OFFSET])])


LATEST = [
    Mistake(
        partial(_latest, first=_live),
        "It leaves out the tombstones first and takes the newest of what is left. So a closed "
        "position comes back, with the last row it had. First the newest record, then look whether "
        "it is a tombstone.",
    ),
    Mistake(
        partial(_latest, last=_anyway),
        "The tombstones stay, as rows full of nulls. A closed position has no row.",
    ),
    Mistake(
        partial(_latest, last=lambda row: bool(row[_DELETED])),
        "It is turned round: only closed positions are left.",
    ),
    *same_idea(
        partial(_latest, by=lambda row: -row[_OFFSET]),
        partial(_latest, by=lambda row: -row[_OFFSET], first=_live),
        partial(_latest, by=lambda row: -row[_OFFSET], last=_anyway),
        cause="It takes the oldest record of each position. The highest offset counts.",
    ),
    *same_idea(
        partial(_latest, by=lambda row: row[_AMOUNT] or 0),
        partial(_latest, by=lambda row: row[_AMOUNT] or 0, first=_live),
        cause="The largest amount wins. An amount may go down: the highest offset counts.",
    ),
    *same_idea(
        partial(_latest, by=_by_fields),
        partial(_latest, by=_by_fields, first=_live),
        cause="The maximum of a struct looks at its first field first, here the client. Put the "
        "offset in front, or use `max_by`.",
    ),
    Mistake(
        _columns_alone,
        "Each column has a maximum of its own, so a row is put together from several records. Take "
        "one record as a whole: `max_by(struct(*), offset)`.",
    ),
    Mistake(
        _never_closed,
        "A position that was closed once never comes back. But an id may be opened again.",
    ),
    *same_idea(
        partial(_latest, key=lambda row: row[_CLIENT]),
        partial(_latest, key=lambda row: row[_CLIENT], first=_live),
        cause="It takes the newest row of each client. The key of the table is the position.",
    ),
    *same_idea(
        partial(_latest, key=lambda row: (row[_POSITION], row[_CLIENT])),
        partial(_latest, key=lambda row: (row[_POSITION], row[_CLIENT]), first=_live),
        partial(_latest, key=lambda row: row[:_AMOUNT]),
        cause="It groups by more than the position, so a position that changed has several rows: "
        "one for each client or share it ever had.",
    ),
    *same_idea(
        _in_order,
        partial(_in_order, first=_live),
        cause="It takes the record that happens to stand first. `dropDuplicates` knows no newest: "
        "the offset has to decide.",
    ),
    Mistake(
        _sums,
        "The amounts are added up. A record says how much there is now, not how much more.",
    ),
    Mistake(
        lambda rows: _shown([row for row in rows if _live(row)]),
        "All records are there that are no tombstones: a history. Of each position the newest "
        "counts.",
    ),
    Mistake(
        lambda rows: sorted({row[:_DELETED] for row in rows if _live(row)}, key=repr),
        "It drops rows that are equal. Of each position the newest counts, whatever it says.",
    ),
    Mistake(
        _newest_of_all,
        "Only the newest record of all is left. Each position has a newest one of its own.",
    ),
    Mistake(
        lambda rows: [],
        "Nothing is left. Is a filter never true? A row that is no tombstone has `deleted` false.",
    ),
]
"""Models from the rows of a changelog to those of the table."""

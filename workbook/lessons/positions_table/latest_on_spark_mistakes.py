"""Wrong answers to "The latest row on Spark", as queries over the rows of a changelog."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any

from workbook.classroom.frames import Row
from workbook.classroom.mistakes import Mistake, Mistakes, same_idea

Changelog = Iterable[Any]

_position = attrgetter("position")


def _live(changelog: Changelog) -> list[Any]:
    return [row for row in changelog if not row.deleted]


def _last(
    changelog: Changelog,
    by: Callable[[Any], Any] = attrgetter("offset"),
    key: Callable[[Any], Any] = _position,
) -> list[Any]:
    """Return the row of each key that is the last in this order."""
    return list({key(row): row for row in sorted(changelog, key=by)}.values())


def _shown(rows: Changelog) -> list[Row]:
    return [row[:6] for row in rows]


def _oldest(changelog: Changelog) -> list[Any]:
    return _last(changelog, by=lambda row: -row.offset)


def _largest_amount(changelog: Changelog) -> list[Any]:
    return _last(changelog, by=lambda row: row.amount or 0)


def _largest_struct(changelog: Changelog) -> list[Any]:
    """Order rows by their fields, one after the other, as Spark orders structs: null first."""
    return _last(changelog, by=lambda row: tuple((field is not None, field) for field in row[1:]))


def _of_each_client(changelog: Changelog) -> list[Any]:
    return _last(changelog, key=lambda row: row.client)


def _seen_first(changelog: Changelog) -> list[Any]:
    rows: dict[str, Any] = {}
    for row in changelog:
        rows.setdefault(row.position, row)
    return list(rows.values())


def _seen_last(changelog: Changelog) -> list[Any]:
    return list({row.position: row for row in changelog}.values())


def _largest_of_each_column(changelog: Changelog) -> list[Row]:
    """Take maxima, which pass over nulls."""
    found = []
    for position in {row.position for row in changelog}:
        own = [row for row in changelog if row.position == position]
        columns = zip(*(row[1:6] for row in own), strict=True)
        largest = (
            max((value for value in column if value is not None), default=None)
            for column in columns
        )
        found.append((position, *largest))
    return found


MISTAKES = Mistakes()


@MISTAKES.add(
    "A position that was closed once stays deleted, though it was opened again. Take `deleted` "
    "from the newest record, as the other columns."
)
def closed_for_ever(changelog: Changelog) -> list[Row]:
    closed = {row.position for row in changelog if row.deleted}
    return [(*row[:5], row[0] in closed) for row in _shown(_last(changelog))]


@MISTAKES.add("A position that was closed once never comes back. But an id may be opened again.")
def never_reopened(changelog: Changelog) -> list[Row]:
    closed = {row.position for row in changelog if row.deleted}
    return _shown(_last(row for row in changelog if row.position not in closed))


@MISTAKES.add("The amounts are added up. A record states how much there is now, not how much more.")
def adds_amounts(changelog: Changelog) -> list[Row]:
    sums = {
        position: [row.amount for row in _live(changelog) if row.position == position]
        for position in map(_position, changelog)
    }
    return [
        (*row[:3], sum(sums[row[0]]) if sums[row[0]] else None, *row[4:])
        for row in _shown(_last(changelog))
    ]


MISTAKES += [
    Mistake(
        lambda changelog: _shown(_last(_live(changelog))),
        "It leaves out the tombstones before it looks for the newest. So a closed position comes "
        "back to life, with the last row it had.",
    ),
    Mistake(
        lambda changelog: _shown(_live(_last(changelog))),
        "It leaves out the closed positions. That is right for a table with an end. On a stream a "
        "row that isn't emitted takes nothing back: whoever keeps the table downstream has the old "
        "row for ever. Emit it, with `deleted` true.",
    ),
    Mistake(
        lambda changelog: _shown(row for row in _last(changelog) if row.deleted),
        "Only closed positions are left.",
    ),
    *same_idea(
        lambda changelog: _shown(_oldest(changelog)),
        lambda changelog: _shown(_live(_oldest(changelog))),
        lambda changelog: _shown(_oldest(_live(changelog))),
        cause="It takes the oldest record of each position. The highest offset counts.",
    ),
    *same_idea(
        lambda changelog: _shown(_largest_amount(changelog)),
        lambda changelog: _shown(_largest_amount(_live(changelog))),
        cause="The largest amount wins. An amount may go down: the highest offset counts.",
    ),
    *same_idea(
        _largest_of_each_column,
        lambda changelog: _largest_of_each_column(_live(changelog)),
        cause="Each column has a maximum of its own, so a row is put together from several "
        "records. Take one record as a whole: a `struct` is one value.",
    ),
    *same_idea(
        lambda changelog: _shown(_largest_struct(changelog)),
        lambda changelog: _shown(_largest_struct(_live(changelog))),
        cause="The maximum of a struct looks at its first field first, here the client. Put the "
        "offset in front, or use `max_by`.",
    ),
    *same_idea(
        lambda changelog: _shown(_of_each_client(changelog)),
        lambda changelog: _shown(_of_each_client(_live(changelog))),
        cause="It takes the newest row of each client. The key of the table is the position.",
    ),
    *same_idea(
        lambda changelog: _shown(_last(changelog, key=lambda row: row[:2])),
        lambda changelog: _shown(_last(changelog, key=lambda row: row[:3])),
        lambda changelog: _shown(_last(changelog, key=lambda row: (row.position, row.deleted))),
        lambda changelog: _shown(_last(changelog, key=lambda row: row[:6])),
        cause="It groups by more than the position, so a position that changed has several rows. "
        "Group by its key alone.",
    ),
    *same_idea(
        lambda changelog: _shown(_seen_first(changelog)),
        lambda changelog: _shown(_seen_first(_live(changelog))),
        lambda changelog: _shown(_seen_last(changelog)),
        lambda changelog: _shown(_seen_last(_live(changelog))),
        cause="It takes the record that happens to stand first or last. `first`, `last` and "
        "`dropDuplicates` know no newest: the offset has to decide.",
    ),
    *same_idea(
        lambda changelog: _shown(changelog),
        lambda changelog: _shown(_live(changelog)),
        cause="All records are there: a history. Of each position the newest counts.",
    ),
    Mistake(
        lambda changelog: list(set(_shown(_live(changelog)))),
        "It drops rows that are equal. Of each position the newest counts.",
    ),
    Mistake(
        lambda changelog: _shown([max(changelog, key=lambda row: row.offset)]),
        "Only the newest record of all is left. Each position has a newest one of its own.",
    ),
    Mistake(lambda changelog: [], "Nothing is left. Is a filter never true?"),
]

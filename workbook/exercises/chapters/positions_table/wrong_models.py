"""Mistakes that learners of chapter 10 make by hand, each as a model and the cause to name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from workbook.events.positions import US
from workbook.exercises.engine.judging import Mistake, same_idea

Fields = Mapping[str, Any]
Table = dict[str, Any]
Condition = Callable[[Fields], bool]


# --- one record ---------------------------------------------------------------------------------


def _replaced(old: Fields | None, new: Fields) -> Any:
    return new


def _removed(table: Table, key: str) -> Table:
    return {k: row for k, row in table.items() if k != key}


def _next(
    table: Table,
    key: str,
    value: Fields | None,
    *,
    update: Callable[[Fields | None, Fields], Any] = _replaced,
    close: Callable[[Table, str], Table] = _removed,
) -> Table:
    """Model a mistake: the right answer with one idea exchanged."""
    if value is None:
        return close(table, key)
    return {**table, key: update(table.get(key), value)}


def _added(old: Fields | None, new: Fields) -> Any:
    return {**new, "amount": new["amount"] + (old["amount"] if old else 0)}


def _deleted_or_fails(table: Table, key: str) -> Table:
    after = dict(table)
    del after[key]
    return after


def _popped_or_fails(table: Table, key: str) -> Table:
    after = dict(table)
    after.pop(key)
    return after


def _marked_if_there(table: Table, key: str) -> Table:
    return {**table, key: None} if key in table else table


def _toggled(table: Table, key: str, value: Fields | None) -> Table:
    """Remove a row that comes a second time, as if it were one too many."""
    if value is None or table.get(key) == value:
        return _removed(table, key)
    return {**table, key: value}


def _by_client(table: Table, key: str, value: Fields | None) -> Table:
    """Keep one row per client: the last one."""
    if value is None:
        return _removed(table, key)
    others = {k: row for k, row in table.items() if row["client"] != value["client"]}
    return {**others, key: value}


def _keyed_by_client(table: Table, key: str, value: Fields | None) -> Table:
    return _removed(table, key) if value is None else {**table, value["client"]: value}


ONE_RECORD = [
    Mistake(
        partial(_next, update=_added),
        "It adds the new amount to the old one, as if the record were an event. It is a row of a "
        "table: it says how much there is now, not how much more.",
    ),
    Mistake(
        partial(_next, update=lambda old, new: old or new),
        "The first row of a position stays for ever: an update changes nothing.",
    ),
    *same_idea(
        partial(_next, update=lambda old, new: {**(old or {}), **new}),
        partial(_next, update=lambda old, new: {**new, **(old or {}), **new}),
        cause="It merges the new row into the old one, so that a field which is gone lives on. The "
        "value is the whole row: replace it.",
    ),
    Mistake(
        partial(_next, update=lambda old, new: [*([old] if old else []), new]),
        "It keeps every row of a position in a list. That is a history; a table has one row for "
        "each key.",
    ),
    *same_idea(
        partial(_next, close=lambda table, key: {**table, key: None}),
        _marked_if_there,
        cause="The tombstone itself is put into the table: the key stays there, with None. Take it "
        "out, else everybody who reads the table meets rows that are none.",
    ),
    Mistake(
        partial(_next, close=lambda table, key: {**table, key: {}}),
        "The row is emptied, but its key stays in the table. Take the key out.",
    ),
    *same_idea(
        partial(_next, close=_deleted_or_fails),
        partial(_next, close=_popped_or_fails),
        cause="It fails on a tombstone for a position that is not there. Such records come: one "
        "is sent twice, or a position was never good. Nothing is to be done then.",
    ),
    Mistake(
        partial(_next, close=lambda table, key: table),
        "A tombstone changes nothing, so a closed position stays in the table.",
    ),
    Mistake(
        partial(_next, close=lambda table, key: {}),
        "A tombstone empties the whole table. It is about one key.",
    ),
    Mistake(
        partial(_next, close=lambda table, key: dict(list(table.items())[:-1])),
        "A tombstone takes out the last row of the table, whichever it is. It names a key.",
    ),
    Mistake(
        _toggled,
        "A record that comes a second time takes the row out. It says what is true, and saying so "
        "twice changes nothing.",
    ),
    Mistake(
        _by_client,
        "Each client keeps one row only. The key of the table is the position, and a client may "
        "hold many.",
    ),
    Mistake(
        _keyed_by_client,
        "The rows stand under the client's name. Their key is the position id, the key of the "
        "record.",
    ),
    Mistake(
        lambda table, key, value: {} if value is None else {key: value},
        "It returns the new row alone. The other rows are still true.",
    ),
    Mistake(
        lambda table, key, value: value,
        "It returns the value. The whole table is asked for, as it is after the record.",
    ),
    Mistake(
        lambda table, key, value: list(_next(table, key, value).values()),
        "It returns the rows without their keys. A dictionary from position id to row is asked "
        "for.",
    ),
    Mistake(
        lambda table, key, value: table if value is None else _removed(table, key),
        "The two ways are exchanged: a row takes the key out, and a tombstone does not.",
    ),
    Mistake(
        lambda table, key, value: dict(table),
        "Nothing ever changes. Is the record brought into the table at all?",
    ),
]
"""Models from a table, a key and a value to the table afterwards."""

# --- a filter -----------------------------------------------------------------------------------


def _told(
    old: Fields | None,
    new: Fields | None,
    keeps: Condition,
    *,
    was: Callable[[Fields | None, bool], bool] = lambda old, kept: kept,
    gone: Callable[[Fields | None], bool] = lambda new: True,
    passes: Callable[[bool], bool] = lambda before: True,
    delete: Callable[[Fields | None], Any] = lambda old: "delete",
    knows_the_same: bool = True,
) -> Any:
    """Model a mistake: the right answer with one idea exchanged."""
    before = was(old, old is not None and keeps(old))
    if new is not None and keeps(new):
        if knows_the_same and old == new:
            return None
        return new if passes(before) else None
    return delete(old) if before and gone(new) else None


def _as_on_a_stream(old: Fields | None, new: Fields | None, keeps: Condition) -> Any:
    return new if new is not None and keeps(new) else None


def _tombstone_of_none(
    old: Fields | None, new: Fields | None, keeps: Condition, **more: Any
) -> Any:
    """Emit a delete whenever there is no new row, whatever downstream had."""
    return "delete" if new is None else _told(old, new, keeps, **more)


def _not_later(old: Fields | None, new: Fields | None, keeps: Condition, **more: Any) -> Any:
    """Emit nothing for a row that begins to match later."""
    return _told(old, new, keeps, passes=lambda before: before or old is None, **more)


def _always(old: Fields | None, kept: bool) -> bool:
    return True


def _existed(old: Fields | None, kept: bool) -> bool:
    return old is not None


TOLD = [
    *same_idea(
        _as_on_a_stream,
        lambda *args: None if args[0] == args[1] else _as_on_a_stream(*args),
        cause="It is the filter of a stream: a row that does not match is dropped in silence. "
        "Downstream keeps the old row for ever. Whoever had it must be told that it is gone.",
    ),
    *same_idea(
        partial(_told, was=_always),
        partial(_told, was=_always, knows_the_same=False),
        cause="It tells a delete for everything that does not match, even if downstream never had "
        "a row. That does no harm to the table, but half of the world's shares are deletes for "
        "nobody.",
    ),
    *same_idea(
        partial(_told, was=_existed),
        partial(_told, was=_existed, knows_the_same=False),
        cause="It tells a delete whenever there was an old row. Downstream had that row only if "
        "the condition held for it.",
    ),
    *same_idea(
        _tombstone_of_none,
        partial(_tombstone_of_none, knows_the_same=False),
        cause="It hands on every tombstone. If downstream never had the row, there is nothing to "
        "delete.",
    ),
    *same_idea(
        partial(_told, gone=lambda new: new is None),
        partial(_told, gone=lambda new: new is None, knows_the_same=False),
        cause="It tells a delete only when the position was closed. A row that stops to match has "
        "to leave the table downstream just as well.",
    ),
    *same_idea(
        partial(_told, gone=lambda new: new is not None),
        partial(_told, gone=lambda new: new is not None, knows_the_same=False),
        cause="A position that is closed is not told. Downstream still has its row.",
    ),
    Mistake(
        partial(_told, knows_the_same=False),
        "It tells a row that is the same as before. Downstream has this very row: there is nothing "
        "to tell.",
    ),
    *same_idea(
        partial(_told, passes=lambda before: not before),
        partial(_told, passes=lambda before: not before, knows_the_same=False),
        cause="It tells a row when it begins to match, but not when it changes later. Downstream "
        "keeps the old amount.",
    ),
    *same_idea(
        _not_later,
        partial(_not_later, knows_the_same=False),
        cause="A row that begins to match later is not told: it was none before, and is one now. "
        "Downstream hears of it for the first time.",
    ),
    Mistake(
        partial(_told, passes=lambda before: before),
        "A row is told only if the condition held before as well. So no row ever begins.",
    ),
    *same_idea(
        partial(_told, delete=lambda old: old),
        partial(_told, delete=lambda old: old, knows_the_same=False),
        cause="In the place of a delete it tells the old row. That says that it is still true.",
    ),
    *same_idea(
        partial(_told, delete=lambda old: {}),
        partial(_told, delete=lambda old: True),
        partial(_told, delete=lambda old: False),
        partial(_told, delete=lambda old: "DELETE"),
        partial(_told, delete=lambda old: "deleted"),
        cause="The deletes stand where they should, but they are told in another way: the text "
        "`'delete'` is asked for.",
    ),
    Mistake(
        lambda old, new, keeps: _told(old, new, lambda row: not keeps(row)),
        "The condition is turned round: it keeps what is no US share.",
    ),
    *same_idea(
        lambda old, new, keeps: "delete" if new is None else new,
        lambda old, new, keeps: None if old == new else ("delete" if new is None else new),
        lambda old, new, keeps: new,
        cause="Nothing is filtered: every row is told, US share or not. Is the condition asked?",
    ),
    Mistake(
        lambda old, new, keeps: new is not None and keeps(new),
        "It returns whether the row is to be kept. Asked for is what downstream is told: the row, "
        "`'delete'`, or None.",
    ),
]
"""Models from the old row, the new one and the condition to what is told."""

TOLD_SHORTCUTS = [
    Mistake(
        lambda old, new, keeps: _told(old, new, lambda row: row["exchange"] in US),
        "It asks for the exchange by itself, and not `keeps`. A filter is handed its condition: "
        "today US shares, tomorrow large amounts.",
    ),
]
"""The same, for what is right as long as the condition asks for US shares."""

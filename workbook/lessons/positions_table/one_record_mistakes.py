"""Wrong answers to "One record", from a table, a key and a value to the table afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea

Value = Mapping[str, Any] | None
Table = dict[str, Any]


def _right(table: Table, key: str, value: Any) -> Table:
    return {k: row for k, row in {**table, key: value}.items() if row is not None}


MISTAKES = Mistakes()


@MISTAKES.add(
    "It adds the new amount to the old one, as if the record were an event. It's a row of a "
    "table, and states how much there is now, not how much more."
)
def adds(table: Table, key: str, value: Value) -> Table:
    if value is None or key not in table:
        return _right(table, key, value)
    return {**table, key: {**value, "amount": value["amount"] + table[key]["amount"]}}


@MISTAKES.add("The first row of a position stays for ever: an update changes nothing.")
def first_stays(table: Table, key: str, value: Value) -> Table:
    return _right(table, key, value and table.get(key, value))


@MISTAKES.add(
    "It merges the new row into the old one, so that a field which is gone lives on. The value is "
    "the whole row: replace it."
)
def merges_fields(table: Table, key: str, value: Value) -> Table:
    return _right(table, key, value and {**table.get(key, {}), **value})


@MISTAKES.add(
    "It keeps every row of a position in a list. That is a history; a table has one row for each "
    "key."
)
def keeps_a_history(table: Table, key: str, value: Value) -> Table:
    before = [table[key]] if key in table else []
    return _right(table, key, value and [*before, value])


@MISTAKES.add(
    "It fails on a tombstone for a position that isn't there. Such records come: one is sent "
    "twice, or a position was never good. There's nothing to do then."
)
def must_be_there(table: Table, key: str, value: Value) -> Table:
    after = dict(table)
    if value is None:
        del after[key]
    else:
        after[key] = value
    return after


@MISTAKES.add(
    "A record that comes a second time takes the row out. It states what is true, and a second "
    "time changes nothing."
)
def toggles(table: Table, key: str, value: Value) -> Table:
    return _right(table, key, None if table.get(key) == value else value)


@MISTAKES.add(
    "Each client keeps one row only. The key of the table is the position, and a client may hold "
    "many."
)
def one_for_each_client(table: Table, key: str, value: Value) -> Table:
    if value is None:
        return _right(table, key, value)
    others = {k: row for k, row in table.items() if row["client"] != value["client"]}
    return {**others, key: value}


MISTAKES += [
    *same_idea(
        lambda table, key, value: {**table, key: value},
        lambda table, key, value: {**table, key: value} if value or key in table else table,
        cause="The tombstone itself is put into the table: the key stays there, with None. Take it "
        "out, else everybody who reads the table meets rows without values.",
    ),
    Mistake(
        lambda table, key, value: {**table, key: value or {}},
        "The row is emptied, but its key stays in the table. Take the key out.",
    ),
    Mistake(
        lambda table, key, value: {**table, key: value} if value else table,
        "A tombstone changes nothing, so a closed position stays in the table.",
    ),
    Mistake(
        lambda table, key, value: {**table, key: value} if value else {},
        "A tombstone empties the whole table. It names one key.",
    ),
    Mistake(
        lambda table, key, value: {**table, key: value} if value else dict([*table.items()][:-1]),
        "A tombstone takes out the last row of the table, whichever it is. It names a key.",
    ),
    Mistake(
        lambda table, key, value: _right(table, value["client"] if value else key, value),
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
        lambda table, key, value: list(_right(table, key, value).values()),
        "It returns the rows without their keys. A dictionary from position id to row is asked "
        "for.",
    ),
    Mistake(
        lambda table, key, value: table if value is None else _right(table, key, None),
        "The two ways are exchanged: a row takes the key out, and a tombstone doesn't.",
    ),
    Mistake(
        lambda table, key, value: dict(table),
        "Nothing ever changes. Is the record brought into the table at all?",
    ),
]

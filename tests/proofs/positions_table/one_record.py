"""Answers to "One record", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.positions_table.one_record_mistakes import MISTAKES


def by_comprehension(table, key, value):
    others = {k: row for k, row in table.items() if k != key}
    return others if value is None else {**others, key: value}


def merged(table, key, value):
    return {k: row for k, row in (table | {key: value}).items() if row is not None}


def guarded(table, key, value):
    after = table.copy()
    if value is not None:
        after[key] = value
    elif key in after:
        del after[key]
    return after


def adds(table, key, value):
    if value is None:
        return guarded(table, key, value)
    amount = value["amount"] + table.get(key, {"amount": 0})["amount"]
    return table | {key: value | {"amount": amount}}


def in_place(table, key, value):
    if value is None:
        table.pop(key, None)
    else:
        table[key] = value
    return table


def half(table, key, value):
    if value is not None:
        return {**table, key: value}
    return None


def no_return(table, key, value):
    guarded(table, key, value)


def prints(table, key, value):
    print(guarded(table, key, value))


def no_small_amounts(table, key, value):
    """Takes a position of which nothing is held for a closed one."""
    return by_comprehension(table, key, value if value and value["amount"] else None)


def drops_equal_rows(table, key, value):
    if value is None:
        return {k: v for k, v in table.items() if v != table.get(key)}
    return {**table, key: value}


def drops_the_client(table, key, value):
    if value is None and key in table:
        client = table[key]["client"]
        return {k: v for k, v in table.items() if v["client"] != client}
    return by_comprehension(table, key, value)


def drops_by_prefix(table, key, value):
    if value is None and key:
        return {k: v for k, v in table.items() if not k.startswith(key)}
    return by_comprehension(table, key, value)


def by_identity(table, key, value):
    if value is None:
        return {k: v for k, v in table.items() if k is not key}
    return {**table, key: value}


def same_table_if_unknown(table, key, value):
    return table if value is None and key not in table else by_comprehension(table, key, value)


def same_table_if_equal(table, key, value):
    return table if value and table.get(key) == value else by_comprehension(table, key, value)


def only_growth(table, key, value):
    if value and key in table and table[key]["amount"] >= value["amount"]:
        return dict(table)
    return by_comprehension(table, key, value)


catalogue = Catalogue(
    right=[by_comprehension, merged, guarded],
    wrong=[
        (adds, "adds the new amount"),
        (in_place, "changes the input"),
        (half, "returns None for this input"),
        (no_return, "no `return`"),
        (prints, "prints the value"),
        (lambda table, key, value: table | {key: rows}, "raised NameError"),  # noqa: F821
        (lambda record: {}, "Keep the parameters"),
        ({}, "without parentheses"),
    ],
    shortcuts=[
        (drops_equal_rows, "two of their rows are equal"),
        (drops_the_client, "two of their rows are equal"),
        (by_identity, "`is` compares objects"),
        (drops_by_prefix, "`p1` is a part of their names"),
        (same_table_if_unknown, "it's the one that was given"),
        (same_table_if_equal, "it's the one that was given"),
        (only_growth, "has 15 now"),
        (lambda table, key, value: by_comprehension(table, key.lower(), value), "drawn by chance"),
        (no_small_amounts, "drawn by chance"),
    ],
    models=MISTAKES,
)

"""Answers to "A filter on a table", right and wrong, as learners may write them."""

from __future__ import annotations

from proof import Catalogue

from workbook.lessons.positions_table.filtered_table_mistakes import MISTAKES, SHORTCUTS


def by_tables(old, new, keeps):
    """The filter as the difference of two tables of one row."""
    before, after = ([row for row in (r,) if row and keeps(row)] for r in (old, new))
    if before == after or not (before or after):
        return None
    return after[0] if after else "delete"


def by_match(old, new, keeps):
    match bool(old and keeps(old)), bool(new and keeps(new)):
        case (_, True) if new != old:
            return new
        case (True, False):
            return "delete"
    return None


def same_first(old, new, keeps):
    if old == new:
        return None
    if new is not None and keeps(new):
        return new
    if old is None:
        return None
    return "delete" if keeps(old) else None


def asks_none(old, new, keeps):
    if keeps(new):
        return new
    return "delete" if keeps(old) else None


def begins_with_n(row):
    return row["exchange"].startswith("N")


def compares_amounts(old, new, keeps):
    if old and new and keeps(old) and keeps(new) and old["amount"] == new["amount"]:
        return None
    if new and keeps(new):
        return new
    return "delete" if old and keeps(old) else None


def same_in(*fields):
    """The filter with a comparison of some fields."""

    def answer(old, new, keeps):
        told = by_tables(old, new, keeps)
        equal = old and new and all(old[field] == new[field] for field in fields)
        return None if equal else told

    return answer


catalogue = Catalogue(
    right=[by_tables, by_match, same_first],
    wrong=[
        (asks_none, "called with None"),
        (lambda o, n, keeps: "delete", "A new US share"),
        (lambda o, n, keeps: o and None, "no `return`"),
        (lambda o, n, keeps: keeps, "returns a function"),
        (lambda o, n, keeps: keep(n), "raised NameError"),  # noqa: F821
        (lambda o, n, keeps: print(same_first(o, n, keeps)), "prints the value"),
        (lambda old, new: new, "Keep the parameters"),
        ("delete", "without parentheses"),
    ],
    shortcuts=[
        (same_in("client", "amount", "exchange"), "Only the ticker has changed"),
        (same_in("ticker", "amount", "exchange"), "Only the client has changed"),
        (lambda o, n, keeps: same_first(o, n, begins_with_n), "another one"),
        (compares_amounts, ""),
    ],
    models=[*MISTAKES, *SHORTCUTS],
)

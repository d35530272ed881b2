"""Wrong answers to "The changes of an update", from two rows to the triples (client, sign, row)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.events.positions import US
from workbook.lessons.models.forms import in_other_forms

Row = Mapping[str, Any] | None
Change = tuple[Any, Any, Row]


def _us(row: Row) -> Row:
    return row if row is not None and row["exchange"] in US else None


def _nasdaq(row: Row) -> Row:
    return row if row is not None and row["exchange"] == "NASDAQ" else None


def _remove(row: Row) -> list[Change]:
    return [] if row is None else [(row["client"], -1, row)]


def _add(row: Row) -> list[Change]:
    return [] if row is None else [(row["client"], 1, row)]


def _word(sign: int) -> str:
    return "remove" if sign < 0 else "add"


def _always(old: Row, new: Row) -> list[Change]:
    """Give the changes even if the row is the same."""
    return _remove(_us(old)) + _add(_us(new))


def _right(old: Row, new: Row) -> list[Change]:
    return [] if old == new else _always(old, new)


def _equal_in(fields: tuple[str, ...], old: Row, new: Row) -> bool:
    if old is None or new is None:
        return old == new
    return all(old[field] == new[field] for field in fields)


def _of_one_client(changes: list[Change]) -> bool:
    """Return True if a row of a client replaces another one of the same."""
    return len(changes) == 2 and changes[0][0] == changes[1][0]


MISTAKES = Mistakes(
    [
        # The first, since it equals what is right in all but its types.
        Mistake(
            lambda old, new: [(client, float(sign), row) for client, sign, row in _right(old, new)],
            "The sign is -1.0 or 1.0, of type float. A whole number is asked for: -1 or +1.",
        )
    ]
)


@MISTAKES.add(
    "The new row is added before the old one is removed. With the same client the removal then "
    "takes out what has just come in: remove first."
)
def adds_first(old: Row, new: Row) -> list[Change]:
    return [] if old == new else _add(_us(new)) + _remove(_us(old))


@MISTAKES.add(
    "When the client stays the same it gives nothing. But the row has changed, and a sum of "
    "amounts would never get the change."
)
def compares_clients(old: Row, new: Row) -> list[Change]:
    return [] if _equal_in(("client",), old, new) else _always(old, new)


@MISTAKES.add(
    "A row that differs in its amount alone is taken for the same. Whoever adds up amounts would "
    "never get the change."
)
def compares_all_but_amounts(old: Row, new: Row) -> list[Change]:
    return [] if _equal_in(("client", "ticker", "exchange"), old, new) else _always(old, new)


@MISTAKES.add(
    "When the client stays the same it only adds. A sum would then count the old row and the new "
    "one: the old row goes first."
)
def only_adds_to_the_same(old: Row, new: Row) -> list[Change]:
    changes = _right(old, new)
    return changes[1:] if _of_one_client(changes) else changes


@MISTAKES.add(
    "When the client stays the same it emits one change with the sign 0. There is no such change: "
    "an update is two, -1 for the old row and +1 for the new one."
)
def gives_a_zero(old: Row, new: Row) -> list[Change]:
    changes = _right(old, new)
    return [(changes[1][0], 0, new)] if _of_one_client(changes) else changes


_NO_EXCHANGE = (
    "It looks at no exchange: SAP in Frankfurt isn't a US share. Both rows have to be asked."
)


def _is_abroad(old: Row, new: Row) -> bool:
    return "XETRA" in [row["exchange"] for row in (old, new) if row is not None]


@MISTAKES.add(_NO_EXCHANGE, shows=_is_abroad)
def takes_every_exchange(old: Row, new: Row) -> list[Change]:
    return [] if old == new else _remove(old) + _add(new)


@MISTAKES.add(_NO_EXCHANGE, shows=_is_abroad)
def takes_everything(old: Row, new: Row) -> list[Change]:
    return _remove(old) + _add(new)


@MISTAKES.add(
    "The removal names the client of the new row. The position leaves the one who had it: the old "
    "row knows."
)
def removes_from_the_new_client(old: Row, new: Row) -> list[Change]:
    if old == new or new is None:
        return _right(old, new)
    removed: list[Change] = [(new["client"], sign, row) for _, sign, row in _remove(_us(old))]
    return removed + _add(_us(new))


@MISTAKES.add(
    "Its -1 carries the new row. What is taken out of a group is what was put in: the old row."
)
def removes_the_new_row(old: Row, new: Row) -> list[Change]:
    if old == new or new is None:
        return _right(old, new)
    return [(client, sign, new) for client, sign, _ in _remove(_us(old))] + _add(_us(new))


MISTAKES += [
    Mistake(
        lambda old, new: [] if old == new else _add(_us(new)),
        "Nothing is ever removed. What the old row put into a group stays there for ever.",
    ),
    Mistake(
        lambda old, new: _remove(_us(old)) if new is None else [] if old == new else _add(_us(new)),
        "It removes by a tombstone only. An update takes the old row out too, or a position that "
        "moves is with both clients.",
    ),
    Mistake(
        _always,
        "A record that came twice becomes a -1 and a +1. If the row is the same, "
        "nothing has changed.",
    ),
    Mistake(
        lambda old, new: [] if old == new else _remove(old) + _add(_us(new)),
        "It asks the new row for its exchange, and not the old one. A row that was in no group "
        "cannot be removed from one.",
    ),
    Mistake(
        lambda old, new: [] if old == new else _remove(_us(old)) + _add(new),
        "It asks the old row for its exchange, and not the new one. A share of another country "
        "enters a group.",
    ),
    Mistake(
        lambda old, new: _right(old, new) if new is None or _us(new) else [],
        "When the new row isn't a US share it gives nothing. But the old one was, and has to go.",
    ),
    Mistake(
        lambda old, new: _right(old, new) if old is None or _us(old) else [],
        "When the old row wasn't a US share it gives nothing. But the new one is, and has to come.",
    ),
    Mistake(
        lambda old, new: [] if old == new else _remove(_nasdaq(old)) + _add(_nasdaq(new)),
        "Only NASDAQ counts as a US exchange. NYSE is one as well.",
    ),
    Mistake(
        lambda old, new: [(client, sign, new) for client, sign, _ in _right(old, new)],
        "The removal carries the new row. What has to be taken out is what was put in: the old "
        "row.",
    ),
    Mistake(
        lambda old, new: [(client, -sign, row) for client, sign, row in _right(old, new)],
        "The two signs are swapped: the old row goes (-1), the new one comes (+1).",
    ),
    *same_idea(
        lambda old, new: [(client, _word(sign), row) for client, sign, row in _right(old, new)],
        lambda old, new: [(client, f"{sign:+d}", row) for client, sign, row in _right(old, new)],
        cause="The sign is a text. The number -1 or +1 is asked for: a sum will add it up.",
    ),
    Mistake(
        lambda old, new: [
            (client, sign * row["amount"], row) for client, sign, row in _right(old, new) if row
        ],
        "The sign carries the amount. It counts rows: -1 for one that goes, +1 for one that comes.",
    ),
    Mistake(
        lambda old, new: [(sign, client, row) for client, sign, row in _right(old, new)],
        "The client comes first, then the sign.",
    ),
    Mistake(
        lambda old, new: [(client, sign) for client, sign, _ in _right(old, new)],
        "The row is missing. An adder and a subtractor need it: what is to be taken out?",
    ),
    *in_other_forms(
        _right,
        as_lists="The contents are right, but each triple is a list: a tuple in round brackets is "
        "asked for.",
        in_one_list="It gives one list with all triples in it. Give each triple by itself.",
    ),
    *same_idea(
        lambda old, new: [],
        lambda old, new: _right(old, new) if old is None and new is None else [],
        cause="It never gives any change. Is a condition never true, or does an early `return` end "
        "it?",
    ),
]


def _without(left_out: tuple[str, ...]) -> Mistake:
    """Return the mistake that takes rows for the same although these fields have changed."""
    fields = ("client", "ticker", "amount", "exchange")
    compared = tuple(field for field in fields if field not in left_out)
    return Mistake(
        lambda old, new: [] if _equal_in(compared, old, new) else _always(old, new),
        f"It compares rows without their {' and '.join(left_out)}. A row that differs there "
        "alone is another row: compare whole rows, `old == new`.",
    )


LEFT_OUT = [
    _without(left_out)
    for many in (1, 2, 3)
    for left_out in combinations(("client", "ticker", "amount", "exchange"), many)
]
"""Comparisons of some fields of the two rows, and not of all."""

"""Wrong answers to "A filter on a table", from the two rows and the condition to what it emits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbook.classroom.mistakes import Mistake, Mistakes, same_idea
from workbook.events.positions import US

Row = Mapping[str, Any] | None
Keeps = Callable[[Any], bool]


def _kept(row: Row, keeps: Keeps) -> bool:
    return row is not None and keeps(row)


def _emits_again(old: Row, new: Row, keeps: Keeps) -> Any:
    if _kept(new, keeps):
        return new
    return "delete" if _kept(old, keeps) else None


def _right(old: Row, new: Row, keeps: Keeps) -> Any:
    return None if old == new else _emits_again(old, new, keeps)


class _Filters(Mistakes):
    """Mistakes of a filter, each also with the right answer to a kept row that comes twice."""

    def add(self, cause: str) -> Callable[..., Any]:  # type: ignore[override]
        """Return a decorator that adds a wrong filter under its cause, both ways."""

        def keep(emit: Callable[..., Any]) -> Callable[..., Any]:
            def once(old: Row, new: Row, keeps: Keeps) -> Any:
                return None if old == new and _kept(new, keeps) else emit(old, new, keeps)

            self.extend(same_idea(emit, once, cause=cause))
            return emit

        return keep


MISTAKES = _Filters()


@MISTAKES.add(
    "It is the filter of a stream: a row that doesn't match is dropped in silence. Downstream "
    "keeps the old row for ever. It needs a delete for a row that it had."
)
def stream_filter(old: Row, new: Row, keeps: Keeps) -> Any:
    return new if _kept(new, keeps) else None


@MISTAKES.add(
    "It emits a delete for everything that doesn't match, even if downstream never had a row. "
    "That does no harm to the table, but half of the world's shares become deletes that nobody "
    "needs."
)
def deletes_for_all(old: Row, new: Row, keeps: Keeps) -> Any:
    return new if _kept(new, keeps) else "delete"


@MISTAKES.add(
    "It emits a delete whenever there was an old row. Downstream had that row only if the "
    "condition held for it."
)
def deletes_what_was(old: Row, new: Row, keeps: Keeps) -> Any:
    if _kept(new, keeps):
        return new
    return "delete" if old is not None else None


@MISTAKES.add(
    "It passes every tombstone on. If downstream never had the row, there is nothing to delete."
)
def hands_on_tombstones(old: Row, new: Row, keeps: Keeps) -> Any:
    return "delete" if new is None else _emits_again(old, new, keeps)


@MISTAKES.add(
    "It emits a delete only when the position was closed. A row that no longer matches has to "
    "leave the table downstream just as well."
)
def deletes_closed_ones(old: Row, new: Row, keeps: Keeps) -> Any:
    if _kept(new, keeps):
        return new
    return "delete" if new is None and _kept(old, keeps) else None


@MISTAKES.add("No delete is emitted for a closed position. Downstream still has its row.")
def forgets_closed_ones(old: Row, new: Row, keeps: Keeps) -> Any:
    return None if new is None else _emits_again(old, new, keeps)


@MISTAKES.add(
    "It emits a row when it begins to match, but not when it changes later. Downstream keeps the "
    "old amount."
)
def emits_the_first(old: Row, new: Row, keeps: Keeps) -> Any:
    before, after = _kept(old, keeps), _kept(new, keeps)
    if before and after:
        return None
    return _emits_again(old, new, keeps)


@MISTAKES.add(
    "A row that begins to match later isn't emitted. It was no US share before, and is one now, so "
    "downstream doesn't have it yet."
)
def never_begins_later(old: Row, new: Row, keeps: Keeps) -> Any:
    if old is not None and not keeps(old):
        return None
    return _emits_again(old, new, keeps)


@MISTAKES.add(
    "A row is emitted only if the condition held before as well, so downstream never gets a first "
    "row."
)
def never_begins(old: Row, new: Row, keeps: Keeps) -> Any:
    return _emits_again(old, new, keeps) if _kept(old, keeps) else None


@MISTAKES.add("It emits the old row instead of a delete, so downstream keeps it.")
def emits_the_old(old: Row, new: Row, keeps: Keeps) -> Any:
    if _kept(new, keeps):
        return new
    return old if _kept(old, keeps) else None


def _in_other_words(delete: Any) -> Callable[..., Any]:
    """Return the right filter with another sign for a delete."""

    def emit(old: Row, new: Row, keeps: Keeps) -> Any:
        emitted = _right(old, new, keeps)
        return delete if emitted == "delete" else emitted

    return emit


MISTAKES += [
    Mistake(
        _emits_again,
        "It emits a row that is the same as before. Downstream has this very row already.",
    ),
    *same_idea(
        *map(_in_other_words, ({}, True, False, "DELETE", "deleted")),
        cause="The deletes stand where they should, but they are written in another way: the text "
        "`'delete'` is asked for.",
    ),
    Mistake(
        lambda old, new, keeps: _right(old, new, lambda row: not keeps(row)),
        "The condition is inverted: it keeps what isn't a US share.",
    ),
    *same_idea(
        lambda old, new, keeps: "delete" if new is None else new,
        lambda old, new, keeps: None if old == new else ("delete" if new is None else new),
        lambda old, new, keeps: new,
        cause="Nothing is filtered: every row is emitted, US share or not. Is the condition used?",
    ),
    Mistake(
        lambda old, new, keeps: new is not None and keeps(new),
        "It returns whether the row is to be kept. Return what the filter emits: the row, "
        "`'delete'`, or None.",
    ),
]

SHORTCUTS = [
    Mistake(
        lambda old, new, keeps: _right(old, new, lambda row: row["exchange"] in US),
        "It checks the exchange itself instead of calling `keeps`. A filter is handed its "
        "condition: today US shares, tomorrow large amounts.",
    ),
]
"""Mistakes that don't show as long as the condition asks for US shares."""

"""Says what an error of an answer comes from, where its message says it to those who know."""

from __future__ import annotations

import re
from collections.abc import Sequence

from workbook.classroom.showing import error_line

_HINTS: Sequence[tuple[type[BaseException], str, str]] = (
    (
        TypeError, r"not supported between instances of 'dict' and 'dict'",
        "Dictionaries have no order: give `sorted`, `min` or `max` a `key`, or compare one of "
        "their fields.",
    ),
    (
        TypeError, r"(not supported between|unsupported operand).*'NoneType'",
        "One of the two values is None for this input: ask `is None` before you use it.",
    ),
    (
        TypeError, r"'NoneType' object is not (iterable|subscriptable)|object of type 'NoneType'",
        "It takes a None for a value. Methods such as `append`, `extend` or `sort` return nothing, "
        "and `get` gives None where there's no such key.",
    ),
    (
        TypeError, r"(list|tuple) indices must be integers or slices, not str",
        "It asks a list for a field, or a record by a name in brackets: that is `record.name`.",
    ),
    (
        RuntimeError, r"changed size during iteration",
        "A loop goes over it and takes something out, or puts something in. Collect what you find "
        "in a value of your own.",
    ),
    (
        ValueError, r"(iterable argument is empty|arg is an empty sequence)",
        "The smallest or largest of nothing: for this input nothing is left to compare.",
    ),
)  # fmt: skip


def cause_of_error(error: BaseException) -> str:
    """Return the likely cause of an error that an answer raised."""
    line = error_line(error)
    hints = (hint for kind, says, hint in _HINTS if isinstance(error, kind) and _in(says, line))
    return f"It raised {line}. {next(hints, 'Follow this input through your lines.')}"


def _in(says: str, line: str) -> bool:
    return re.search(says, line) is not None

"""Bounds values: measures each one before it's copied, compared or shown."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

MOST_PARTS = 50_000
MOST_BYTES = 4_000_000
MOST_BITS = 10_000
DEEPEST = 50

_HOLDERS = (list, tuple, set, frozenset, deque, dict)
_TEXTS = (str, bytes, bytearray)


@dataclass(frozen=True)
class Large:
    """Stands in for a value that is too large: its type, its size, and its first elements."""

    kind: str
    size: str
    start: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        begins = f", which begins {', '.join(map(repr, self.start))}" if self.start else ""
        return f"<{self.kind} of {self.size}{begins}>"


def bounded(value: Any) -> Any:
    """Return the value itself if its size can be worked with, else a ``Large`` for it."""
    size = oversize(value)
    if not size:
        return value
    start = (part for part in islice(parts(value), 3) if not oversize(part, parts_left=20))
    return Large(type(value).__name__, size, tuple(start))


def oversize(value: Any, parts_left: int = MOST_PARTS) -> str:
    """Return the measure by which a value is too large, or ''.

    The walk is over what Python's own containers and texts hold, and ends at the limit. Anything
    else counts as one part: arrays and frames cut what they show by themselves.
    """
    waiting, bytes_left = [(value, 0)], MOST_BYTES
    while waiting:
        item, depth = waiting.pop()
        if isinstance(item, _HOLDERS):
            parts_left -= length(item)
            if parts_left < 0:
                return f"{length(item):,} elements" if item is value else "very many elements"
            if depth == DEEPEST:
                return f"more than {DEEPEST} levels"
            waiting += ((part, depth + 1) for part in parts(item))
        elif isinstance(item, int) and int.bit_length(item) > MOST_BITS:
            return f"about {round(int.bit_length(item) * 0.30103):,} digits"
        elif isinstance(item, _TEXTS):
            bytes_left -= length(item)
            if bytes_left < 0:
                kind = "characters" if isinstance(item, str) else "bytes"
                return f"{length(item):,} {kind}" + ("" if item is value else " in one part")
    return ""


def _base(value: Any) -> Any:
    """Return which of Python's own containers or texts a value is, whatever its class changed."""
    return next((base for base in type(value).__mro__ if base in _HOLDERS + _TEXTS), None)


def length(value: Any) -> int:
    """Return the length of one of Python's own containers or texts; 0 for anything else."""
    base = _base(value)
    return int(base.__len__(value)) if base is not None else 0


def parts(value: Any) -> Iterable[Any]:
    """Return what one of Python's own containers holds, keys and values; else nothing."""
    base = _base(value)
    if base is dict:
        return chain.from_iterable(dict.items(value))
    return base.__iter__(value) if base in _HOLDERS else ()

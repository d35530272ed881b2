"""The tape of a chapter's own loop: where it stands, and what its group has committed."""

from __future__ import annotations

import json
from collections.abc import Callable

from workbook.kafka.tail import Seen, Tail
from workbook.views.picture import Picture, number
from workbook.views.strip import Look
from workbook.views.tape import Place, Span, tape

CAPTION = "Two memories: the group's committed offset, in the broker, and the count, in the loop"
SILENT = "The broker doesn't answer; this is what was known last."

LoopAt = tuple[int | None, int]
"""The offset of the first record that a loop has counted, or None, and its next offset."""


class Tape:
    """A partition with a group's committed offset and with a loop that counts, drawn as it is now.

    ``loop`` says which records lie in its count.
    """

    def __init__(self, tail: Tail, group: str, loop: Callable[[], LoopAt]) -> None:
        self._tail, self._group, self._loop = tail, group, loop

    def __call__(self) -> Picture:
        """Draw it."""
        began, place = self._loop()
        return drawn(self._tail.look(), self._group, began, place)

    def _repr_html_(self) -> str:
        return self()._repr_html_()

    def __repr__(self) -> str:
        return str(self())


def drawn(seen: Seen, group: str, began: int | None, place: int) -> Picture:
    """Draw a partition, the place of a loop in it, and what the loop holds in its count."""
    places = [
        Place("the loop's next offset", None if began is None else place),
        Place(f"committed by {group}", seen.committed),
    ]
    spans = []
    if began is not None:
        old, new = number(began - seen.first, "record"), number(place - began, "record")
        spans = [
            Span(f"{old} forgotten by the count", seen.first, began, Look.CROSSED),
            Span(f"{new} read, their count in memory alone", began, place),
        ]
    caption = f"{CAPTION}. {SILENT}" if seen.silent else CAPTION
    return tape(seen.labels, places, first=seen.first, end=seen.end, spans=spans, caption=caption)


def click_name(value: bytes | None) -> str:
    """Return what was clicked; "?" for what is no click."""
    try:
        return str(json.loads(value or b"")["name"])
    except (ValueError, LookupError, TypeError):
        return "?"

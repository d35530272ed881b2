"""Judges the offsets that a mob's program commits: what a kill -9 would cost at any moment."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence

from workbook.lessons.mob_ninety_minutes.on_paper import (
    CLICKS,
    Entry,
    Message,
    Producer,
    Reader,
)
from workbook.lessons.mob_ninety_minutes.rehearsal import Program, run

MOVED = "while it ran, its bookmark moved"
STOOD = "while it ran, its bookmark never moved"
NOWHERE = "in the end it has committed nothing"


class Bookmark:
    """The committed offset of a group, and what is wrong with the places where it stood."""

    def __init__(self, records: Sequence[Entry]) -> None:
        kept = [entry for entry in records if isinstance(entry, tuple)]
        self._pages = [
            (offset, entry[1] // 1000) for offset, entry in enumerate(kept) if entry[0] == "Page"
        ]
        self._delivered: set[int] = set()
        self.wrong: list[str] = []
        self.begins: int | None = None

    def arrived(self, metric: Message, taken: bool) -> None:
        """Note that the broker has answered for a second's metric."""
        if taken:
            self._delivered.add(int(metric.key() or 0))

    def committed(self, topic: str, offset: int) -> None:
        """Move to an offset; what a restart from there would cost is noted."""
        if topic != CLICKS:
            self._note(f"it commits offset {offset} of the topic {topic!r}, which isn't its input")
            return
        before = [page for page in self._pages if page[0] < offset]
        after = [page for page in self._pages if page[0] >= offset]
        self.begins = after[0][0] if after else offset
        for second in dict.fromkeys(second for _, second in before):
            left = sum(page[1] == second for page in after)
            gone = sum(page[1] == second for page in before)
            if left and second not in self._delivered:
                self._note(_cut(offset, second, left, left + gone))
            elif left:
                self._note(_again(offset, second, left))
            elif second not in self._delivered:
                self._note(_lost(offset, second))

    @property
    def place(self) -> str:
        """Return where a restart begins."""
        if self.begins is None:
            return NOWHERE
        at = f"with the page view at offset {self.begins}"
        behind = self.begins > max((offset for offset, _ in self._pages), default=-1)
        return f"in the end a restart begins {'behind the last page view' if behind else at}"

    def _note(self, text: str) -> None:
        if text not in self.wrong:
            self.wrong.append(text)


def _cut(offset: int, second: int, left: int, views: int) -> str:
    return (
        f"a restart at offset {offset} counts {left} of the {views} page views of second {second}"
    )


def _again(offset: int, second: int, left: int) -> str:
    return (
        f"a restart at offset {offset} sends second {second}, which is delivered, once more with "
        f"{left} of its page views"
    )


def _lost(offset: int, second: int) -> str:
    return f"a restart at offset {offset} never sends second {second}, which isn't delivered"


def bookmarks_of(program: Program) -> Callable[..., list[str]]:
    """Rehearse a program that commits: whether and where its bookmark moved, and what that costs.

    A right one may commit anywhere between a delivered second and the page view behind it.
    """

    @functools.wraps(program)
    def asked(
        records: Sequence[Entry], reports_after: int = 1, refused: int | None = None
    ) -> list[str]:
        mark = Bookmark(records)
        reader = Reader(records, mark.committed)
        key = () if refused is None else (str(refused).encode(),)
        producer = Producer(reader, reports_after, key, mark.arrived)
        moved = list[bool]()

        def until() -> bool:
            if reader.until():
                moved.append(mark.begins is not None)
            return reader.until()

        lines = list[str]()
        run(lambda: program(reader, producer, "metrics", until), lines)
        if refused is not None:
            lines.clear()  # it may end at a refused metric, or hold its place and go on
        elif reports_after == 1:  # later ones may come when the loop has ended
            lines.append(MOVED if any(moved[:1]) else STOOD)
        return [*lines, mark.place, *mark.wrong]

    asked.__signature__ = inspect.signature(_like)  # type: ignore[attr-defined]
    return asked


def _like(records: Sequence[Entry], reports_after: int = 1, refused: int | None = None) -> None: ...

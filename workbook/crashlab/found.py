"""Draws what a kill found: the tape of a run by hand, or the checkpoint of a query on Spark."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from confluent_kafka import KafkaException

from workbook.crashlab.crashes.base import Traced
from workbook.crashlab.material import Material
from workbook.crashlab.notes import read_in
from workbook.errors import WorkbookError
from workbook.spark.checkpoint_files import checkpoint_files, planned
from workbook.views.checkpoint import checkpoint
from workbook.views.picture import Picture, number
from workbook.views.strip import Look
from workbook.views.tape import Place, Span, tape

CAPTION = (
    "kill -9 ends a program that counts the {}s among these records: what is lost, what read again?"
)
SHOWN = 2
"""So many runs of a kind are bracketed: the longest ones."""

LOST, KEPT, AGAIN, DONE = FATES = (
    ("counted only in memory: lost", Look.CROSSED),
    ("counted only in memory: read again", Look.HATCHED),
    ("counted and published: read again", Look.DOUBLE),
    ("counted and published: done", Look.PLAIN),
)
UNREAD = "not read yet"


@dataclass(frozen=True)
class Found:
    """Where a kill found a run by hand: offsets of partition 0 of its input.

    It ``began`` there, had been given all records before ``read``, and had ``committed`` this one,
    where the restart begins. ``results`` were in the result topic.
    """

    began: int
    read: int
    committed: int | None
    results: int


class Kept:
    """What kills found, noted before a restart changes it: ``folder`` is the lab's."""

    def __init__(self, material: Material, group: str, folder: Path, *, by_hand: bool) -> None:
        self._material, self._group, self._folder = material, group, folder
        self._by_hand, self._noted = by_hand, 0
        self._found: list[Found] = []
        self._files: set[tuple[str, int, float]] = set()
        self._planned: dict[int, int] = {}

    def note(self, kills: int) -> None:
        """Note what the last kill found, if that wasn't done before."""
        if self._noted == kills:
            return
        self._noted = kills
        with suppress(KafkaException, WorkbookError, OSError):  # no restart depends on it
            if self._by_hand:
                self._found.append(self._look())
            else:
                self._list()

    def pictures(self, kills: Sequence[float], starts: Sequence[float]) -> list[Picture]:
        """Draw a tape for each kill of a run by hand; the timeline of a query on Spark."""
        if not self._by_hand:
            return [self.timeline(kills, starts)]
        traced = self._material.traced() if self._found else None
        return tapes(traced, self._found) if traced else []

    def timeline(self, kills: Sequence[float], starts: Sequence[float]) -> Picture:
        """Draw the files of the checkpoint over time."""
        self._list()
        return checkpoint(sorted(self._files), kills=kills, starts=starts, planned=self._planned)

    def _look(self) -> Found:
        committed, results = self._material.found(self._group)
        began = max((found.committed or 0 for found in self._found), default=0)
        return Found(began, read_in(self._folder) or began, committed, results)

    def _list(self) -> None:
        query = self._folder / "checkpoint" / "0"
        self._files.update(checkpoint_files(query))
        self._planned |= planned(query, self._material.source)


def tapes(traced: Traced, kills: Sequence[Found]) -> list[Picture]:
    """Return a tape for each kill."""
    of = [f"Kill {n} of {len(kills)}. " if len(kills) > 1 else "" for n in range(1, len(kills) + 1)]
    return [_picture(traced, found, head) for head, found in zip(of, kills, strict=True)]


def _picture(traced: Traced, found: Found, head: str) -> Picture:
    last = "nothing committed" if found.committed is None else "last commit"
    place = Place(f"{last}, so a restart begins here", found.committed or 0)
    spans = [*_spans(traced, found), Span(UNREAD, found.read, traced.end, Look.PLAIN)]
    caption = head + CAPTION.format(traced.thing)
    return tape({}, [place], end=traced.end, spans=spans, crash=found.read, caption=caption)


def _spans(traced: Traced, found: Found) -> list[Span]:
    """Return the runs of records whose fate the kill has decided, in their order."""
    read = sorted(n for n in traced.counted if found.began <= n < found.read)
    runs = [(fate, list(run)) for fate, run in groupby(read, lambda n: _fate(traced, found, n))]
    spans = []
    for fate in FATES:
        its = sorted((run for one, run in runs if one == fate), key=len, reverse=True)
        total = sum(map(len, its))
        for run in its[:SHOWN]:
            of = f" ({total:,} in all)" if len(its) > SHOWN else ""
            name = f"{number(len(run), traced.thing)} {fate[0]}{of}"
            spans.append(Span(name, run[0], run[-1] + 1, fate[1]))
    return sorted(spans, key=lambda span: span.first)


def _fate(traced: Traced, found: Found, offset: int) -> tuple[str, Look]:
    in_memory = traced.published.get(offset, found.results) >= found.results
    if offset >= (found.committed or 0):
        return KEPT if in_memory else AGAIN
    return LOST if in_memory else DONE

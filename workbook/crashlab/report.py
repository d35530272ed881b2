"""Reports what kills have cost: the verdict, the promise, the time to recover, and pictures.

A picture is the tape of a run by hand, or the checkpoint of a query on Spark.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path

from confluent_kafka import KafkaException

from workbook.crashlab.crashes.base import Traced, Variant, Verdict
from workbook.crashlab.lab_topics import LabTopics
from workbook.crashlab.points import read_in
from workbook.errors import WorkbookError
from workbook.spark.checkpoints import checkpoint_files, planned
from workbook.views.checkpoint import checkpoint
from workbook.views.picture import Picture, number
from workbook.views.strip import Look
from workbook.views.tape import Place, Span, tape

BY_HAND = "by hand"
KILL, RESTART = "the kill", "the start again"


@dataclass(frozen=True)
class Kill:
    """One kill -9: at a pass of a point (0 for one ``by hand``), and when (since 1970)."""

    point: str
    passes: int
    at: float


@dataclass(frozen=True)
class Outcome:
    """A run that was killed and started again, judged.

    ``recoveries`` are the seconds from ``since`` ("the kill" or "the start again") to the next
    record in the result topic; none for a kill behind which nothing came. ``pictures`` show what
    each kill found. ``warm``: the last restart took a Spark that was running.
    """

    system: str
    variant: Variant
    seed: int
    kills: tuple[Kill, ...]
    verdict: Verdict = field(repr=False)
    recoveries: tuple[float, ...] = ()
    since: str = KILL
    pictures: tuple[Picture, ...] = field(default=(), repr=False)
    warm: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of each anomaly."""
        return dict(self.verdict.counts)

    @property
    def kept(self) -> bool:
        """Return True if the variant kept its promise, or promises nothing."""
        return not any(self.counts[name] for name in self.variant.promises or ())

    def __str__(self) -> str:
        found = [line for picture in self.pictures for line in _words(picture)]
        lines = [self._headline(), "", *found, str(self.verdict), "", *self._sentences()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        sentences = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._sentences())
        drawn = "".join(picture._repr_html_() for picture in self.pictures)
        head = f"<p><b>{escape(self._headline())}</b></p>"
        return f"{head}{drawn}{self.verdict._repr_html_()}{sentences}"

    def _headline(self) -> str:
        # The mark is for the promise: duplicated events are no fault where only "lost" is promised.
        mark = ("✓" if self.kept else "✗") if self.variant.promises else "·"
        killed = "; ".join(map(self._killed, self.kills)) or "not killed"
        return f"{mark} {self.verdict.headline}: {self.system}, {self.variant.name}, {killed}"

    def _killed(self, kill: Kill) -> str:
        if kill.point == BY_HAND:
            return "killed by hand"
        says = self.variant.point(kill.point).says
        return f"killed at {kill.point} no. {kill.passes:,} ({says})"

    def _sentences(self) -> list[str]:
        if not self.kills:
            return [self._promised()]
        if not self.recoveries:
            return [self._promised(), "Nothing came after the kill."]
        times = ", ".join(f"{seconds:.1f} s" for seconds in self.recoveries)
        how = " (a warm Spark went on)" if self.warm else ""
        return [self._promised(), f"From {self.since} to the next record: {times}{how}."]

    def _promised(self) -> str:
        if self.variant.promises is None:
            return "Only you know what your own loop promises: the ledger shows what it kept."
        if self.variant.promises:
            kept = "✓ kept" if self.kept else "✗ broken"
            return f"Promised: nothing {' or '.join(self.variant.promises)}. {kept}"
        lucky = self.kills and not any(self.counts.values())
        return "This variant promises nothing" + (": all is right by luck." if lucky else ".")


def _words(picture: Picture) -> list[str]:
    return [f"{picture.caption}:", picture.words, ""]


def recoveries(since: Iterable[float], written: Sequence[float]) -> tuple[float, ...]:
    """Return the seconds from each moment to the next of the times at which records came."""
    after = ((moment, [at for at in written if at > moment]) for moment in since)
    return tuple(min(later) - moment for moment, later in after if later)


# --- pictures --------------------------------------------------------------------------------

CAPTION = (
    "kill -9 ends a program that counts the {}s among these records: what is lost, what read again?"
)
SHOWN = 2
"""The number of runs of a kind that are bracketed: the longest ones."""

LOST, KEPT, AGAIN, DONE = FATES = (
    ("counted, but not published: lost", Look.CROSSED),
    ("counted, but not published: read again", Look.HATCHED),
    ("counted and published: read again", Look.DOUBLE),
    ("counted and published: done", Look.PLAIN),
)
UNREAD = "not read yet"


@dataclass(frozen=True)
class Stopped:
    """Where a kill stopped a run by hand: offsets of partition 0 of its input.

    It ``began`` there, had been given all records before ``read``, and had ``committed`` this one,
    where the restart begins. ``results`` were in the result topic.
    """

    began: int
    read: int
    committed: int | None
    results: int


class KillPictures:
    """What kills found, noted before a restart changes it: ``folder`` is the lab's."""

    def __init__(self, topics: LabTopics, group: str, folder: Path, *, by_hand: bool) -> None:
        self._topics, self._group, self._folder = topics, group, folder
        self._by_hand, self._noted = by_hand, 0
        self._stops: list[Stopped] = []
        self._files: set[tuple[str, int, float]] = set()
        self._planned: dict[int, int] = {}

    def note(self, kills: int) -> None:
        """Note what the last kill found, if that wasn't done before."""
        if self._noted == kills:
            return
        self._noted = kills
        with suppress(KafkaException, WorkbookError, OSError):  # no restart depends on it
            if self._by_hand:
                self._stops.append(self._look())
            else:
                self._list()

    def pictures(self, kills: Sequence[float], starts: Sequence[float]) -> list[Picture]:
        """Draw a tape for each kill of a run by hand; the timeline of a query on Spark."""
        if not self._by_hand:
            return [self.timeline(kills, starts)]
        if not self._stops:
            return []
        traced = self._topics.crashes.traced(self._topics.filled, self._topics.outputs)
        return tapes(traced, self._stops) if traced else []

    def timeline(self, kills: Sequence[float], starts: Sequence[float]) -> Picture:
        """Draw the files of the checkpoint over time."""
        self._list()
        return checkpoint(sorted(self._files), kills=kills, starts=starts, planned=self._planned)

    def _look(self) -> Stopped:
        committed, results = self._topics.progress(self._group)
        began = max((stop.committed or 0 for stop in self._stops), default=0)
        return Stopped(began, read_in(self._folder) or began, committed, results)

    def _list(self) -> None:
        query = self._folder / "checkpoint" / "0"
        self._files.update(checkpoint_files(query))
        self._planned |= planned(query, self._topics.source)


def tapes(traced: Traced, kills: Sequence[Stopped]) -> list[Picture]:
    """Return a tape for each kill."""
    of = [f"Kill {n} of {len(kills)}. " if len(kills) > 1 else "" for n in range(1, len(kills) + 1)]
    return [_picture(traced, stop, head) for head, stop in zip(of, kills, strict=True)]


def _picture(traced: Traced, stop: Stopped, head: str) -> Picture:
    last = "nothing committed" if stop.committed is None else "last commit"
    place = Place(f"{last}, so a restart begins here", stop.committed or 0)
    spans = [*_spans(traced, stop), Span(UNREAD, stop.read, traced.end, Look.PLAIN)]
    caption = head + CAPTION.format(traced.thing)
    return tape([place], traced.end, spans=spans, crash=stop.read, caption=caption)


def _spans(traced: Traced, stop: Stopped) -> list[Span]:
    """Return the runs of records whose fate the kill has decided, in their order."""
    read = sorted(n for n in traced.counted if stop.began <= n < stop.read)
    runs = [(fate, list(run)) for fate, run in groupby(read, lambda n: _fate(traced, stop, n))]
    spans = []
    for fate in FATES:
        its = sorted((run for one, run in runs if one == fate), key=len, reverse=True)
        total = sum(map(len, its))
        for run in its[:SHOWN]:
            of = f" ({total:,} in all)" if len(its) > SHOWN else ""
            name = f"{number(len(run), traced.thing)} {fate[0]}{of}"
            spans.append(Span(name, run[0], run[-1] + 1, fate[1]))
    return sorted(spans, key=lambda span: span.first)


def _fate(traced: Traced, stop: Stopped, offset: int) -> tuple[str, Look]:
    in_memory = traced.published.get(offset, stop.results) >= stop.results
    if offset >= (stop.committed or 0):
        return KEPT if in_memory else AGAIN
    return LOST if in_memory else DONE

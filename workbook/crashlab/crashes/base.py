"""The declaration of how a system is crashed: its points, an input, and a judge."""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from workbook.errors import NoSuchCrash
from workbook.topics import Topic

if TYPE_CHECKING:
    import pandas as pd
    from confluent_kafka import Message

    from workbook.spark.runner import OnPoint
    from workbook.systems.base import Started


@dataclass(frozen=True)
class Point:
    """A point that a run passes, and what has just happened there or is about to.

    A kill comes at a pass that is drawn between ``first`` and ``last``, well within the run; on
    Spark these are micro-batches, of which there are about ten.
    """

    name: str
    says: str
    first: int = 2
    last: int = 8


AFTER_COMMIT = "after-commit"
"""Of every query on Spark: a micro-batch was committed; the crash lab watches the checkpoint."""

ON_SPARK = {
    "before-compute": "a micro-batch has been planned, nothing of it computed",
    "mid-batch": "a part of a micro-batch has been computed",
    "mid-write": "some records of a micro-batch have been written, others not",
    "before-database": "a micro-batch has been counted, and isn't written",
    "before-commit": "its counts are written, and the transaction isn't committed",
    "before-topic": "a micro-batch has been computed, and isn't in the topic",
    "before-store": "a micro-batch is in the topic, not in the store",
    "before-windows": "a micro-batch is in the store, not in its windows",
    "before-checkpoint": "a micro-batch has been written, but not committed",
    AFTER_COMMIT: "a micro-batch has been committed to the checkpoint",
}


def on_spark(*names: str, first: int = 2, last: int = 8) -> tuple[Point, ...]:
    """Return points of a query on Spark by their names."""
    return tuple(Point(name, ON_SPARK[name], first, last) for name in names)


@dataclass(frozen=True)
class OwnLoop:
    """A loop that somebody else wrote: ``run(reader, producer, source, target, until)``.

    ``settings`` are those of its consumer. The broker refuses the metric with the number
    ``refused`` (from 1; 0 for none) until the first kill.
    """

    run: Callable[[Any, Any, str, str, Callable[[], bool]], None]
    settings: Mapping[str, Any]
    refused: int = 0


@dataclass(frozen=True)
class ByHand:
    """A run without Spark: from where its group has committed up to the offset ``end``.

    ``pace`` are seconds of waiting per record. ``options`` name the topics, as for ``run``. Where
    ``own`` is given, it's what runs. ``on_read`` is called with the offset behind each record
    before the loop gets it.
    """

    variant: str
    config: dict[str, str]
    options: Namespace
    group: str
    end: int
    pace: float
    own: OwnLoop | None = None
    on_read: Callable[[int], None] = lambda offset: None


@dataclass(frozen=True)
class Variant:
    """A way to run a system: by hand, or, without ``by_hand``, as ``workbook run`` does.

    ``promises`` name the counts of a verdict that stay 0, whatever happens; None where nobody
    knows. ``forgets``: each start finds no checkpoint. ``words`` come behind those of its system.
    """

    name: str
    does: str
    points: tuple[Point, ...]
    promises: tuple[str, ...] | None = ()
    by_hand: Callable[[ByHand, OnPoint], None] | None = None
    forgets: bool = False
    words: tuple[str, ...] = ()

    def point(self, name: str) -> Point:
        """Return a point by its name; raise ``NoSuchCrash`` if it isn't passed."""
        return _named(name, self.points, f"The variant {self.name!r} does not pass {name!r}.")


@dataclass(frozen=True)
class Filled:
    """An input: the number of ``records`` that wait, and the ledger's facts about them."""

    records: int
    expected: pd.DataFrame


@dataclass(frozen=True)
class Traced:
    """The fate of each record of the input's partition 0, up to the partition's ``end``.

    ``counted`` are the offsets of the records that must be counted; ``published`` maps such an
    offset to that of the first result that counts it. ``thing`` names one of them ("page view").
    """

    thing: str
    end: int
    counted: frozenset[int]
    published: Mapping[int, int]


@dataclass(frozen=True)
class Outputs:
    """Where a run reads and writes: the client's settings, the run's options, its checkpoint."""

    config: dict[str, Any]
    options: Namespace
    checkpoint: Path

    def dead_letters(self) -> pd.DataFrame:
        """Return the last dead letter of each rejected record: a kill may send one again."""
        from workbook.kafka.readers import read_dead_letters

        letters = read_dead_letters(self.config, self.options.dead_letters)
        return letters.drop_duplicates(["topic", "partition", "offset"], keep="last")

    def results(self) -> list[Message]:
        """Return the records of the result topic."""
        from workbook.kafka.readers import read_messages

        return read_messages(self.config, self.options.out)


class Verdict(Protocol):
    """The judgement of a run: the number of each anomaly, and its rows as text and HTML."""

    @property
    def counts(self) -> Mapping[str, int]: ...
    @property
    def headline(self) -> str: ...
    def _repr_html_(self) -> str: ...


LETTERS = "dead letters lost or wrong"


def letters(rows: pd.DataFrame) -> frozenset[Any]:
    """Return topic, partition, offset and reason of each rejected record among rows."""
    rejected = rows.dropna(subset="reason")[["topic", "partition", "offset", "reason"]]
    return frozenset(rejected.itertuples(index=False, name=None))


@dataclass(frozen=True)
class Judged:
    """The verdicts of ledgers by what they judge, and the number of rows that are ``wrong``.

    ``letters`` are the records found in the dead letters, where ``rejected`` ones are expected.
    """

    wrong: Mapping[str, int]
    ledgers: Mapping[str, Any]
    rejected: frozenset[Any]
    letters: frozenset[Any]

    @property
    def counts(self) -> dict[str, int]:
        """Return the number of each anomaly."""
        return {**self.wrong, LETTERS: len(self.rejected ^ self.letters)}

    @property
    def headline(self) -> str:
        """Return what is wrong, in words."""
        return ", ".join(f"{n:,} {name}" for name, n in self.counts.items() if n) or "nothing wrong"

    def __str__(self) -> str:
        lines = [f"Its {name}: {ledger}" for name, ledger in self.ledgers.items()]
        right, all_ = len(self.letters & self.rejected), len(self.rejected)
        told = (
            f"Dead letters: {right} of {all_} rejected records, {len(self.letters) - right} others."
        )
        return "\n".join([*lines, told])

    def _repr_html_(self) -> str:
        return "".join(ledger._repr_html_() for ledger in self.ledgers.values())


class Crashes(ABC):
    """The crashes of a system, which is run with these ``words`` and with those of ``out``."""

    variants: ClassVar[tuple[Variant, ...]]
    """The first one is taken where none is named."""

    own: ClassVar[Variant | None] = None
    """Runs a loop that somebody else wrote; None where the system can't."""

    words: ClassVar[tuple[str, ...]] = ()
    partitions: ClassVar[int] = 1
    """The partitions of the topic that it reads."""

    def variant(self, name: str | None) -> Variant:
        """Return a variant by its name, or the first; raise ``NoSuchCrash`` if there is none."""
        if name is None:
            return self.variants[0]
        return _named(name, self.variants, f"There is no variant {name!r}.")

    def beside(self, source: str) -> dict[str, Topic]:
        """Return further topics that it reads, each by the option that names it."""
        return {}

    @abstractmethod
    def out(self, name: str, folder: Path) -> tuple[str, ...]:
        """Return the words that say where results go: a topic of this name, a file, a database.

        ``folder`` is the lab's and outlives a kill; the checkpoint is in there.
        """

    @abstractmethod
    def written(self, outputs: Outputs) -> list[float]:
        """Return when each result was written (seconds since 1970)."""

    @abstractmethod
    def fill(self, config: dict[str, Any], topic: str, seed: int, *, clean: bool = False) -> Filled:
        """Send the input, which the seed draws; a ``clean`` one has no bad records."""

    def prepare(self, variant: Variant, filled: Filled, outputs: Outputs) -> None:  # noqa: B027
        """Leave what a run of the variant finds, besides its input."""

    def finish(self, started: Started, records: int) -> None:
        """Wait until a query has processed the input; raise as ``Running.check``."""
        started.running.process_all()

    @abstractmethod
    def judge(self, filled: Filled, outputs: Outputs) -> Verdict:
        """Compare the results with the expected ones."""

    def delete(self, options: Namespace) -> None:  # noqa: B027
        """Remove the results of a run that aren't in a topic or in the lab's folder."""

    def traced(self, filled: Filled, outputs: Outputs) -> Traced | None:
        """Follow each record to its result, where a run by hand can be drawn; else None."""
        return None


class TopicCrashes(Crashes):
    """The crashes of a system that writes its results to a topic, named by ``--out``."""

    def out(self, name: str, folder: Path) -> tuple[str, ...]:
        return ("--out", name)

    def written(self, outputs: Outputs) -> list[float]:
        return [record.timestamp()[1] / 1000 for record in outputs.results()]


def _named(name: str, among: tuple[Any, ...], otherwise: str) -> Any:
    for each in among:
        if each.name == name:
            return each
    raise NoSuchCrash(f"{otherwise} Choose one of: {', '.join(each.name for each in among)}.")

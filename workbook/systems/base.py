"""What makes a pipeline runnable: a declaration per system, which every command goes over.

A declaration imports neither Spark nor Kafka's client: help is quick.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from workbook.systems.options import add_run_options
from workbook.topics import Topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from workbook.kafka.stream_producer import Stream
    from workbook.spark.queries import QueryGroup
    from workbook.spark.source import Kafka
    from workbook.systems.crashes.base import Crashes
    from workbook.systems.progress import Progress


class OnPoint:
    """Called with each point that a micro-batch passes; it may end the query by raising.

    This one does nothing. The crash lab's kills the process.
    """

    def __call__(self, point: str) -> None:
        """Pass a point of the driver."""

    def within(self, point: str, rows: DataFrame) -> DataFrame:
        """Pass rows through a point that lies inside the tasks of a micro-batch."""
        return rows


@dataclass(frozen=True)
class StreamOption:
    """An option of `workbook generate` for one of a stream's parameters.

    ``name`` is the parameter's; ``says`` has the meaning and the default.
    """

    name: str
    takes: Callable[[str], Any]
    shown_as: str
    says: str


@dataclass(frozen=True)
class GeneratedStream:
    """A stream of events that `workbook generate` sends; ``make`` takes its options by name."""

    name: str
    does: str
    example: str
    make: Callable[..., Stream]
    options: tuple[StreamOption, ...]
    compacted: bool = False


def share(name: str, says: str) -> StreamOption:
    """Return an option that is a share of all, from 0 to 1."""
    return StreamOption(f"{name}_share", float, "0..1", says)


@dataclass(frozen=True)
class Shown:
    """A table for the terminal: its columns, and rows in the order in which they are shown.

    There are ``more`` rows below these. ``notes`` are sentences about some of them.
    """

    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    more: int = 0
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Started:
    """A running system: its queries, their progress, and a table to show meanwhile.

    ``summary`` says at the end what came out. ``store`` is the file in which its table can be
    asked for. With ``full_screen`` the table takes the whole terminal.
    """

    queries: QueryGroup
    progress: Progress
    shown: Callable[[], Shown]
    summary: Callable[[], list[str]]
    store: Path | None = None
    full_screen: bool = False


class System(ABC):
    """A pipeline that `workbook run` knows: how it's checked, started and shown."""

    name: ClassVar[str]
    does: ClassVar[str]
    """In a few words, for the list of systems."""

    reads: ClassVar[str]
    """The topic that it reads where none is named."""

    examples: ClassVar[tuple[str, ...]]
    streams: ClassVar[tuple[GeneratedStream, ...]] = ()
    """What it reads, generated; none where the broker itself writes it."""

    rejects: ClassVar[bool] = True
    """Whether it sends what it can't read to dead letters."""

    crashes: ClassVar[Crashes | None] = None
    """Where it can be killed, and how it's judged after that; None where it can't be."""

    def options(self, words: Sequence[str]) -> Namespace:
        """Parse the words behind ``workbook run NAME``."""
        parser = ArgumentParser(prog=self.name)
        add_run_options(parser, self.reads, rejects=self.rejects)
        self.add_options(parser)
        return fill_in(parser.parse_args(words))

    @abstractmethod
    def add_options(self, parser: ArgumentParser) -> None:
        """Add the options that only this system has."""

    def begins(self, options: Namespace) -> str:
        """Say where it begins without a checkpoint."""
        return "It starts with the first record"

    def sources(self, options: Namespace) -> list[str]:
        """Return the topics that it reads."""
        return [options.source]

    def check(self, options: Namespace) -> None:  # noqa: B027 (a system may have nothing to refuse)
        """Refuse options that make no sense, before anything is started."""

    def check_topics(self, broker: Kafka, options: Namespace) -> None:  # noqa: B027
        """Refuse topics that don't fit, before one is made and before Spark starts."""

    @abstractmethod
    def made_for(self, options: Namespace) -> Mapping[str, Any]:
        """Return what the checkpoint must remember of the options; a query adds more."""

    @abstractmethod
    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        """Return the topics that it writes; ``partitions`` are those of the topic it reads."""

    @abstractmethod
    def start(
        self,
        spark: SparkSession,
        broker: Kafka,
        options: Namespace,
        checkpoint: Path,
        on_point: OnPoint,
    ) -> Started:
        """Start the queries; ``options`` are filled in."""


def fill_in(options: Namespace) -> Namespace:
    """Name the dead letters where they were not; some systems have none."""
    if "dead_letters" in options:
        options.dead_letters = options.dead_letters or Topic(options.source).dead_letters.name
    return options


def letters_of(options: Namespace) -> list[Topic]:
    """Return the topic of dead letters, if the system has one."""
    return [Topic(options.dead_letters)] if "dead_letters" in options else []

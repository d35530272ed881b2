"""What makes a pipeline runnable: a declaration per system, which every command goes over.

A declaration imports neither Spark nor Kafka's client: help is quick.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar

from workbook.spark import checkpoints
from workbook.systems.options import DEAD_LETTERS, MAX_PER_BATCH, RUN_OPTIONS, Option, topic, whole
from workbook.systems.preflight import require_empty, require_store, require_tombstones
from workbook.topics import Topic, compacted

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import DataFrame, SparkSession

    from workbook.kafka.broker import Broker
    from workbook.kafka.dead_letters import DeadLetters
    from workbook.spark.runner import Again, ExecutorSink, OnPoint, Running, Sink
    from workbook.streams.generators.streams import PacedStream


Read = Callable[..., "DataFrame"]
"""``kafka_stream`` with this run's session, broker and limit: it takes the topics."""

_SLOWER = (
    "Partition {1} of {0} has a record at offset {2} whose own timestamp is {3}: no time in ms "
    "that Spark's Kafka source can read. This run continues with the package's own source, which "
    "is slower, and loses nothing; the next start tries Spark's again."
)

GENERATORS = "workbook.streams.generators"


@dataclass(frozen=True)
class GeneratedStream:
    """A stream of events that `workbook generate` sends.

    ``maker`` takes its options by name: ``module:name`` among the generators. With ``registers``
    that module's ``prepare`` first registers the schemas.
    """

    name: str
    does: str
    example: str
    maker: str
    options: tuple[Option, ...]
    compacted: bool = False
    registers: bool = False

    def make(self, **options: Any) -> PacedStream:
        """Return the stream that the options describe."""
        made: PacedStream = resolve_name(f"{GENERATORS}.{self.maker}")(**options)
        return made

    def prepare(self, topic: str, registry: str) -> dict[str, Any]:
        """Register the schemas, given a registry's URL; return further arguments for ``make``."""
        module = self.maker.partition(":")[0]
        more: dict[str, Any] = resolve_name(f"{GENERATORS}.{module}:prepare")(topic, registry)
        return more


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
class Job:
    """A run of a system: on which Spark and broker, with which options, and its checkpoint.

    The options are filled in. ``at`` is called at the points of ``start_query``: the crash lab
    kills there.
    """

    spark: SparkSession
    broker: Broker
    options: Namespace
    checkpoint: Path
    at: OnPoint

    @property
    def config(self) -> dict[str, str]:
        """Return the settings of Kafka's client."""
        return self.broker.client_config()

    def letters(self) -> DeadLetters:
        """Return the dead letters of the run."""
        from workbook.kafka.dead_letters import DeadLetters

        return DeadLetters(self.config, self.options.dead_letters, counts=self._rejected)

    @cached_property
    def _rejected(self) -> Accumulator[Counter[str]]:
        from workbook.spark.letters import letters_by_reason

        return letters_by_reason(self.spark.sparkContext)

    def query(
        self,
        rows: Callable[[Read], DataFrame],
        sinks: Sequence[Sink | ExecutorSink],
        every_s: float = 0,
        **more: Any,
    ) -> Running:
        """Start a query; ``every_s`` is the least time between micro-batches without --every."""
        from workbook.spark.runner import start_query

        every = f"{self.options.every or every_s} seconds"
        more["rejected"] = lambda: self._rejected.value
        made, more["again"] = self.reading(rows)
        return start_query(made, sinks, self.checkpoint, every=every, at=self.at, **more)

    def reading(self, rows: Callable[[Read], DataFrame]) -> tuple[DataFrame, Again]:
        """Return the rows that a query begins with, and how it continues after a failure.

        ``rows`` gets this run's ``kafka_stream``. It's called again if there's a new schema, and,
        to read by the package's own source, if Spark's can't read a record timestamp.
        """
        from workbook.sources.kafka import BEYOND, kafka_stream

        most = self.options.max_per_batch
        read = partial(kafka_stream, self.spark, self.broker, max_per_batch=most)

        def again(failure: str) -> DataFrame | None:
            nonlocal read
            found = None if "began" in read.keywords else BEYOND.search(failure)
            if found:
                read = partial(read, began=checkpoints.began(self.checkpoint / "0"))
                print(_SLOWER.format(*found.groups()), file=sys.stderr, flush=True)
            return rows(read) if found or "NewSchema" in failure else None

        return rows(read), again


@dataclass(frozen=True)
class Started:
    """A running system: its query with its ``sinks``, and a table to show meanwhile.

    ``summary`` names the results at the end, once ``settle`` has waited a few seconds at most for
    what is yet to be known. ``store`` is the file in which its table can be asked for.
    """

    running: Running
    sinks: Sequence[Sink | ExecutorSink]
    shown: Callable[[], Shown]
    summary: Callable[[], list[str]]
    store: Path | None = None
    settle: Callable[[], None] = lambda: None


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

    most: ClassVar[int] = MAX_PER_BATCH
    """The records of a micro-batch, at most, where no other number is asked for."""

    rejects: ClassVar[bool] = True
    """Whether it sends what it can't read to dead letters."""

    rereads: ClassVar[bool] = False
    """Whether a start reads what former runs have written to its topics."""

    own: ClassVar[tuple[Option, ...]]
    """The options that only this system has."""

    def fill(self, parser: ArgumentParser) -> ArgumentParser:
        """Add all options of ``workbook run NAME``, the common ones and its own."""
        Option("--in", topic, "the topic to read", default=self.reads).add_to(parser, dest="source")
        most = Option(
            "--max-per-batch", whole, "the most records per micro-batch", default=self.most
        )
        for option in (*([DEAD_LETTERS] if self.rejects else []), most, *RUN_OPTIONS, *self.own):
            option.add_to(parser)
        return parser

    def options(self, words: Sequence[str]) -> Namespace:
        """Parse the words behind ``workbook run NAME``."""
        return fill_in(self.fill(ArgumentParser(prog=self.name)).parse_args(words))

    def begins(self, options: Namespace) -> str:
        """Say where it begins without a checkpoint."""
        return "It starts with the first record"

    def sources(self, options: Namespace) -> list[str]:
        """Return the topics that it reads."""
        return [options.source]

    def check(self, options: Namespace) -> None:  # noqa: B027 (a system may have nothing to refuse)
        """Refuse options that make no sense, before anything is started."""

    def check_topics(self, broker: Broker, options: Namespace) -> None:  # noqa: B027
        """Refuse topics that don't fit, before one is made and before Spark starts."""

    def check_servers(self, options: Namespace) -> None:  # noqa: B027
        """Refuse a registry or a database that doesn't let us work, before Spark starts."""

    @property
    def version(self) -> int:
        """Return the ``VERSION`` of its pipeline, which bears its name."""
        return int(import_module(f"workbook.pipelines.{self.name}").VERSION)

    def remembers(self, options: Namespace) -> Mapping[str, Any]:
        """Return the options that change the result: a checkpoint is made for one value of each."""
        return {}

    def results(self, options: Namespace, partitions: int) -> list[Topic]:
        """Return the topics that it writes; ``partitions`` are those of the topic it reads."""
        return [compacted(options.out, partitions)] if options.out else []

    @abstractmethod
    def start(self, job: Job) -> Started:
        """Start the query of a run."""


class TableSystem(System):
    """A system that keeps a table in a ``--store``, and may write it to a compacted topic."""

    def check(self, options: Namespace) -> None:
        """Refuse a store that can't be one."""
        if options.store:
            require_store(Path(options.store))

    def check_topics(self, broker: Broker, options: Namespace) -> None:
        """Refuse a checkpoint or a result topic that would make more or less than the table."""
        from workbook.kafka.require import require_compacted

        config = broker.client_config()
        require_tombstones(config, options.source, options.checkpoint)
        if options.out:
            require_compacted(config, options.out)
            why = "rows that were deleted since would stay in that topic"
            require_empty(config, options.out, options.checkpoint, why)


def fill_in(options: Namespace) -> Namespace:
    """Name the dead letters where they were not; some systems have none."""
    if "dead_letters" in options:
        options.dead_letters = options.dead_letters or Topic(options.source).dead_letters.name
    return options


def letters_of(options: Namespace) -> list[Topic]:
    """Return the topic of dead letters, if the system has one."""
    return [Topic(options.dead_letters)] if "dead_letters" in options else []


def utc(time_ms: int) -> str:
    """Format a time as ``2026-01-01 00:00:05 UTC``."""
    if not time_ms:
        return "no second yet"
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"

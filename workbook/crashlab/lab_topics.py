"""The topics of a crash lab: the input that waits, and the results."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from confluent_kafka import KafkaException

from workbook.crashlab.crashes import CRASHES
from workbook.crashlab.crashes.base import Crashes, Outputs, Variant
from workbook.errors import NoSuchCrash
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import PartitionOffsets, committed_offset, partition_offsets
from workbook.spark.checkpoints import last_read
from workbook.systems import STREAMS, SYSTEMS
from workbook.systems.base import letters_of
from workbook.topics import new_compacted_topic, new_topic


def crashes_of(system: str) -> Crashes:
    """Return how a system is crashed; raise ``NoSuchCrash`` for one that can't be."""
    if system not in CRASHES:
        known = ", ".join(CRASHES)
        raise NoSuchCrash(f"There is no system {system!r}. Choose one of: {known}.")
    return CRASHES[system]


def variant_of(system: str, asked: object) -> Variant:
    """Return a variant by its name, or how a loop of somebody's own is run; else as above."""
    crashes = crashes_of(system)
    if not callable(asked):
        return crashes.variant(None if asked is None else str(asked))
    if crashes.own is None:
        raise NoSuchCrash(f"{system!r} runs no loop of your own. Choose page_views, or a variant.")
    return crashes.own


class LabTopics:
    """New topics for a system, with its input in them.

    ``words`` are the options with which ``workbook run`` would read and write them. ``folder`` is
    the lab's, with the checkpoint in it. A ``clean`` input has no bad records.

    ``crashes`` prepares and judges a run of what was ``filled``, by its ``outputs``.
    """

    def __init__(
        self, broker: Broker, system: str, seed: int, folder: Path, *, clean: bool = False
    ) -> None:
        self._broker, self.crashes, declared = broker, crashes_of(system), SYSTEMS[system]
        self._config = broker.client_config()
        stream = STREAMS.get(declared.reads)
        make = new_compacted_topic if stream and stream.compacted else new_topic
        name = stream.name if stream else system
        source = make(name, "crash", self.crashes.partitions)
        out = self.crashes.out(f"{source.name}.results", folder)
        more = self.crashes.beside(source.name)
        named = [word for option, topic in more.items() for word in (option, topic.name)]
        self.words = ("--in", source.name, *out, *named, *self.crashes.words)
        self._options = declared.options(self.words)
        self.source = self._options.source  # the same, or a topic that the broker keeps
        results = declared.results(self._options, source.partitions)
        topics = [source, *more.values(), *letters_of(self._options), *results]
        broker.create(*topics)
        self.outputs = Outputs(self._config, self._options, folder / "checkpoint")
        self._topics = [topic.name for topic in topics]
        self.filled = self.crashes.fill(self._config, source.name, seed, clean=clean)

    def offsets(self, group: str) -> PartitionOffsets:
        """Return how far partition 0 of the input goes, and the group has committed."""
        return partition_offsets(self._config, self.source, group)[0]

    def offsets_in(self, checkpoint: Path) -> PartitionOffsets:
        """Return the same, committed as a query's folder in a checkpoint says."""
        found, read = self.offsets("workbook-offsets"), last_read(checkpoint, self.source)
        committed = read[0][0] if read else None
        lag = found.end - (found.begin if committed is None else committed)
        return replace(found, committed=committed, lag=lag)

    def progress(self, group: str) -> tuple[int | None, int]:
        """Return a loop's committed offset of partition 0, and the end of its result topic."""
        committed = committed_offset(self._config, self.source, group)
        return committed, partition_offsets(self._config, self._options.out)[0].end

    def delete(self) -> None:
        """Remove the results, and the topics from our own broker; harmless when they are gone."""
        self.crashes.delete(self._options)
        if self._broker.ours:
            with suppress(KafkaException):
                self._broker.delete(self._topics)

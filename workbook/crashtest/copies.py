"""The frozen input: records of a topic, copied as often as needed into the lab's own broker."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, cast

from confluent_kafka import KafkaException, Producer

from workbook.errors import CrashFailed
from workbook.explore.plan import Plan
from workbook.kafka.broker import Broker
from workbook.kafka.offsets import COMMITTED
from workbook.kafka.producer import SETTINGS
from workbook.kafka.readers import records
from workbook.topics import FOREVER, Topic

ANY = {
    **FOREVER,  # records keep their timestamps, however old or far ahead
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "max.message.bytes": "20000000",
}
WITHIN_S = 60.0


class Record(NamedTuple):
    """A record as it is copied: ``timestamp`` in ms, 0 for the time of its sending.

    ``source`` counts the topics of the input from 0.
    """

    partition: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Sequence[tuple[str, Any]] = ()
    source: int = 0


def read_input(config: Mapping[str, Any], plans: Sequence[Plan]) -> list[Record]:
    """Read what is planned, in one order: by timestamp, and by offset within a partition.

    Records of open and aborted transactions are left out. Raises as ``kafka.readers.records``.
    """
    newest: dict[tuple[int, int], int] = {}
    placed = []
    for source, plan in enumerate(plans):
        for message in records({**config, **COMMITTED}, plan.topic, plan.ranges):
            number, at = message.partition() or 0, message.timestamp()[1]
            place = (source, number)
            newest[place] = max(newest.get(place, 0), at)
            headers = list(cast(list[Any], message.headers() or ()))
            record = Record(number, at, message.key(), message.value(), headers, source)
            placed.append(((newest[place], *place, message.offset() or 0), record))
    placed.sort(key=lambda each: each[0])
    return [record for *_, record in placed]


class Copy:
    """A topic of the lab's broker that takes any record, empty at first."""

    def __init__(self, broker: Broker, name: str, partitions: int) -> None:
        self._name = name
        broker.create(Topic(name, partitions, ANY))
        limit = {"message.max.bytes": 20_000_000}
        self._producer = Producer({**SETTINGS, **broker.client_config(), **limit})

    def send(self, chosen: Iterable[Record]) -> None:
        """Send records to their partitions; raise ``CrashFailed`` if the broker refuses one."""
        refused: list[Any] = []

        def report(error: Any, _: Any) -> None:
            if error:
                refused.append(error)

        for number, at, key, value, headers, _ in chosen:
            how: dict[str, Any] = {"headers": list(headers), "on_delivery": report}
            while True:
                try:
                    where = (self._name, value, key, number)
                    self._producer.produce(*where, timestamp=max(at, 0), **how)
                    break
                except BufferError:
                    self._producer.poll(0.1)
                except KafkaException as error:  # it's larger than the topic takes
                    refused.append(error.args[0])
                    break
            self._producer.poll(0)
        try:
            left = self._producer.flush(WITHIN_S)
        except SystemError:  # the client's answer to Ctrl-C while it waits
            raise KeyboardInterrupt from None
        if left or refused:
            why = refused[0].str() if refused else f"it didn't answer within {WITHIN_S:.0f} s"
            raise CrashFailed(f"The lab's broker did not take the copy of the input: {why}.")


def slices(chosen: Sequence[Record], number: int) -> list[Sequence[Record]]:
    """Cut the input into parts of the same length, in its order."""
    cuts = [round(len(chosen) * each / number) for each in range(number + 1)]
    return [chosen[begin:end] for begin, end in pairwise(cuts)]

"""Sends and reads single records of streams: clicks, replicated actions, merged visits."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from hashlib import sha1
from json import JSONDecodeError
from typing import Any

from workbook.kafka.producer import DeliveringProducer, Landed
from workbook.kafka.readers import read_dead_letters, read_messages
from workbook.kafka.require import ANSWER_S, require_topic
from workbook.streams.events.ad_actions import ARRIVAL
from workbook.streams.events.clicks import Click
from workbook.streams.events.reasons import Reason
from workbook.streams.events.visits import Merged

Placed = tuple[int, Merged]
"""A partition, and a merged visit that is in it, or that came from it."""


class ClickProducer(DeliveringProducer):
    """Sends the shop's single clicks, each delivered before ``send`` returns.

    Raises TopicMissing, and BrokerUnreachable within ten seconds.
    """

    def __init__(self, config: Mapping[str, Any], topic: str) -> None:
        require_topic(config, topic)
        super().__init__(config, topic, {"linger.ms": 0}, patience=ANSWER_S)

    def send(self, click: Click) -> Landed:
        """Send one click, keyed by its tab id; return where it landed. Raises as ``send_now``."""
        key = click.tab_id.encode() if click.tab_id is not None else None
        return self.send_now(click.to_json(), key)


def send_replicated(
    config: Mapping[str, Any], topic: str, records: Iterable[tuple[bytes | None, int]]
) -> None:
    """Send values with their arrivals (ms) as ``pipelines.replicate`` does, without Spark.

    All are delivered on return. Raises BrokerUnreachable.
    """
    with DeliveringProducer(config, topic, {"linger.ms": 20, "compression.type": "lz4"}) as sender:
        for value, arrival in records:
            key = None if value is None else sha1(value).digest()
            sender.produce(value, key, headers={ARRIVAL: str(arrival)})
            sender.poll()


def read_merged(config: dict[str, str], topic: str) -> list[Placed]:
    """Read every merged visit of a topic, each with its partition; raise as ``read_messages``.

    Records of somebody else are skipped. Raises ValueError for a visit with a wrong timestamp
    (``Merged.from_json``).
    """
    found = []
    for message in read_messages(config, topic):
        with suppress(JSONDecodeError, UnicodeDecodeError, KeyError, TypeError):
            visit = Merged.from_json(message.value() or b"")
            found.append((int(message.partition() or 0), visit))
    return found


def read_no_visits(config: dict[str, str], dead_letters: str) -> list[Placed]:
    """Read the orders whose visit never came, each with the partition that it came from."""
    letters = read_dead_letters(config, dead_letters)
    lone = letters[letters["reason"] == str(Reason.NO_VISIT)]
    return [
        (int(partition), Merged.from_json(value))
        for partition, value in zip(lone["partition"], lone["value"], strict=True)
    ]

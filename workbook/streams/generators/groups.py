"""Groups that really commit: a random workload whose outcome is known."""

import random
import time
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.require import patiently

ANSWER_S = 60.0

KINDS = ("assigned", "classic", "consumer", "transactions", "deleted")
"""How a group commits: without members, in either protocol, by a producer; or it's deleted."""


@dataclass
class GroupWorkload:
    """``groups`` of all ``KINDS`` that commit ``rounds`` times in a topic of ``partitions``.

    The seed draws the kind of each group, what it commits, and when. Some of the producers'
    transactions are aborted. All groups begin with the topic's name; nobody of them is left as a
    member.
    """

    config: Mapping[str, Any]
    topic: str
    partitions: int
    seed: int = 1
    groups: int = 70
    rounds: int = 6
    _committed: dict[tuple[str, int], int] = field(default_factory=dict)

    def run(self) -> pd.DataFrame:
        """Carry it out; return what holds then.

        Columns: group, topic, partition, offset (the next to read), described (whether it had
        members, so that the broker keeps a description of it).
        """
        draw = random.Random(self.seed)
        with DeliveringProducer(dict(self.config), self.topic) as producer:
            for number in range(20 * self.partitions):
                producer.produce(b"x", None, number % self.partitions)
        names = [f"{self.topic}.{number:03}" for number in range(self.groups)]
        kinds = {name: KINDS[at % len(KINDS)] for at, name in enumerate(names)}
        with ExitStack() as stack:
            clients = {name: self._client(stack, name, kinds[name]) for name in names}
            for _ in range(self.rounds):
                for name in draw.sample(names, len(names)):
                    self._commit(draw, name, kinds[name], clients[name])
        self._delete([name for name in names if kinds[name] == "deleted"])
        return pd.DataFrame(
            [
                (name, self.topic, partition, offset, kinds[name] in ("classic", "consumer"))
                for (name, partition), offset in sorted(self._committed.items())
            ],
            columns=["group", "topic", "partition", "offset", "described"],
        )

    def _client(self, stack: ExitStack, name: str, kind: str) -> Any:
        quiet = {**self.config, "log_level": 0}
        if kind == "transactions":
            producer = Producer({**quiet, "transactional.id": name})
            producer.init_transactions(ANSWER_S)
            return producer
        protocol = "consumer" if kind == "consumer" else "classic"
        settings = {"group.id": name, "group.protocol": protocol, "enable.auto.commit": False}
        consumer = stack.enter_context(closing(Consumer({**quiet, **settings})))
        if kind in ("classic", "consumer", "deleted"):
            consumer.subscribe([self.topic])
            self._wait_for_partitions(consumer)
        return consumer

    def _wait_for_partitions(self, consumer: Consumer) -> None:
        deadline = time.monotonic() + ANSWER_S
        while len(consumer.assignment()) < self.partitions:
            consumer.poll(0.05)
            if time.monotonic() > deadline:
                raise TimeoutError(f"no member of its group after {ANSWER_S:.0f} s")

    def _commit(self, draw: random.Random, name: str, kind: str, client: Any) -> None:
        chosen = draw.sample(range(self.partitions), draw.randint(1, self.partitions))
        known = {partition: self._committed.get((name, partition), 0) for partition in chosen}
        places = [TopicPartition(self.topic, n, at + draw.randint(1, 9)) for n, at in known.items()]
        if kind == "transactions":
            if not self._in_transaction(client, name, places, aborts=draw.random() < 0.3):
                return
        else:
            # A coordinator that is just loading answers a moment later.
            patiently(
                lambda: client.commit(offsets=places, asynchronous=False),
                lambda failure: ANSWER_S if failure.args[0].retriable() else 0,
            )
        self._committed |= {(name, place.partition): place.offset for place in places}

    def _in_transaction(
        self, producer: Producer, name: str, places: list[TopicPartition], *, aborts: bool
    ) -> bool:
        """Commit offsets in a transaction, as somebody does who is no member."""
        settings = {**self.config, "group.id": name, "log_level": 0}
        with closing(Consumer(settings)) as consumer:
            producer.begin_transaction()
            metadata = consumer.consumer_group_metadata()
            producer.send_offsets_to_transaction(places, metadata, ANSWER_S)
        if aborts:
            producer.abort_transaction(ANSWER_S)
        else:
            producer.commit_transaction(ANSWER_S)
        return not aborts

    def _delete(self, names: list[str]) -> None:
        admin = AdminClient({**self.config, "log_level": 0})
        for deleted in admin.delete_consumer_groups(names).values():
            deleted.result(ANSWER_S)
        for key in [key for key in self._committed if key[0] in names]:
            del self._committed[key]

"""Ad actions counted once: `run ad_statistics` into PostgreSQL, and Kafka Streams into a topic.

One long-lived topic of 8 partitions, as `run replicate` writes it: keys by SHA-1, the arrival in a
header; two versions of the schema, 1.8 % duplicates, 20,000 ads. Kafka Streams rejects, filters,
deduplicates and counts the same, without registry, database and sketches of viewers. Ours is also
measured with `--viewers`.
"""

import secrets
import time
from collections import Counter
from functools import partial
from typing import Any

import psycopg
from harness import SPARK, Answer, Check, Comparison, Program, floor
from peers import kafka_streams
from peers.kafka_streams import TUNED, Peer

from workbook.kafka.broker import Broker
from workbook.kafka.offsets import partition_offsets
from workbook.kafka.readers import latest_rows, read_messages
from workbook.sinks.counts_table import KEY
from workbook.stack.addresses import database, registry
from workbook.streams.events.ad_actions import Fate
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.generators.viewers import ViewerStream
from workbook.streams.stream_producer import generate, send_replicated
from workbook.topics import Topic, compacted, new_topic

FULL, PARTITIONS, BLOCK = 5_000_000, 8, 100_000
REPORT_MS = 5_000
"""Between two reports of the peer's totals; its commit interval, too."""


class Expected:
    """What the ledger predicts: totals by ad, day, type and source, and records by fate."""

    def __init__(self) -> None:
        self.counts, self.fates = Counter[tuple[Any, ...]](), Counter[str]()

    @property
    def letters(self) -> int:
        return self.fates[Fate.REJECTED] + self.fates[Fate.TOO_OLD]


def filled(broker: Broker, stream: AdActionStream, actions: int) -> tuple[Topic, Expected]:
    """Write the topic, and count what it holds by the ledger."""
    topic, right = new_topic("ad_actions.long-lived", "bench", PARTITIONS), Expected()
    broker.create(topic)
    for first in range(0, actions, BLOCK):
        span = first, min(first + BLOCK, actions)
        block, facts = stream.block(*span), stream.expected(*span)
        values = zip(block["value"].to_pylist(), block["arrival"].to_pylist(), strict=True)
        send_replicated(broker.client_config(), topic.name, values)
        accepted = facts[facts.fate == Fate.ACCEPTED.value]
        right.counts.update(accepted.groupby(list(KEY)).size().to_dict())
        right.fates.update(facts.fate.value_counts().to_dict())
    return topic, right


def held(broker: Broker, topic: str) -> int:
    return sum(p.end - p.begin for p in partition_offsets(broker.client_config(), topic))


def compare(schema: str, right: Expected) -> None:
    """Compare the tables with what the ledger predicts."""
    with psycopg.connect(database("bench")) as asked:
        totals = asked.execute(f"SELECT {', '.join(KEY)}, count FROM {schema}.counts").fetchall()
        fates = asked.execute(
            f"SELECT fate, sum(count)::bigint FROM {schema}.fates "
            "WHERE pipeline = 'ad_statistics' GROUP BY fate"
        ).fetchall()
    assert {tuple(key): count for *key, count in totals} == right.counts
    assert {fate: count for fate, count in fates if count} == right.fates


def comparison(broker: Broker, actions: int, peers: bool) -> Comparison:
    config, ids = broker.client_config(), prepare("ad_actions", registry("bench"))["ids"]
    stream = AdActionStream(ids=ids, users=min(500_000, actions))
    stream = stream.ending_by(int(time.time() * 1000), actions)
    topic, right = filled(broker, stream, actions)
    viewers = compacted(f"{topic.name}.viewers", PARTITIONS)
    broker.create(viewers)
    people = ViewerStream(users=stream.users, partitions=PARTITIONS)
    generate(config, viewers.name, people, stream.users)

    def ours(more: str, _: int) -> tuple[str, Check]:
        schema = f"bench_{secrets.token_hex(4)}"
        letters = f"{topic.name}.{schema}"
        words = f"run ad_statistics --in {topic.name} --schema {schema} --dead-letters {letters}"

        def check(_: Answer) -> None:
            compare(schema, right)
            assert held(broker, letters) >= right.letters
            broker.delete([letters])

        return words + more, check

    def target() -> tuple[dict[str, str], Check]:
        letters = new_topic("ad_actions.dead-letters", "peer")
        out = compacted(new_topic("ad_counts", "peer").name, PARTITIONS)
        broker.create(letters, out)

        def check(_: Answer) -> None:
            wanted = {"\t".join(map(str, key)): count for key, count in right.counts.items()}
            assert latest_rows(read_messages(config, out.name)) == wanted
            assert len(read_messages(config, letters.name)) == right.letters
            broker.delete([letters.name, out.name])

        return {"target": out.name, "letters": letters.name}, check

    settings = {"source": topic.name, "ids": ",".join(map(str, ids)), "every": str(REPORT_MS)}
    tuned = {**TUNED, "commit.interval.ms": str(REPORT_MS)}
    once = {**tuned, "processing.guarantee": "exactly_once_v2"}
    kinds = {
        "tuned": (tuned, "at least once"),
        "tuned, `exactly_once_v2`": (once, "exactly once, into a topic"),
    }
    peer = Peer(broker, "AdStatistics", settings, actions, target)
    promise, name = "exactly once, into PostgreSQL", "`run ad_statistics`"
    others = kafka_streams.programs(peer, kinds) if peers else []
    joined, more = partial(ours, f" --viewers {viewers.name}"), f"{name}, {stream.users:,} viewers"
    mine = Program(name, SPARK, partial(ours, ""), promise)
    programs = [floor(topic), *others, mine, Program(more, SPARK, joined, promise, "more")]
    return Comparison("ad statistics", actions, programs)

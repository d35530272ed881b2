"""The time from an ad action's arrival until its count can be read in PostgreSQL."""

import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
from ad_statistics import PARTITIONS, LongLived, Ours, held, now
from confluent_kafka import Message
from views_per_second import wait_for

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_messages
from workbook.spark import session
from workbook.stack.addresses import database, registry
from workbook.streams.events.ad_actions import ARRIVAL
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.topics import Topic, new_topic

WARM_UP_S, TICK_S, LOOK_S = 15, 0.01, 0.005
ROOT = Path(__file__).parents[1]

Send = Callable[[list[bytes]], None]


class Looks(threading.Thread):
    """Looks into the database again and again for how far the topic is counted, and since when.

    The fence moves in the transaction of the counts, so both can be read from the same moment on.
    """

    def __init__(self, schema: str) -> None:
        super().__init__(daemon=True)
        self.seen: list[tuple[float, dict[int, int]]] = []
        self._schema, self._over = schema, threading.Event()
        self.start()

    def run(self) -> None:
        with psycopg.connect(database("bench"), autocommit=True) as connection:
            while not self._over.wait(LOOK_S):
                [[found]] = connection.execute(f"SELECT offsets FROM {self._schema}.fence")
                ends = {int(partition): end for partition, end in found.items()}
                if ends and (not self.seen or ends != self.seen[-1][1]):
                    self.seen.append((time.time() * 1000, ends))

    @property
    def counted(self) -> int:
        return sum(self.seen[-1][1].values()) if self.seen else 0

    def stop(self) -> None:
        self._over.set()
        self.join()


def waits(looks: Looks, messages: list[Message], since: int) -> np.ndarray[Any, Any]:
    """Return for each message that arrived ``since`` then how long (ms) it took to be counted."""
    times = np.array([at for at, _ in looks.seen])
    found = []
    for partition in range(PARTITIONS):
        mine = [m for m in messages if m.partition() == partition]
        ends = np.array([ends.get(partition, 0) for _, ends in looks.seen])
        offsets = np.array([m.offset() for m in mine], np.int64)
        arrivals = np.array([int(dict(m.headers() or [])[ARRIVAL] or 0) for m in mine], np.int64)
        at = times[np.searchsorted(ends, offsets, side="right")]
        found.append((at - arrivals)[arrivals >= since])
    return np.concatenate(found)


def paced(stream: AdActionStream, send: Send, seconds: float) -> int:
    """Send what arrives within so many seconds, when it arrives; return how many that were."""
    began, sent = now(), 0
    stream = stream.ending_by(began, 1, speed=1)
    while (at := now()) - began < seconds * 1000:
        due = stream.due(at)
        if due > sent:
            send(stream.block(sent, due)["value"].to_pylist())
            sent = due
        time.sleep(TICK_S)
    return sent


def direct(writer: LongLived) -> Send:
    return lambda values: writer.send(values, [now()] * len(values))


@contextmanager
def replicated(broker: Broker, target: str, options: Namespace) -> Iterator[Send]:
    """Run `run replicate` from a topic of its own; what is yielded sends to this topic."""
    partitions = 2 if options.real_time else PARTITIONS
    source = new_topic("ad_actions", "bench", partitions)
    broker.create(source)
    words = [sys.executable, "-m", "workbook", "run", "replicate", "--in", source.name]
    words += ["--out", target, *(["--real-time"] if options.real_time else [])]
    running = subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL)
    producer = DeliveringProducer(broker.client_config(), source.name, {"linger.ms": 5})

    def send(values: list[bytes]) -> None:
        # Without a key or partition a whole tick would go to one partition, and stay together.
        producer.produce_all((v, None, i % partitions, 0) for i, v in enumerate(values))
        producer.poll()

    try:
        send([b"the first one to be copied"])
        wait_for(lambda: held(broker, target) > 0)
        yield send
        producer.close()
    finally:
        running.terminate()
        running.wait(60)


def measured(name: str, ours: Ours, spark: Any, stream: AdActionStream, options: Namespace) -> None:
    """Print how long the actions took that came after the first seconds."""
    broker, seconds = ours.broker, WARM_UP_S + options.seconds
    with ours.started(spark) as (_, schema):
        looks, since = Looks(schema), 0
        if name == "replicated":
            with replicated(broker, ours.topic, options) as send:
                since = now() + WARM_UP_S * 1000
                sent = paced(stream, send, seconds) + 1
                wait_for(lambda: held(broker, ours.topic) >= sent)
        else:
            writer = LongLived(broker, ours.topic)
            since = now() + WARM_UP_S * 1000
            paced(stream, direct(writer), seconds)
            writer.close()
        wait_for(lambda: looks.counted == held(broker, ours.topic))
        looks.stop()
    took = waits(looks, read_messages(broker.client_config(), ours.topic), since)
    figures = [len(took), *(np.percentile(took, p) for p in (50, 99, 100))]
    batches = [at for at, _ in looks.seen if at >= since]
    figures.append((batches[-1] - batches[0]) / max(len(batches) - 1, 1))
    print(f"| {name} | {' | '.join(f'{figure:,.0f}' for figure in figures)} |", flush=True)


def latency(broker: Broker, options: Namespace) -> None:
    ids = prepare("ad_actions", registry("bench"))["ids"]
    stream = AdActionStream(rate=options.latency, ids=ids)
    spark = session.spark_session(quiet=True)
    print(f"{options.latency:,.0f} actions/s for {options.seconds} s, ms from arrival to row:")
    print("\n| | actions | p50 | p99 | most | from batch to batch |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name in ("from the long-lived topic", "replicated"):
        topic: Topic = new_topic("ad_actions.long-lived", "bench", PARTITIONS)
        broker.create(topic)
        ours = Ours(broker, topic.name, "ad_actions-value", options.per_batch)
        measured(name, ours, spark, stream, options)
    session.stop_spark(spark)

"""Measures the time from an ad action's arrival until its count can be read in PostgreSQL.

    .venv/bin/python benchmarks/ad_latency.py [--rate 5000] [--seconds 60] [--real-time]

At a steady rate, from the long-lived topic, and with `run replicate` before it; the sender, a
process of its own, shares the machine. The first 15 seconds don't count.
"""

import argparse
import os
import secrets
import subprocess
import sys
import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager
from hashlib import sha1
from multiprocessing import get_context
from typing import Any

import numpy as np
import psutil
import psycopg
from confluent_kafka import Message
from harness import ROOT, machine, wait_for
from rounds import started
from systems.ad_statistics import PARTITIONS, held

from workbook.kafka.broker import Broker
from workbook.kafka.producer import DeliveringProducer
from workbook.kafka.readers import read_messages
from workbook.spark import session
from workbook.stack.addresses import database, kafka, registry
from workbook.streams.events.ad_actions import ARRIVAL
from workbook.streams.generators.ad_actions import AdActionStream, prepare
from workbook.streams.stream_producer import Drawn
from workbook.topics import new_topic

SYSTEM, WARM_UP_S, TICK_S, LOOK_S = "ad_statistics", 15, 0.01, 0.005


def now() -> int:
    return int(time.time() * 1000)


Seen = list[tuple[float, dict[int, int]]]
"""Times (ms), and how far each partition was counted then."""


def look(schema: str, seen: Seen, over: threading.Event) -> None:
    """Note again and again how far the topic is counted.

    The fence moves in the transaction of the counts, so both can be read from the same moment on.
    """
    with psycopg.connect(database("bench"), autocommit=True) as connection:
        while not over.wait(LOOK_S):
            [[found]] = connection.execute(f"SELECT offsets FROM {schema}.fence")
            ends = {int(partition): end for partition, end in found.items()}
            if ends and (not seen or ends != seen[-1][1]):
                seen.append((time.time() * 1000, ends))


def waits(seen: Seen, messages: list[Message], since: int) -> np.ndarray[Any, Any]:
    """Return for each message that arrived ``since`` then how long (ms) it took to be counted."""
    times = np.array([at for at, _ in seen])
    found = []
    for partition in range(PARTITIONS):
        mine = [m for m in messages if m.partition() == partition]
        ends = np.array([ends.get(partition, 0) for _, ends in seen])
        offsets = np.array([m.offset() for m in mine], np.int64)
        arrivals = np.array([int(dict(m.headers() or [])[ARRIVAL] or 0) for m in mine], np.int64)
        at = times[np.searchsorted(ends, offsets, side="right")]
        found.append((at - arrivals)[arrivals >= since])
    return np.concatenate(found)


def paced(
    config: dict[str, str], into: str, stream: AdActionStream, seconds: int, plain: bool
) -> int:
    """Send what arrives within so many seconds, when it arrives; return how many that were.

    As `run replicate` does, with hash and arrival; or ``plain``, for `run replicate`.
    """
    began, sent, drawn = now(), 0, Drawn(stream, 0, 0)
    stream = stream.ending_by(began, 1, speed=1)
    with DeliveringProducer(config, into, {"linger.ms": 5}) as producer:
        while (at := now()) - began < seconds * 1000:
            if sent == drawn.last:
                drawn = Drawn(stream, sent, sent + int(stream.rate))
            sent, rows = drawn.until(at)
            for value in rows["value"].to_pylist():
                if plain:  # without a key a whole tick would go to one partition, and stay together
                    producer.produce(value, secrets.token_bytes(8))
                else:
                    producer.produce(value, sha1(value).digest(), headers={ARRIVAL: str(at)})
            producer.poll()
            time.sleep(TICK_S)
    return sent


@contextmanager
def replicated(broker: Broker, target: str, real_time: bool) -> Iterator[str]:
    """Run `run replicate`, and yield the topic that it reads, once it has copied a record."""
    source = new_topic("ad_actions", "bench", 2 if real_time else PARTITIONS)
    broker.create(source)
    words = ["run", "replicate", "--in", source.name, "--out", target]
    words += ["--real-time"] if real_time else []
    command = [sys.executable, "-m", "workbook", *words]
    with psutil.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as running:
        try:
            with DeliveringProducer(broker.client_config(), source.name) as producer:
                producer.produce(b"the first one to be copied")
            wait_for(lambda: held(broker, target) > 0)
            yield source.name
        finally:
            running.terminate()


def measured(
    name: str, broker: Broker, spark: Any, stream: AdActionStream, options: Namespace
) -> str:
    """Return the line of how long the actions took that came after the first seconds."""
    topic = new_topic("ad_actions.long-lived", "bench", PARTITIONS)
    broker.create(topic)
    config, schema = broker.client_config(), f"bench_{secrets.token_hex(4)}"
    with ExitStack() as stack:
        stack.enter_context(started(spark, broker, f"{SYSTEM} --in {topic.name} --schema {schema}"))
        seen, over, into = Seen(), threading.Event(), topic.name
        looking = threading.Thread(target=look, args=(schema, seen, over), daemon=True)
        looking.start()
        if plain := name == "replicated":
            into = stack.enter_context(replicated(broker, topic.name, options.real_time))
        since = now() + WARM_UP_S * 1000
        with ProcessPoolExecutor(1, get_context("spawn")) as others:  # with a lock of its own
            seconds = WARM_UP_S + options.seconds
            sent = plain + others.submit(paced, config, into, stream, seconds, plain).result()
        wait_for(lambda: bool(seen) and sum(seen[-1][1].values()) >= sent)
        over.set()
        looking.join()
    took = waits(seen, read_messages(config, topic.name), since)
    batches = [at for at, _ in seen if at >= since]
    apart = (batches[-1] - batches[0]) / max(len(batches) - 1, 1)
    figures = [len(took), *(np.percentile(took, p) for p in (50, 99, 100)), apart]
    return f"| {name} | {' | '.join(f'{figure:,.0f}' for figure in figures)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=5000, help="actions per second")
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--real-time", action="store_true", help="the replicator's mode")
    options, load = parser.parse_args(), os.getloadavg()[0]
    broker, ids = kafka("bench"), prepare("ad_actions", registry("bench"))["ids"]
    stream = AdActionStream(rate=options.rate, ids=ids)
    spark = session.spark_session(quiet=True)
    print("| ms from arrival to row | actions | p50 | p99 | most | from batch to batch |")
    print("| --- |" + " ---: |" * 5)
    for name in ("from the long-lived topic", "replicated"):
        print(measured(name, broker, spark, stream, options), flush=True)
    session.stop_spark(spark)
    print(f"\n{options.rate:,.0f} actions/s for {options.seconds} s. {machine(load)}")


if __name__ == "__main__":
    main()

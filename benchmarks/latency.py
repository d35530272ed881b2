"""Measures how long a record waits until the micro-batch that takes it has delivered its results.

    .venv/bin/python benchmarks/latency.py [--rate 1000] [--seconds 60]

Page views, merged visits and share holders, at a steady rate; the sender, a process of its own,
shares the machine. The broker dates the records. Those of the first minute don't count: Java is
still compiling. A second of page views and a visit become complete later, by event time: that
isn't counted.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from datetime import datetime
from typing import Any

import numpy as np
import psutil
from harness import ROOT, machine, wait_for
from rounds import started

from workbook.kafka.broker import Broker
from workbook.kafka.readers import read_all
from workbook.spark import session
from workbook.stack.addresses import kafka
from workbook.topics import COMPACTED, FOREVER, Topic, new_topic

WARM_UP_S, LOOK_S = 60, 5
BY_THE_BROKER = {"message.timestamp.type": "LogAppendTime"}
STREAMS = {"page_views": ["clicks"], "event_time_merge": ["tracking", "orders"],
           "share_holders": ["positions"]}  # fmt: skip
WORDS = {
    "page_views": "--in {0} --out {0}.metrics --every 0.1",
    "event_time_merge": "--in {0} --orders {1} --out {0}.visits --timeout 10s",
    "share_holders": "--in {0} --out {0}.holders",
}
Ends = dict[int, tuple[float, dict[str, dict[str, int]]]]
"""By micro-batch: when it had delivered (ms), and how far it had read each partition."""


def senders(topics: dict[str, str], rate: float, seconds: int) -> list[psutil.Popen]:
    """Start a generator for each stream; orders are a quarter of what is sent."""
    found = []
    for stream, topic in topics.items():
        part = {"tracking": 0.8, "orders": 0.2}.get(stream, 1.0)
        words = [
            stream,
            "--topic",
            topic,
            "--rate",
            rate * part,
            "--seconds",
            seconds,
            "--speed",
            1,
        ]
        words += ["--tracking-rate", 0.8 * rate] if stream == "orders" else []
        command = [sys.executable, "-m", "workbook", "generate", *map(str, words)]
        found.append(psutil.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL))
    return found


def look(query: Any, ends: Ends) -> None:
    """Note the latest micro-batches: Spark keeps the last hundred."""
    for each in query.recentProgress:
        began = datetime.fromisoformat(each.timestamp).timestamp() * 1000
        upto: dict[str, dict[str, int]] = {}
        for source in each.sources:
            upto |= json.loads(source.endOffset)
        ends[each.batchId] = began + each.durationMs["triggerExecution"], upto


def waits(broker: Broker, topic: str, ends: Ends, since: float) -> Any:
    """Return for each record that arrived ``since`` then how long (ms) it took to be delivered."""
    batches = [ends[number] for number in sorted(ends)]
    times = np.array([at for at, _ in batches])
    records, found = read_all(broker.client_config(), topic), []
    for partition, own in records.groupby("partition"):
        upto = [offsets.get(topic, {}).get(str(partition), 0) for _, offsets in batches]
        at = times[np.searchsorted(upto, own.offset, side="right")]
        found.append((at - own.timestamp)[own.timestamp >= since])
    return np.concatenate(found)


def measured(name: str, broker: Broker, spark: Any, rate: float, seconds: int) -> str:
    """Return a line of the table."""
    topics = {stream: new_topic(stream, "bench").name for stream in STREAMS[name]}
    kept = COMPACTED if name == "share_holders" else FOREVER
    broker.create(*(Topic(topic, 1, {**kept, **BY_THE_BROKER}) for topic in topics.values()))
    ends: Ends = {}
    words = WORDS[name].format(*topics.values())
    with started(spark, broker, f"{name} {words}") as (begun, _, _):
        since = (time.time() + WARM_UP_S) * 1000
        sending = senders(topics, rate, seconds + WARM_UP_S)
        while any(each.poll() is None for each in sending):
            begun.running.wait(LOOK_S)
            look(begun.running.query, ends)
        assert all(each.returncode == 0 for each in sending)
        held = {topic: len(read_all(broker.client_config(), topic)) for topic in topics.values()}

        def read() -> bool:
            look(begun.running.query, ends)
            last = ends[max(ends)][1]
            return all(sum(last[topic].values()) == held[topic] for topic in held)

        wait_for(read)
    took = np.concatenate([waits(broker, topic, ends, since) for topic in topics.values()])
    spans = np.diff([ends[number][0] for number in sorted(ends)])
    figures = [len(took), *(np.percentile(took, p) for p in (50, 99, 100)), np.median(spans)]
    return f"| `run {name}` | {' | '.join(f'{figure:,.0f}' for figure in figures)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rate", type=float, default=1000, help="messages per second")
    parser.add_argument("--seconds", type=int, default=60)
    options, load = parser.parse_args(), os.getloadavg()[0]
    broker, spark = kafka("bench"), session.spark_session(quiet=True)
    print("| ms from arrival to delivery | records | p50 | p99 | most | from batch to batch |")
    print("| --- |" + " ---: |" * 5)
    for name in STREAMS:
        print(measured(name, broker, spark, options.rate, options.seconds), flush=True)
    session.stop_spark(spark)
    print(f"\n{options.rate:,.0f} messages/s for {options.seconds} s. {machine(load)}")


if __name__ == "__main__":
    main()

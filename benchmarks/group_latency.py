"""Measures how soon a commit of a consumer group is in the store of `run active_groups`.

    .venv/bin/python benchmarks/group_latency.py [--commits 100]

The commits come at any moment of a trigger; the first five don't count.
"""

import argparse
import os
import random
import time
from contextlib import suppress

import numpy as np
from confluent_kafka import Consumer, KafkaException, TopicPartition
from harness import machine, wait_for
from rounds import started

from workbook.sinks.store import Store
from workbook.spark import session
from workbook.stack.addresses import kafka
from workbook.topics import new_topic

WARM_UP = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--commits", type=int, default=100)
    commits, load = parser.parse_args().commits, os.getloadavg()[0]
    broker, spark, draw = kafka("bench"), session.spark_session(quiet=True), random.Random(1)
    clicks, delays = new_topic("clicks", "bench"), list[float]()
    broker.create(clicks)
    consumer = Consumer({**broker.client_config(), "group.id": clicks.name, "log_level": 0})

    def commit(offset: int) -> bool:
        with suppress(KafkaException):  # at first the group's coordinator is loading
            at = TopicPartition(clicks.name, 0, offset)
            return bool(consumer.commit(offsets=[at], asynchronous=False))
        return False

    wait_for(lambda: commit(0))  # the first group makes the broker's topic
    with started(spark, broker, "active_groups") as (_, _, place):
        store = Store(place / "groups.db", "group", reading=True)

        def seen() -> int:
            row = store.get(clicks.name)
            return row["offsets"][0]["offset"] if row else 0

        for offset in range(1, commits + WARM_UP + 1):
            time.sleep(draw.random())
            began = time.monotonic()
            commit(offset)
            wait_for(lambda: seen() >= offset)  # noqa: B023
            delays.append(time.monotonic() - began)
    consumer.close()
    session.stop_spark(spark)
    p50, p99 = np.percentile(delays[WARM_UP:], [50, 99])
    print(f"From {commits} commits to the store: p50 {p50:.2f} s, p99 {p99:.2f} s. {machine(load)}")


if __name__ == "__main__":
    main()

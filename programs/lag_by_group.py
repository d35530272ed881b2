"""Print how far behind its topics each consumer group is, in records and in seconds.

    python lag_by_group.py --servers localhost:9092 --every 10

It needs `pip install confluent-kafka`, and the rights to DESCRIBE groups and topics. It reads no
record and commits nothing.

Lag in records is the partition's end minus the committed offset. Lag in seconds asks: how long
ago was the partition's end at the offset that the group has now committed? The program samples
the ends at every turn, and looks up when the end was there, so its seconds are too low by up to
--every. Before its first sample it can't know: then it says ≥.

What it loses:
- It forgets its samples when it ends, and keeps those of the last hour.
- What a group has read but not committed counts as unread: the open second of a counter, or all
  of a group that commits elsewhere, such as a Spark query.
- Offsets that a transaction wrote (commits, aborted records) count as records, as on the broker.
"""

import argparse
import sys
import time
from collections import defaultdict, deque

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

HOUR = 3600


def committed(admin):
    """Return the committed offset of each group and partition: {(group, partition): offset}."""
    groups = admin.list_consumer_groups(request_timeout=10).result().valid
    found = {}
    for group in sorted(each.group_id for each in groups):
        asked = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])
        for place in asked[group].result().topic_partitions:
            if place.offset >= 0:
                found[group, TopicPartition(place.topic, place.partition)] = place.offset
    return found


def ends(admin, places):
    """Return the end offset of each partition; a deleted topic's is missing."""
    asked = admin.list_offsets({place: OffsetSpec.latest() for place in places}, request_timeout=10)
    found = {}
    for place, answer in asked.items():
        try:
            found[place] = answer.result().offset
        except KafkaException as error:
            print(f"no end of {place.topic}/{place.partition}: {error}", file=sys.stderr)
    return found


def seconds(samples, offset, now):
    """Return for how long the end has been beyond the offset, as text."""
    if offset >= samples[-1][1]:
        return "0"
    beyond = next(when for when, end in samples if end > offset)
    return f"{'≥ ' if beyond == samples[0][0] else ''}{now - beyond:.0f}"


def main():
    """Print a table at every turn, until Ctrl-C."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    command.add_argument("--servers", required=True)
    command.add_argument("--every", type=float, default=10, help="seconds")
    options = command.parse_args()
    admin = AdminClient({"bootstrap.servers": options.servers})
    sampled = defaultdict(deque)
    while True:
        try:
            admin.list_topics(timeout=10)  # without a broker, no group would be found below
            offsets = committed(admin)
            found = ends(admin, {place for _, place in offsets})
        except KafkaException:
            sys.exit(f"No broker answers at {options.servers} within 10 s. Is it running?")
        now = time.time()
        for place, end in found.items():
            samples = sampled[place]
            samples.append((now, end))
            while samples[0][0] < now - HOUR:
                samples.popleft()
        print(f"{'group':30} {'topic/partition':30} {'records':>12} {'seconds':>10}")
        if not offsets:
            print("no group has committed anything yet", flush=True)
        for (group, place), offset in offsets.items():
            if place in found:
                where = f"{place.topic}/{place.partition}"
                late = seconds(sampled[place], offset, now)
                print(f"{group:30} {where:30} {found[place] - offset:12,} {late:>10}", flush=True)
        time.sleep(options.every)


if __name__ == "__main__":
    main()

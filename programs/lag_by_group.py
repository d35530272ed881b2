"""Print how far behind its topics each consumer group is, in records and in seconds.

    python lag_by_group.py --servers localhost:9092 --every 10

It needs `pip install confluent-kafka`, and the rights to DESCRIBE groups and topics: it says on
stderr which ones it may not see. It reads no record, commits nothing, and waits for its broker.

Lag in records is the partition's end minus the committed offset. Lag in seconds asks: how long
ago was the partition's end at the offset that the group has now committed? The program samples the
ends every --every seconds, so its answer may be too low by that time. If the end was there before
the first sample, it prints ≥.

What it loses:
- Its samples: it keeps those of the last hour, and none when it ends. It drops those of a topic
  that was recreated or has lost its end. For a commit beyond the end it prints "recreated".
- Records that a group has read but not committed, such as the open second of a counter, are lag.
  A group that never commits to Kafka, such as a Spark query's, isn't listed.
- Offsets that a transaction wrote (commits, aborted records) count as records, as on the broker.
"""

import argparse
import re
import sys
import time
from collections import defaultdict, deque
from contextlib import suppress
from pathlib import Path

from confluent_kafka import ConsumerGroupTopicPartitions as Group
from confluent_kafka import KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

HOUR = 3600
LINE = r"(?m)^[ \t]*(?!\S*\.type)([a-z.]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$"  # of --config


def say(text, where=None):
    """Print a line, without what steers a terminal: others choose the names of groups."""
    print("".join(c if c.isprintable() else "?" for c in text), file=where, flush=True)


def answers(what, asked):
    """Yield each key and its answer; say where there's none."""
    for key, future in asked.items():
        try:
            yield key, future.result()
        except KafkaException as error:
            say(f"no {what} of {key}: {error.args[0].str()}", sys.stderr)


def committed(admin):
    """Return the committed offset of each group and partition: {(group, partition): offset}."""
    listed = admin.list_consumer_groups(request_timeout=10).result()
    for error in listed.errors:
        print(f"a broker doesn't list its groups: {error}", file=sys.stderr)
    groups, found = sorted(each.group_id for each in listed.valid), {}
    for first in range(0, len(groups), 100):  # 100 requests at once
        chunk, asked = groups[first : first + 100], {}
        # Without this answer the next request may end the process (confluent-kafka 2.16).
        for group, _ in answers("state", admin.describe_consumer_groups(chunk, request_timeout=10)):
            asked |= admin.list_consumer_group_offsets([Group(group)], request_timeout=10)
        for group, answer in answers("offsets", asked):
            for place in answer.topic_partitions:
                if place.error:
                    say(f"no offset of {group}: {place}", sys.stderr)
                elif place.offset >= 0:
                    found[group, TopicPartition(place.topic, place.partition)] = place.offset
    return found


def ends(admin, places):
    """Return the topic's id and the end offset of each partition; a deleted topic's is missing."""
    topics = TopicCollection(list({place.topic for place in places}))
    described = answers("id", admin.describe_topics(topics, request_timeout=10))
    ids = {name: str(topic.topic_id) for name, topic in described}
    latest = {place: OffsetSpec.latest() for place in places if place.topic in ids}
    found = answers("end", admin.list_offsets(latest, request_timeout=10))
    return {place: (ids[place.topic], end.offset) for place, end in found}


def seconds(samples, offset, now):
    """Return for how long the end has been beyond the offset, as text."""
    if offset >= samples[-1][1]:
        return "0"
    beyond = next(when for when, end in samples if end > offset)
    return f"{'≥ ' if beyond == samples[0][0] else ''}{now - beyond:.0f}"


def table(admin, sampled):
    """Sample the ends, and print the lag of each group."""
    offsets = committed(admin)
    found, now = ends(admin, {place for _, place in offsets}), time.monotonic()
    for place, (topic_id, end) in found.items():
        samples = sampled[topic_id, place.partition]
        if samples and end < samples[-1][1]:
            samples.clear()
        samples.append((now, end))
    for samples in sampled.values():  # those of a deleted topic, too
        while samples and samples[0][0] < now - HOUR:
            samples.popleft()
    print(f"{'group':30} {'topic/partition':30} {'records':>12} {'seconds':>10}")
    if not offsets:
        print("no group has committed anything yet", flush=True)
    for (group, place), offset in offsets.items():
        if place in found:
            topic_id, end = found[place]
            lag, late = "recreated", "?"
            if offset <= end:
                late = seconds(sampled[topic_id, place.partition], offset, now)
                lag = f"{end - offset:,}"
            where = f"{place.topic}/{place.partition}"
            say(f"{group:30} {where:30} {lag:>12} {late:>10}")


def connect(options):  # returns the settings of librdkafka, and all topics
    found, heard, admin = {"bootstrap.servers": options.servers}, [], None
    try:
        text = Path(options.config).read_text("utf-8-sig") if options.config else ""
        text = re.sub(r"(?m)^\s*ssl.keystore.(.*.pem)\s*$", r"ssl.certificate.\1\nssl.key.\1", text)
        for name, value in re.findall(LINE, re.sub(r"\\\n\s*", "", text)):
            name = name.replace("truststore.loc", "ca.loc").replace("mechanisms", "mechanism")
            found.setdefault(name, re.sub(r"\\(.)", r"\1", value) or "none")
        jaas = found.pop("sasl.jaas.config", "")
        jaas = re.findall(r"""(\w+)\s*=\s*(["']?)((?:\\.|.)*?)\2[\s;]""", jaas)
        found |= {f"sasl.{name}": re.sub(r"\\(.)", r"\1", value) for name, _, value in jaas}
        admin = AdminClient({**found, "log_level": 0, "error_cb": heard.append})
        return found, admin.list_topics(timeout=10).topics
    except (KafkaException, OSError, ValueError) as error:
        why = ((admin and admin.poll(0) and heard) or [error])[0]
        sys.exit(f"No broker answers at {options.servers}. Does it run? Is --config right? {why}")


def main():
    """Print a table at every turn, until Ctrl-C."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    command.add_argument("--servers", required=True)
    command.add_argument("--config", help="Kafka's client settings, as its tools take them")
    command.add_argument("--every", type=float, default=10, help="seconds")
    options = command.parse_args()
    config, sampled = connect(options)[0], defaultdict(deque)
    while True:
        # A client of its own for each turn: after a broker's restart, an old one may be refused.
        admin = AdminClient({**config, "log_level": 0})
        try:
            admin.list_topics(timeout=10)  # without a broker, no group would be found
            table(admin, sampled)
        except KafkaException as error:
            print(f"No broker answers. Trying again: {error.args[0].str()}", file=sys.stderr)
        time.sleep(options.every)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        main()

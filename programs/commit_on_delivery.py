"""Count the page views of each second by hand, and commit an offset only after delivery.

    python commit_on_delivery.py --servers localhost:9092 --topic clicks --out metrics --group views

It needs `pip install confluent-kafka`. Start it as often as you like with the same --group: Kafka
shares the partitions of the topic among all running copies.

In: records whose value is JSON such as {"click_type": "Page", "timestamp": 1700000000123, …},
with the event time in milliseconds. Out: a record per second and partition. Its key is
SECOND/PARTITION and its value the number of page views, both as text. Create the topic of --out
before.

What it promises: every counted page view is in a metric, also after kill -9, and when a partition
moves to another copy. A metric may be written twice, so readers keep the last value of each key.
The committed offset is always that of the first record of a second, so no second is counted in
part.

After kill -9 Kafka gives the partitions to another copy once `session.timeout.ms`, 45 seconds, is
over.

What it loses:
- A page view that arrives after one of a later second on its partition; each is said on stderr.
- A record that isn't such JSON, or isn't dated within five minutes of its arrival.
- The last second of a partition is open until a record of a later second arrives. A copy that
  ends or gives the partition up doesn't write it: the next reader counts it again from its first
  record.
"""

import argparse
import json
import signal
import sys
from collections import deque
from functools import partial

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient


class Partition:
    """The open second of a partition, and its metrics that aren't committed yet."""

    def __init__(self):
        self.second, self.views, self.position = None, 0, None
        self.sent = deque()  # [position, delivered], oldest first

    def report(self, metric, error, _):
        """Note a delivery: `position` moves past all metrics without an undelivered one before."""
        if error:  # the producer has tried again for five minutes
            raise KafkaException(error)
        metric[1] = True
        while self.sent and self.sent[0][1]:
            self.position = self.sent.popleft()[0]


class Program:
    """Reads, counts, sends, and commits what was delivered."""

    def __init__(self, servers, topic, out, group):
        self.out, self.partitions, self.running = out, {}, True
        self.producer = Producer({
            "bootstrap.servers": servers,
            "enable.idempotence": True,  # acks=all, and a retry repeats no record
        })  # fmt: skip
        self.consumer = Consumer({
            "bootstrap.servers": servers,
            "group.id": group,
            "auto.offset.reset": "earliest",  # where the group has no commit yet
            "enable.auto.commit": False,  # it would commit what has only been read
        })  # fmt: skip
        self.consumer.subscribe([topic], on_revoke=self.give_up, on_lost=self.forget)

    def run(self):
        """Count until somebody calls `stop`; then give all partitions up."""
        while self.running:
            message = self.consumer.poll(0.2)
            self.producer.poll(0)  # calls `report`
            if message and message.error():
                raise KafkaException(message.error())
            if message and (second := second_of(message)) is not None:
                self.count(message, second)
            self.commit(self.partitions, asynchronous=True)
        self.consumer.close()  # calls `give_up`

    def count(self, message, second):
        """Count a page view. If its second is a later one, first send the second before it."""
        number = message.partition()
        state = self.partitions.setdefault(number, Partition())
        if state.second is not None and second < state.second:
            print(f"too late: partition {number}, offset {message.offset()}", file=sys.stderr)
            return
        if state.second not in (None, second):
            restart = TopicPartition(message.topic(), number, message.offset())
            metric = [restart, False]
            state.sent.append(metric)  # noted before it's sent, so a gap is seen
            report = partial(state.report, metric)
            key = f"{state.second}/{number}"
            self.producer.produce(self.out, str(state.views), key, on_delivery=report)
            state.views = 0
        state.second = second
        state.views += 1

    def commit(self, numbers, asynchronous):
        """Commit the positions of these partitions that have moved."""
        states = [self.partitions[n] for n in numbers if n in self.partitions]
        if moved := [state.position for state in states if state.position]:
            self.consumer.commit(offsets=moved, asynchronous=asynchronous)
            for state in states:
                state.position = None

    def give_up(self, consumer, revoked):
        """Commit what is delivered. The next reader counts the open second from its beginning.

        The flush is bounded, since the group throws out a member that stays in here for longer than
        `max.poll.interval.ms`. What isn't delivered by then isn't committed.
        """
        self.producer.flush(20)
        try:
            self.commit([place.partition for place in revoked], asynchronous=False)
        except KafkaException as error:
            print(f"Not committed, so the next reader counts it again: {error}", file=sys.stderr)
        self.forget(consumer, revoked)

    def forget(self, _, lost):
        """Forget partitions. A lost one may already have another reader: commit nothing."""
        for place in lost:
            self.partitions.pop(place.partition, None)

    def stop(self, *_):
        """End the loop: a handler of signals."""
        self.running = False


def second_of(message):
    """Return the second of a page view with a credible time, or None."""
    try:
        click = json.loads(message.value())
        time = click["timestamp"] if click["click_type"] == "Page" else -1
        return time // 1000 if 0 <= time <= message.timestamp()[1] + 300_000 else None
    except (ValueError, TypeError, KeyError):
        return None


def main():
    """Run until the process is ended."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--group"):
        command.add_argument(name, required=True)
    options = command.parse_args()
    try:
        found = AdminClient({"bootstrap.servers": options.servers}).list_topics(timeout=10).topics
    except KafkaException:
        sys.exit(f"No broker answers at {options.servers} within 10 s. Is it running?")
    if missing := {options.topic, options.out} - set(found):
        sys.exit(
            f"{options.servers} has no topic {', '.join(missing)}. Create it, or correct the name."
        )
    program = Program(**vars(options))
    signal.signal(signal.SIGTERM, program.stop)
    signal.signal(signal.SIGINT, program.stop)
    program.run()


if __name__ == "__main__":
    main()

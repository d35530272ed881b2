"""Count the page views of each second by hand, and commit an offset only after delivery.

    python commit_on_delivery.py --servers localhost:9092 --topic clicks --out metrics --group views

It needs `pip install confluent-kafka`. Start as many copies as you like with the same --group:
Kafka shares the partitions of the topic among them.

In: records whose value is JSON such as {"click_type": "Page", "timestamp": 1700000000123, …},
with the event time in milliseconds. Another click_type is no page view. Out: a record per second
and partition. Its key is SECOND/PARTITION and its value the number of page views, both as text.

What it promises: every counted page view is in a metric, also after kill -9, and when a partition
moves to another copy. A metric may be written twice, so readers keep the last value of each key.
A committed offset is that of the first record of a second, so no second is counted in part.

45 seconds (`session.timeout.ms`) after kill -9, Kafka gives the partitions to another copy. The
program waits for a broker that doesn't answer. It ends if a metric isn't delivered within five
minutes, or if the topic is recreated: the next start counts the new topic.

What it loses; every second it says on stderr how many page views or records:
- A page view that arrives after one of a later second on its partition.
- A record that isn't JSON, or whose fields aren't a text and a whole number.
- A page view whose record has no timestamp, or that is dated before 1970, or more than five
  minutes after now or its record's timestamp (the producer's, unless the topic has
  message.timestamp.type=LogAppendTime).
- If unread records were deleted, the open second before them and the first one after them: both
  may be incomplete. If records are out of order there, a later second may be, too: it's written.
The last second of a partition is open until a record of a later second arrives. A copy that ends
doesn't write that second: the next reader counts it again from its first record.
"""

import argparse
import json
import re
import signal
import sys
import time
from collections import Counter, deque
from functools import partial
from pathlib import Path

from confluent_kafka import Consumer, KafkaException, Producer, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient

LINE = r"(?m)^[ \t]*(?!\S*\.type)([a-z.]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$"  # of --config
SLOW = " Not enough replicas are in sync, or a quota slows this user down, or no broker answers."


class Partition:
    """The open second of a partition, and its metrics that aren't committed yet."""

    def __init__(self, offset, cut=False):
        self.next, self.cut = offset, cut  # the next offset; if the open second may lack records
        self.second, self.views, self.position, self.asked = None, 0, None, None
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

    def __init__(self, config, topic, out, group):
        self.topic, self.out, self.partitions, self.running = topic, out, {}, True
        self.lost, self.due = Counter(), 0
        self.asks = {**config, "log_level": 0}
        self.admin = AdminClient(self.asks)
        self.topic_id = self.ask_topic_id()
        self.producer = Producer({
            **config,
            "enable.idempotence": True,  # acks=all, and a retry repeats no record
        })  # fmt: skip
        self.consumer = Consumer({
            **config,
            "group.id": group,
            "auto.offset.reset": "earliest",  # where the group has no commit, or one out of range
            "enable.auto.commit": False,  # it would commit what has only been read
            "on_commit": self.hear,
        })  # fmt: skip
        self.consumer.subscribe([topic], on_revoke=self.give_up, on_lost=self.forget)

    def run(self):
        """Count until somebody calls `stop`; then give all partitions up."""
        while self.running:
            message = self.consumer.poll(0.2)
            self.producer.poll(0)  # calls `report`
            if message is not None:
                if message.error():
                    raise KafkaException(message.error())
                self.count(message, self.state_of(message))
            if time.monotonic() >= self.due:
                self.due = time.monotonic() + 1
                self.commit(self.partitions, asynchronous=True)
                self.say()
        self.consumer.close()  # calls `give_up`
        self.say()

    def state_of(self, message):
        """Return the partition's state: a new one if records before the message were deleted."""
        place = TopicPartition(message.topic(), message.partition())
        state = self.partitions.get(place.partition)
        if state is None:
            start = self.consumer.committed([place], timeout=60)[0].offset
            state = self.partitions[place.partition] = Partition(max(start, 0))
        if message.offset() != state.next:  # transactions and compaction leave gaps, too
            low = self.consumer.get_watermark_offsets(place, timeout=60)[0]
            if low > state.next or message.offset() < state.next:
                if low > state.next and not state.cut:  # the end of the open second is deleted
                    self.lost["in a second that may be cut"] += state.views
                state = self.partitions[place.partition] = Partition(message.offset(), low > 0)
        state.next = message.offset() + 1
        return state

    def count(self, message, state):
        """Count a page view. If its second is a later one, first send the second before it."""
        second = second_of(message, self.lost)
        if second is None:
            return
        if state.second is not None and second < state.second:
            self.lost["too late"] += 1
            return
        if state.second not in (None, second):
            self.send(message, state)
            state.views, state.cut = 0, False
        state.second = second
        state.views += 1
        self.lost["in a second that may be cut"] += state.cut

    def send(self, message, state):
        """Send the open second; once it's delivered, a start may begin at this message."""
        place = TopicPartition(message.topic(), message.partition(), message.offset())
        metric = [place, False]
        state.sent.append(metric)  # noted before it's sent, so a gap is seen
        key, report = f"{state.second}/{place.partition}", partial(state.report, metric)
        if state.cut:  # a smaller number would overwrite a right one
            return report(None, None)
        while True:
            try:
                return self.producer.produce(self.out, str(state.views), key, on_delivery=report)
            except BufferError:  # a broker hangs, and the queue is full
                self.producer.poll(1)

    def commit(self, numbers, asynchronous):
        """Commit the positions of these partitions that have moved."""
        states = [self.partitions[n] for n in numbers if n in self.partitions]
        moved = [state for state in states if state.position is not state.asked]
        if not moved:
            return
        try:
            same = self.ask_topic_id() == self.topic_id
        except KafkaException as error:
            print(f"not committed, but tried again: {error}", file=sys.stderr)
            self.admin = AdminClient(self.asks)  # a restarted broker may refuse the old one
            return
        if not same:  # the positions are those of other records
            sys.exit(f"{self.topic} was deleted and created again: start again to count it.")
        places = [state.position for state in moved]
        done = self.consumer.commit(offsets=places, asynchronous=asynchronous)
        for state in moved:
            state.asked = state.position
        self.hear(None, done or [])  # an asynchronous commit is heard later

    def hear(self, error, places):
        """Say which commits have failed, and let them be tried again."""
        for place in places:
            if why := error or place.error:
                print(f"not committed: {place.topic}/{place.partition}: {why}", file=sys.stderr)
                if place.partition in self.partitions:
                    self.partitions[place.partition].asked = None

    def ask_topic_id(self):
        """Return the topic's id; a recreated topic has another."""
        asked = self.admin.describe_topics(TopicCollection([self.topic]), request_timeout=10)
        return str(asked[self.topic].result().topic_id)

    def say(self):
        """Print what was lost since the last time."""
        if lost := [f"{number} {why}" for why, number in self.lost.items() if number]:
            print("lost:", ", ".join(lost), file=sys.stderr)
        self.lost.clear()

    def give_up(self, consumer, revoked):
        """Commit what is delivered. The next reader counts the open second from its beginning."""
        self.producer.flush(20)  # the group throws out a member after `max.poll.interval.ms`
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
        self.running = False


def second_of(message, lost):
    """Return the second of a page view with a credible time, or None; count a lost record."""
    try:  # `decode` refuses what isn't UTF-8, `parse_constant` NaN
        click = json.loads((message.value() or b"").decode(), parse_constant=int)
    except (ValueError, RecursionError):
        lost["that aren't JSON"] += 1
        return None
    fields = click if isinstance(click, dict) else {}
    kind, dated = fields.get("click_type"), fields.get("timestamp")
    if kind == "Page" and type(dated) is int:
        if 0 <= dated <= min(message.timestamp()[1], time.time() * 1000) + 300_000:
            return dated // 1000
        lost["dated wrong"] += 1
    elif kind == "Page" or not isinstance(kind, str):
        lost["with a wrong field"] += 1
    return None


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
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--group"):
        command.add_argument(name, required=True)
    command.add_argument("--config", help="Kafka's client settings, as its tools take them")
    options = command.parse_args()
    config, found = connect(options)
    for name in {options.topic, options.out} - set(found):
        create = f"kafka-topics --bootstrap-server {options.servers} --create --topic {name}"
        sys.exit(f"{options.servers} has no topic {name}. Correct the name, or create it: {create}")
    try:
        program = Program(config, options.topic, options.out, options.group)
        signal.signal(signal.SIGTERM, program.stop)
        signal.signal(signal.SIGINT, program.stop)
        program.run()
    except KafkaException as error:
        why = f"{error}{SLOW * ('MSG_TIMED_OUT' in str(error))}"
        sys.exit(f"Ended, and the next start counts again what isn't committed: {why}")


if __name__ == "__main__":
    main()

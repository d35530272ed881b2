"""A program for the crash test, with one of eight faults that such programs have, or with none.

    python buggy.py BUG --servers HOST:PORT --topic IN --out OUT --group GROUP [--database URL]

It counts the page views of each second and partition; with ``dedup`` it passes on each event once;
with a database it adds to a row per page.
"""

import argparse
import json
import signal
import sys
from functools import partial

import psycopg
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

KAFKA = {
    "early": "commits before its result is delivered",
    "next": "commits the offset behind the record at which a restart must begin",
    "window": "lets the client commit what it has read, with a second open",
    "rebalance": "commits the records of its open second when partitions move",
    "failure": "goes on behind a result that wasn't delivered",
    "dedup": "remembers in memory only which events it has passed on",
}
DATABASE = {
    "upsert": "adds to a row again what it has read again",
    "gap": "commits offset and row in two transactions, the offset first",
}


class Second:
    def __init__(self, second, first):
        self.second, self.first, self.views = second, first, 0


class Program:
    def __init__(self, options):
        self.bug, self.out, self.open, self.running, self.seen = (
            options.bug, options.out, {}, True, set()
        )  # fmt: skip
        self.database = psycopg.connect(options.database) if options.database else None
        if self.database:
            self.database.execute("CREATE TABLE IF NOT EXISTS views (page text PRIMARY KEY, n int)")
            self.database.execute("CREATE TABLE IF NOT EXISTS done (p int PRIMARY KEY, at bigint)")
            self.database.commit()
        own = {"bootstrap.servers": options.servers, "log_level": 0}
        timeout = 500 if self.bug == "failure" else 60_000
        self.producer = Producer({**own, "message.timeout.ms": timeout, "linger.ms": 5})
        self.consumer = Consumer({
            **own, "group.id": options.group, "auto.offset.reset": "earliest",
            "enable.auto.commit": self.bug == "window", "auto.commit.interval.ms": 200,
        })  # fmt: skip
        self.consumer.subscribe([options.topic], on_assign=self.seek, on_revoke=self.give_up)

    def run(self):
        while self.running:
            message = self.consumer.poll(0.2)
            self.producer.poll(0)
            if message is None or message.error():
                continue
            if self.bug == "early":
                self.commit(message, message.offset() + 1)
            click = json.loads(message.value())
            if self.bug == "dedup":
                self.pass_on(message, click)
            elif self.database:
                self.add(message, click)
            else:
                self.count(message, click)
        self.consumer.close()

    def count(self, message, click):
        second, its = click["timestamp"] // 1000, self.open.get(message.partition())
        if its is None or its.second < second:
            if its is not None:
                self.send(message, its)
            its = self.open[message.partition()] = Second(second, message.offset())
        its.views += click["click_type"] == "Page"

    def send(self, message, its):
        to = message.offset() + (self.bug == "next")
        self.producer.produce(
            self.out, str(its.views), f"{its.second}/{message.partition()}",
            on_delivery=partial(self.delivered, message, to),
        )  # fmt: skip

    def delivered(self, message, offset, error, _):
        if error and self.bug != "failure":
            raise KafkaException(error)
        if self.bug not in ("early", "window"):
            self.commit(message, offset)

    def pass_on(self, message, click):
        if click["event_id"] not in self.seen:
            self.seen.add(click["event_id"])
            done = partial(self.delivered, message, message.offset() + 1)
            self.producer.produce(self.out, message.value(), on_delivery=done)

    def add(self, message, click):
        place = (message.partition(), message.offset() + 1)
        done = "INSERT INTO done VALUES (%s, %s) ON CONFLICT (p) DO UPDATE SET at = excluded.at"
        if self.bug == "gap":
            self.database.execute(done, place)
            self.database.commit()
        self.database.execute(
            "INSERT INTO views VALUES (%s, 1) ON CONFLICT (page) DO UPDATE SET n = views.n + 1",
            [click["name"]],
        )
        if self.bug == "none":
            self.database.execute(done, place)
        self.database.commit()
        if self.bug == "upsert":
            self.commit(message, message.offset() + 1)

    def seek(self, consumer, places):
        if self.database and self.bug != "upsert":
            known = dict(self.database.execute("SELECT p, at FROM done").fetchall())
            self.database.commit()
            for place in places:
                place.offset = known.get(place.partition, 0)
            consumer.assign(places)

    def give_up(self, consumer, places):
        read = [place for place in consumer.position(places) if place.offset >= 0]
        if self.bug == "rebalance" and read:
            consumer.commit(offsets=read, asynchronous=False)
        self.producer.flush(10)
        for place in places:
            self.open.pop(place.partition, None)

    def commit(self, message, offset):
        place = TopicPartition(message.topic(), message.partition(), offset)
        self.consumer.commit(offsets=[place], asynchronous=True)

    def stop(self, *_):
        self.running = False


def main():
    command = argparse.ArgumentParser()
    command.add_argument("bug", choices=["none", *KAFKA, *DATABASE])
    for name in ("--servers", "--topic", "--out", "--group", "--database"):
        command.add_argument(name)
    program = Program(command.parse_args())
    signal.signal(signal.SIGTERM, program.stop)
    program.run()


if __name__ == "__main__":
    sys.exit(main())

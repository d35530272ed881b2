"""Merge page views and orders of the same visit on Spark, by the event time of both topics.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 merge_visits.py \
        --servers localhost:9092 --tracking tracking --orders orders --out visits \
        --checkpoint state/visits

It needs Spark 4.1 or newer (name your version in --packages) and `pip install confluent-kafka`.

In: two topics with the same number of partitions and the same partitioner. A value is JSON with
`timestamp` (ms) and, but for heartbeats, `ssid`, the visit, which is the record's key, too. Out:
a record per visit with all its messages by event time; its key is the ssid. Create the topic of
--out before, with as many partitions.

A partition has a clock of each topic, its newest event time, and shows the smaller of the two. A
visit is complete when that clock has passed its newest message by --timeout. So if one topic is
stuck, its partition waits; heartbeats in both topics keep the clock going.

What it promises: every message that it reads is in a written visit, or in the state until its
visit is complete, also after kill -9. A visit may be written twice: the last record of a key
counts, as long as no message is late.

A checkpoint belongs to its topics and to one running copy: with others, name a new one.

What it loses:
- A record that isn't such JSON, or isn't dated within five minutes of its arrival, isn't merged.
- A message that arrives after its visit was written becomes a visit of its own, under the same
  key.
- A lost checkpoint: the query then starts at the beginning of both topics, and writes all again.
- A topic that runs far ahead of the other isn't stopped: all its messages are kept in the state.
"""

import argparse
import json
import sys
from collections import defaultdict

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SCHEMA = "ssid STRING, timestamp BIGINT"
OUT = "key STRING, value STRING, partition INT"


class Merge(StatefulProcessor):
    """Spark calls it once per partition of the topics and micro-batch, with the new rows."""

    def __init__(self, timeout):
        self.timeout = timeout  # ms

    def init(self, handle):
        """Open the state: the open visits, and the newest event time of each topic."""
        self.visits = handle.getMapState("visits", "ssid STRING", "newest BIGINT, messages STRING")
        self.clocks = handle.getMapState("clocks", "topic STRING", "newest BIGINT")

    def handleInputRows(self, key, rows, timerValues):
        """Put the messages to their visits; return the visits that are now complete."""
        clocks = {topic: newest for (topic,), (newest,) in self.clocks.iterator()}
        arrived = defaultdict(set)
        for row in rows:
            clocks[row.topic] = max(clocks.get(row.topic, 0), row.timestamp)
            if row.ssid is not None:  # a heartbeat only moves the clock
                arrived[row.ssid].add((row.timestamp, row.value))
        for topic, newest in clocks.items():
            self.clocks.updateValue((topic,), (newest,))
        for ssid, messages in arrived.items():
            if self.visits.containsKey((ssid,)):  # a set, since a message may arrive twice
                messages |= set(map(tuple, json.loads(self.visits.getValue((ssid,))[1])))
            self.visits.updateValue((ssid,), (max(messages)[0], json.dumps(sorted(messages))))
        if len(clocks) < 2:  # nobody knows yet how far the other topic is
            return
        due = min(clocks.values()) - self.timeout
        complete = [
            (new, ssid, all_) for (ssid,), (new, all_) in self.visits.iterator() if new < due
        ]
        for _, ssid, messages in sorted(complete):
            self.visits.removeKey((ssid,))
            visit = [json.loads(value) for _, value in json.loads(messages)]
            yield Row(
                key=ssid, value=json.dumps({"ssid": ssid, "messages": visit}), partition=key[0]
            )


def main():
    """Run until the process is ended."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--tracking", "--orders", "--out", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--timeout", type=int, default=120, help="seconds")
    options = command.parse_args()
    try:  # Spark itself would try for minutes
        found = AdminClient({"bootstrap.servers": options.servers}).list_topics(timeout=10).topics
    except KafkaException:
        sys.exit(f"No broker answers at {options.servers} within 10 s. Is it running?")
    if missing := {options.tracking, options.orders, options.out} - set(found):
        sys.exit(
            f"{options.servers} has no topic {', '.join(missing)}. Create it, or correct the name."
        )
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 1):
        sys.exit(f"transformWithState needs Spark 4.1 or newer; this is {pyspark.__version__}.")

    spark = SparkSession.builder.appName("merge visits").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    kafka = {"kafka.bootstrap.servers": options.servers}
    try:
        records = (
            spark.readStream.format("kafka")
            .options(**kafka)
            .option("subscribe", f"{options.tracking},{options.orders}")
            .option("startingOffsets", "earliest")  # at the first start only: then the checkpoint
            .option("maxOffsetsPerTrigger", 100_000)
            .load()
        )
    except AnalysisException:
        sys.exit("Spark has no Kafka source: start it as this file's first lines say.")
    message = F.from_json(F.col("value").cast("string"), SCHEMA)
    arrival = F.unix_millis("timestamp")
    rows = records.select(
        "topic",
        "partition",
        F.col("value").cast("string").alias("value"),
        message["ssid"].alias("ssid"),
        message["timestamp"].alias("timestamp"),
        arrival.alias("arrival"),
    ).where("timestamp BETWEEN 0 AND arrival + 300000")  # one dated 2099 would end all open visits
    query = (
        rows.groupBy("partition")
        .transformWithState(Merge(options.timeout * 1000), OUT, "Append", "None")
        .writeStream.format("kafka")
        .options(**kafka)
        .option("topic", options.out)
        .option("checkpointLocation", options.checkpoint)
        .outputMode("append")
        .start()
    )
    print("The query runs; Ctrl-C ends it.", file=sys.stderr)
    query.awaitTermination()


if __name__ == "__main__":
    main()

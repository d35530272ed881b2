"""Merge page views and orders of the same visit on Spark, by the event time of both topics.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 merge_visits.py \
        --servers localhost:9092 --tracking tracking --orders orders --out visits \
        --checkpoint state/visits

It needs Spark 4.1 or newer (name your version in --packages) and `pip install confluent-kafka`.

In: two topics with the same number of partitions and the same partitioner. A value is a JSON object
with `timestamp` (ms, a whole number) and `ssid`, the visit's id: a text of at most 1,000
characters, which is the record's key, too. A heartbeat has no `ssid`. Out: a record per visit, with
the ssid as key, and all its messages by event time, each once. --out has as many partitions.

The clock of a partition is the newest event time of the topic that is further behind. A visit is
complete when the clock has passed its newest message by --timeout. So if one topic is stuck, its
partition waits; heartbeats in both topics keep the clock going.

What it promises: every message that it reads is in a written visit, or in the state until its
visit is complete, also after kill -9. A visit may be written twice: the last record of a key
counts, if no message is late and spark.speculation is off. A checkpoint belongs to its topics,
their number of partitions, and one running copy: for others, name a new one.

What it loses; of the first kind, each micro-batch says how many records:
- A record that isn't such JSON (as Python reads it), or is dated before 1970, or more than five
  minutes after now or its own timestamp (the producer's, unless the topic has
  message.timestamp.type=LogAppendTime).
- A message that arrives after its visit was written becomes a visit of its own, under the same
  key. So do the messages of a visit beyond 900,000 bytes.
With a lost checkpoint, it starts at the beginning of both topics, and writes all visits again. If
their beginnings are deleted, name an empty --out: the first visits lack messages. A topic that runs
far ahead of the other isn't stopped: the state keeps all its messages.
"""

import argparse
import json
import re
import sys
from collections import defaultdict
from pathlib import Path

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StreamingQueryListener

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
OUT = "key STRING, value STRING, partition INT, lost STRING"
FULL = 900_000  # bytes of a visit: Kafka takes 1 MB
# What the topic took compressed must fit, and Java's producer looks at the size before that.
LARGE = {"kafka.max.request.size": 2**31 - 1, "kafka.buffer.memory": 2**31 - 1}
ZSTD = {"kafka.compression.type": "zstd"}
LOST = "that aren't JSON", "with a wrong field", "dated wrong"
LINE = r"(?m)^[ \t]*(?!\S*\.type)([a-z.]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$"  # of --config
SLOW = " Not enough replicas are in sync, or a quota slows this user down, or no broker answers."
BEYOND = "Spark can't read a record's own timestamp: delete the record, and name a new checkpoint."


def message(value, arrival):
    """Return why a message is lost, or None; its visit, its event time, and its text."""
    try:
        text = value.decode()
        found = json.loads(text, parse_constant=int)  # refuses NaN, which isn't JSON
        json.dumps(found, ensure_ascii=False).encode()  # refuses half a surrogate pair
        ssid, time = found.get("ssid"), found.get("timestamp")
    except (AttributeError, RecursionError, ValueError):
        return LOST[0], None, None, None
    named = ssid is None or (isinstance(ssid, str) and 0 < len(ssid) <= 1000)
    if not named or type(time) is not int:
        return LOST[1], None, None, None
    credible = 0 <= time <= arrival + 300_000  # one dated 2099 would end all open visits
    return None if credible else LOST[2], ssid, time, text


def parts(texts):
    """Halve a visit until each part fits into a record."""
    if len(texts) == 1 or sum(len(text.encode()) for text in texts) <= FULL:
        return [texts]
    half = len(texts) // 2
    return parts(texts[:half]) + parts(texts[half:])


class Merge(StatefulProcessor):
    """Spark calls it once per partition of the topics and micro-batch, with the new rows."""

    def __init__(self, timeout):
        self.timeout = timeout  # ms

    def init(self, handle):
        """Open the state: the open visits, and the newest event time of each topic."""
        self.visits = handle.getMapState("visits", "ssid STRING", "newest BIGINT, messages STRING")
        self.clocks = handle.getMapState("clocks", "topic STRING", "newest BIGINT")

    def handleInputRows(self, key, rows, timerValues):
        """Add the messages to their visits; return the visits that are now complete."""
        clocks = {topic: newest for (topic,), (newest,) in self.clocks.iterator()}
        arrived = defaultdict(set)
        for row in rows:
            lost, ssid, time, text = message(row.value, row.arrival)
            if lost:
                yield Row(key=None, value=None, partition=None, lost=lost)
                continue
            clocks[row.topic] = max(clocks.get(row.topic, 0), time)
            if ssid is not None:  # a heartbeat only moves the clock
                arrived[ssid].add((time, text))
        for topic, newest in clocks.items():
            self.clocks.updateValue((topic,), (newest,))
        for ssid, messages in arrived.items():
            if self.visits.containsKey((ssid,)):  # a set, since a message may arrive twice
                messages |= set(map(tuple, json.loads(self.visits.getValue((ssid,))[1])))
            self.visits.updateValue((ssid,), (max(messages)[0], json.dumps(sorted(messages))))
        # As long as there's no clock of the other topic, nobody knows how far it is.
        due = min(clocks.values()) - self.timeout if len(clocks) == 2 else 0
        complete = [
            (new, ssid, all_)
            for (ssid,), (new, all_) in self.visits.iterator()
            if new < due or len(all_) > FULL
        ]
        for _, ssid, messages in sorted(complete):
            self.visits.removeKey((ssid,))
            for part in parts([text for _, text in json.loads(messages)]):
                visit = f'{{"ssid": {json.dumps(ssid)}, "messages": [{", ".join(part)}]}}'
                yield Row(key=ssid, value=visit, partition=key[0], lost=None)


class Losses(StreamingQueryListener):
    """Print what each micro-batch has lost."""

    def onQueryProgress(self, event):
        counts = [row.asDict().items() for row in event.progress.observedMetrics.values()]
        if lost := [f"{n} {why}" for each in counts for why, n in each if n]:
            print(f"micro-batch {event.progress.batchId}, lost:", ", ".join(lost), file=sys.stderr)

    onQueryStarted = onQueryTerminated = lambda self, event: None  # noqa: N815


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


def for_spark(config):  # returns the same as options of Spark's Kafka source and sink
    java = {n.replace("ca.", "truststore."): "" if v == "none" else v for n, v in config.items()}
    java = {f"kafka.{name}": value for name, value in java.items()}
    java |= {"kafka.ssl.truststore.type": "PEM", "kafka.ssl.keystore.type": "PKCS12"}
    for it, its in ("key", "key"), ("certificate", "certificate.chain"):
        if file := java.pop(f"kafka.ssl.{it}.location", ""):
            if "ENCRYPTED" in (text := Path(file).read_text()):
                sys.exit(
                    f"Spark can't read the locked key in {file}. Name a PKCS12 file of it as "
                    f"ssl.keystore.location: openssl pkcs12 -export -in CERTIFICATE -inkey {file}"
                )
            java[f"kafka.ssl.keystore.{its}"] = f"secret: Spark hides it\n{text}"
            java["kafka.ssl.keystore.type"] = "PEM"
    login = "scram.Scram" if "SCRAM" in config.get("sasl.mechanism", "") else "plain.Plain"
    login = f"org.apache.kafka.common.security.{login}LoginModule required"
    for it in "username", "password":
        login += f" {it}={json.dumps(config.get(f'sasl.{it}'), ensure_ascii=False)}"
    return java | {"kafka.sasl.jaas.config": f"{login};"}


def start(spark, options):
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    kafka = for_spark(options.kafka)
    # At the first start only: then the checkpoint says where to begin.
    begin = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 100_000}
    records = spark.readStream.format("kafka").options(
        **kafka, **begin, subscribe=f"{options.tracking},{options.orders}"
    )
    arrival = F.unix_millis(F.least("timestamp", F.current_timestamp()))
    visits = (
        records.load()
        .select("topic", "partition", "value", arrival.alias("arrival"))
        .groupBy("partition")
        .transformWithState(Merge(options.timeout * 1000), OUT, "Append", "None")
        .observe("lost", *(F.count_if(F.col("lost") == why).alias(why) for why in LOST))
        .where("lost IS NULL")
    )
    return (
        visits.select("key", "value", "partition")
        .writeStream.format("kafka")
        .options(**kafka, **LARGE, **ZSTD, topic=options.out, checkpointLocation=options.checkpoint)
        .outputMode("append")
        .start()
    )


def main():
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--tracking", "--orders", "--out", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--timeout", type=int, default=120, help="seconds")
    command.add_argument("--config", help="Kafka's client settings, as its tools take them")
    options = command.parse_args()
    options.kafka, found = connect(options)
    topics = (options.tracking, options.orders, options.out)
    sizes = {name: len(found[name].partitions) for name in topics if name in found}
    for name in set(topics) - set(sizes):
        create = f"kafka-topics --bootstrap-server {options.servers} --create --topic {name}"
        create += f" --partitions {max(sizes.values(), default=1)}"
        sys.exit(f"{options.servers} has no topic {name}. Correct the name, or create it: {create}")
    if len(sizes) < 3 or len(set(sizes.values())) > 1:
        sys.exit(f"Name three topics with the same number of partitions, instead of {sizes}.")
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 1):
        sys.exit(f"transformWithState needs Spark 4.1 or newer; this is {pyspark.__version__}.")

    spark = SparkSession.builder.appName("merge visits").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.streams.addListener(Losses())
    try:
        query = start(spark, options)
        print("The query runs; Ctrl-C ends it.", file=sys.stderr)
        query.awaitTermination()
    except (AnalysisException, StreamingQueryException) as error:
        why = str(error).splitlines()[0] + SLOW * ("Expiring" in str(error))
        sys.exit(BEYOND if "long overflow" in str(error) else why)


if __name__ == "__main__":
    main()

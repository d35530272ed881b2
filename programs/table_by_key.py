"""Keep a table on Spark: the newest value of each key, as long as a condition holds for it.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 table_by_key.py \
        --servers localhost:9092 --topic positions --out us-positions --checkpoint state/us \
        --where "get_json_object(value, '$.exchange') IN ('NYSE', 'NASDAQ')"

It needs Spark 4.1 or newer (name your version in --packages) and `pip install confluent-kafka`.

In: a topic whose newest record per key counts, such as a compacted one. A record without a value,
a tombstone, deletes its key. --where sees key and value as text. Out: a topic of the same kind,
with the newest value of each key for which --where holds, and a tombstone for each key that has
left the table; keys and values are copied byte for byte.

Within a partition, a key's newest record has the highest offset. If a key is in several partitions,
because some were added or producers partition differently, the latest timestamp counts. So the
state remembers each key that was ever read, also a deleted one.

What it promises: when all input has been read, the last record of each key in the result is what
a recomputation of the whole input gives, also after kill -9. A record may be written twice. With
spark.speculation, or if Spark gave up an executor that still runs, the last record may be an older
one. A checkpoint belongs to its topics and to one running copy: for others, name a new one.

What it loses; of the first two kinds, each micro-batch says how many records:
- A record without a key, and one older than its key's record in another partition.
- A value for which --where fails is like one for which it doesn't hold: its key is deleted.
  But a regular expression such as (a|b)* ends the program at a long value: it fills Java's stack.
- If a key changes more than once between two micro-batches, only the newest value is written.
- With a lost checkpoint, or if a stop or the first read takes longer than the topic's
  delete.retention.ms, it may miss tombstones that were compacted away. Then delete the checkpoint
  and the result, and start from the beginning.
"""

import argparse
import json
import re
import sys
from pathlib import Path

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor, StreamingQueryListener

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
# What the topic took compressed must fit, and Java's producer looks at the size before that.
LARGE = {"kafka.max.request.size": 2**31 - 1, "kafka.buffer.memory": 2**31 - 1}
ZSTD = {"kafka.compression.type": "zstd"}
OUT = "key BINARY, value BINARY, lost STRING"
OLDER = "older than their key's record in another partition"
LINE = r"(?m)^[ \t]*(?!\S*\.type)([a-z.]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$"  # of --config
SLOW = " Not enough replicas are in sync, or a quota slows this user down, or no broker answers."
BEYOND = "Spark can't read a record's own timestamp: delete the record, and name a new checkpoint."


class Table(StatefulProcessor):
    """Spark calls it once per key and micro-batch, with the key's new records."""

    def init(self, handle):
        """Open the state: the place of the key's newest record, and whether it's in the table."""
        self.newest = handle.getValueState("newest", "time BIGINT, partition INT, inside BOOLEAN")

    def handleInputRows(self, key, rows, timerValues):
        """Return the key's newest value, or a tombstone if it leaves the table."""
        held = (*self.newest.get(), None) if self.newest.exists() else None
        last = {held[1]: held} if held else {}  # the last record of each partition
        for row in sorted(rows, key=lambda row: row.offset):
            # Within a partition no record is older than the one before, whatever clocks say.
            time = max(row.time, last[row.partition][0]) if row.partition in last else row.time
            last[row.partition] = (time, row.partition, row.holds == "true", row.v)
        newest = max(last.values(), key=lambda record: record[:2], default=held)
        for record in last.values():
            if record is not newest and record is not held:
                yield Row(key=None, value=None, lost=OLDER)
        if newest is not held:
            self.newest.update(newest[:3])
            if newest[2] or (held and held[2]):
                yield Row(key=key[0], value=newest[3] if newest[2] else None, lost=None)


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
    # Else what --where has twice is evaluated before it, and there an error would end the query.
    spark.conf.set("spark.sql.subexpressionElimination.enabled", False)
    kafka = for_spark(options.kafka)
    # At the first start only: then the checkpoint says where to begin.
    begin = {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 100_000}
    records = spark.readStream.format("kafka").options(**kafka, **begin, subscribe=options.topic)
    # `try_to_binary` makes any error in --where a null.
    holds = f"string(try_to_binary(string(coalesce(({options.where}\n), false)), 'utf-8'))"
    place = ["key AS k", "value AS v", "unix_millis(timestamp) AS time", "partition", "offset"]
    table = (
        records.load()
        .selectExpr(*place, "string(key) AS key", "string(value) AS value")
        .withColumn("holds", F.expr(f"IF(v IS NULL, 'false', {holds})"))
        .drop("key", "value")
        .observe(
            "read",
            F.count_if(F.isnull("k")).alias("without a key"),
            F.count_if(F.isnull("holds")).alias("for which --where fails"),
        )
        .where("k IS NOT NULL")
        .groupBy("k")
        .transformWithState(Table(), OUT, "Append", "None")
        .observe("written", F.count("lost").alias(OLDER))
        .where("lost IS NULL")
    )
    return (
        table.select("key", "value")
        .writeStream.format("kafka")
        .options(**kafka, **LARGE, **ZSTD, topic=options.out, checkpointLocation=options.checkpoint)
        .outputMode("append")
        .start()
    )


def main():
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--where", default="true", help="Spark SQL on key and value, as text")
    command.add_argument("--config", help="Kafka's client settings, as its tools take them")
    options = command.parse_args()
    options.kafka, found = connect(options)
    for name in {options.topic, options.out} - set(found):
        create = f"kafka-topics --bootstrap-server {options.servers} --create --topic {name}"
        create += " --config cleanup.policy=compact"
        sys.exit(f"{options.servers} has no topic {name}. Correct the name, or create it: {create}")
    if options.topic == options.out:
        sys.exit("--out must be another topic than --topic: the query would read what it writes.")
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 1):
        sys.exit(f"transformWithState needs Spark 4.1 or newer; this is {pyspark.__version__}.")

    spark = SparkSession.builder.appName("table by key").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.streams.addListener(Losses())
    try:
        query = start(spark, options)
        print("The query runs; Ctrl-C ends it.", file=sys.stderr)
        query.awaitTermination()
    except AnalysisException as error:
        sys.exit(f"Spark refuses --where or --packages: {str(error).strip().splitlines()[0]}")
    except StreamingQueryException as error:
        why = str(error).splitlines()[0] + SLOW * ("Expiring" in str(error))
        sys.exit(BEYOND if "long overflow" in str(error) else why)


if __name__ == "__main__":
    main()

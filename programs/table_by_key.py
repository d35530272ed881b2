"""Keep a table on Spark: of each key the newest value, as long as a condition holds for it.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 table_by_key.py \
        --servers localhost:9092 --topic positions --out us-positions --checkpoint state/us \
        --where "get_json_object(value, '$.exchange') IN ('NYSE', 'NASDAQ')"

It needs Spark 4.1 or newer (name your version in --packages) and `pip install confluent-kafka`.

In: a topic whose newest record per key counts, such as a compacted one. A record without a value,
a tombstone, deletes its key. Out: the same kind of topic. It has the newest value of each key for
which --where holds, and a tombstone for each key that no longer belongs to the table. Create the
topic of --out before, with cleanup.policy=compact.

What it promises: when all input has been read, the last record of each key in the result is what
a recomputation of the whole input gives, also after kill -9. A record may be written twice.

A checkpoint belongs to its topics and to one running copy: with others, name a new one.

What it loses:
- A value that --where can't read is like one for which it doesn't hold: its key is deleted.
- Between two micro-batches a key may change more than once: only the newest value is written.
- Stopped for longer than the topic's delete.retention.ms, it may miss tombstones that were
  compacted away. Then delete the checkpoint and the result, and start from the beginning.
"""

import argparse
import sys

import pyspark
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

ROCKS = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


class Table(StatefulProcessor):
    """Spark calls it once per key and micro-batch. It has state only for keys in the table."""

    def init(self, handle):
        """Open the state: whether the key is in the table."""
        self.inside = handle.getValueState("inside", "inside BOOLEAN")

    def handleInputRows(self, key, rows, timerValues):
        """Return the key's newest value, or a tombstone if it leaves the table."""
        newest = max(rows, key=lambda row: row.offset)
        if newest.holds:
            self.inside.update((True,))
            yield Row(key=key[0], value=newest.value)
        elif self.inside.exists():
            self.inside.clear()
            yield Row(key=key[0], value=None)


def main():
    """Run until the process is ended."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument(
        "--where", default="true", help="a condition of Spark SQL on key and value"
    )
    options = command.parse_args()
    try:  # Spark itself would try for minutes
        found = AdminClient({"bootstrap.servers": options.servers}).list_topics(timeout=10).topics
    except KafkaException:
        sys.exit(f"No broker answers at {options.servers} within 10 s. Is it running?")
    if missing := {options.topic, options.out} - set(found):
        sys.exit(
            f"{options.servers} has no topic {', '.join(missing)}. Create it, or correct the name."
        )
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < (4, 1):
        sys.exit(f"transformWithState needs Spark 4.1 or newer; this is {pyspark.__version__}.")

    spark = SparkSession.builder.appName("table by key").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.conf.set("spark.sql.streaming.stateStore.providerClass", ROCKS)
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    kafka = {"kafka.bootstrap.servers": options.servers}
    try:
        records = (
            spark.readStream.format("kafka")
            .options(**kafka)
            .option("subscribe", options.topic)
            .option("startingOffsets", "earliest")  # at the first start only: then the checkpoint
            .option("maxOffsetsPerTrigger", 100_000)
            .load()
        )
    except AnalysisException:
        sys.exit("Spark has no Kafka source: start it as this file's first lines say.")
    rows = records.where("key IS NOT NULL").selectExpr(
        "CAST(key AS STRING) AS key", "CAST(value AS STRING) AS value", "offset"
    )
    condition = F.coalesce(F.expr(options.where), F.lit(False)) & F.col("value").isNotNull()
    query = (
        rows.withColumn("holds", condition)
        .groupBy("key")
        .transformWithState(Table(), "key STRING, value STRING", "Append", "None")
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

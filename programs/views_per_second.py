"""Count the page views of each second on Spark, and write the counts to a Kafka topic.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 views_per_second.py \
        --servers localhost:9092 --topic clicks --out metrics --checkpoint state/metrics

It needs Spark 4.0 or newer (name your version in --packages) and `pip install confluent-kafka`.

In: records whose value is JSON such as {"click_type": "Page", "timestamp": 1700000000123, …},
with the event time in milliseconds. Out: a record per second that had page views, with the second
as key and their number as value, both as text, in no order. Create the topic of --out before.

What it promises: every counted page view is in a metric, also after kill -9. A metric may be
written twice, so readers keep the last value of each key. A checkpoint belongs to one --topic and
one --out, and to one running copy: with others, delete it or name a new one.

What it loses:
- A page view more than --lateness behind the newest counted page view of the whole topic. Spark's
  progress counts such rows: `stateOperators[0].numRowsDroppedByWatermark`.
- A record that isn't such JSON, or is dated more than five minutes after its arrival.
- The last seconds before the stream becomes quiet are written once newer page views arrive.
- With a lost checkpoint the query counts the topic again from its beginning.
"""

import argparse
import sys

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F


def page_views(records: DataFrame) -> DataFrame:
    """Parse the records of Kafka, and keep the page views with a credible time (column `time`)."""
    click = F.from_json(F.col("value").cast("string"), "click_type STRING, timestamp BIGINT")
    parsed = records.select(click.alias("click"), F.col("timestamp").alias("arrival"))
    time = F.timestamp_millis("click.timestamp")
    # Without the upper bound, one record dated 2099 would move the watermark, and all others were
    # too late for ever.
    five = F.expr("INTERVAL 5 MINUTES")
    credible = (time >= F.timestamp_seconds(F.lit(0))) & (time <= F.col("arrival") + five)
    return parsed.where((F.col("click.click_type") == "Page") & credible).select(time.alias("time"))


def per_second(views: DataFrame, lateness: str) -> DataFrame:
    """Count the views of each second; a second is complete once the watermark has passed it."""
    windows = views.withWatermark("time", lateness).groupBy(F.window("time", "1 second")).count()
    return windows.select(
        F.unix_timestamp("window.start").cast("string").alias("key"),
        F.col("count").cast("string").alias("value"),
    )


def main() -> None:
    """Run until the process is ended."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--lateness", default="5 seconds", help="default: 5 seconds")
    options = command.parse_args()
    try:  # Spark itself would try for minutes
        found = AdminClient({"bootstrap.servers": options.servers}).list_topics(timeout=10).topics
    except KafkaException:
        sys.exit(f"No broker answers at {options.servers} within 10 s. Is it running?")
    if missing := {options.topic, options.out} - set(found):
        sys.exit(
            f"{options.servers} has no topic {', '.join(missing)}. Create it, or correct the name."
        )

    spark = SparkSession.builder.appName("views per second").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    kafka = {"kafka.bootstrap.servers": options.servers}
    try:
        records = (
            spark.readStream.format("kafka")
            .options(**kafka)
            .option("subscribe", options.topic)
            .option("startingOffsets", "earliest")  # at the first start only: then the checkpoint
            .option("maxOffsetsPerTrigger", 1_000_000)  # a backlog is read in parts
            .load()
        )
    except AnalysisException:
        sys.exit("Spark has no Kafka source: start it as this file's first lines say.")
    query = (
        per_second(page_views(records), options.lateness)
        .writeStream.format("kafka")
        .options(**kafka)
        .option("topic", options.out)
        .option("kafka.acks", "all")  # delivered means: on every in-sync replica
        .option("checkpointLocation", options.checkpoint)
        .outputMode("append")  # a second is written once, when it's complete
        .start()
    )
    print("The query runs; Ctrl-C ends it.", file=sys.stderr)
    query.awaitTermination()


if __name__ == "__main__":
    main()

"""Count the page views of each second on Spark, and write the counts to a Kafka topic.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 views_per_second.py \
        --servers localhost:9092 --topic clicks --out metrics --checkpoint state/views

It needs Spark 4.0 or newer (name your version in --packages) and `pip install confluent-kafka`.

In: records whose value is JSON such as {"click_type": "Page", "timestamp": 1700000000123, …},
with the event time in milliseconds. Another click_type is no page view. Out: a record per second
that had page views, with the second as key and their number as value, both as text, in no order.

What it promises: every counted page view is in a metric, also after kill -9. A metric may be
written twice, so readers keep the last value of each key. A checkpoint belongs to one --out and to
one running copy: for others, delete it or name a new one. In its folder, a recreated topic gets a
checkpoint of its own.

What it loses, and says on stderr after each micro-batch:
- A page view more than --lateness behind the newest counted page view of the whole topic. In a
  backlog, partitions that differ by more lose many that were in order: choose a longer --lateness.
  Spark says how many seconds were too late, not how many page views they had.
- A record that isn't JSON, or has no click_type, or no whole number as timestamp.
- A page view whose record has no timestamp, or that is dated before 1970, or more than five
  minutes after now or its record's timestamp (the producer's, unless the topic has
  message.timestamp.type=LogAppendTime).
The last seconds before the stream becomes quiet are written once newer page views arrive.

It ends if retention deletes what it hasn't read, if the topic is recreated, and at a record whose
own timestamp is after the year 294,246. With a lost checkpoint it counts again what the topic still
has. If its beginning is deleted, name an empty --out: smaller numbers would overwrite right ones.
"""

import argparse
import json
import re
import sys
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from confluent_kafka import KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StreamingQuery, StreamingQueryListener

LINE = r"(?m)^[ \t]*(?!\S*\.type)([a-z.]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$"  # of --config
SLOW = " Not enough replicas are in sync, or a quota slows this user down, or no broker answers."
LOST = ("that aren't JSON", "with a wrong field", "dated wrong")


def page_views(records: DataFrame) -> DataFrame:
    """Parse the records of Kafka, and keep the page views with a credible time (column `time`)."""
    # The last element is ours: without it, what follows a record's JSON would be overlooked.
    mine = uuid4().hex  # so no record has it
    text = f"""IF(is_valid_utf8(value), '[' || string(value) || ',{{"end":"{mine}"}}]', NULL)"""
    schema = "ARRAY<STRUCT<click_type STRING, timestamp BIGINT, end STRING>>"
    strict = {"allowSingleQuotes": "false", "allowNonNumericNumbers": "false"}
    array = F.from_json(F.expr(text), schema, strict).alias("array")
    # Without an upper bound, one record dated 2099 would move the watermark, and all others were
    # too late for ever. Numbers are compared: Spark has no time for each of them.
    lost = F.expr(f"""CASE
        WHEN NOT ifnull(size(array) = 2 AND get(array, 1).end = '{mine}', false) THEN "{LOST[0]}"
        WHEN click.click_type != 'Page' THEN 'another click_type'
        WHEN click.click_type IS NULL OR click.timestamp IS NULL THEN '{LOST[1]}'
        WHEN click.timestamp < 0 OR click.timestamp - 300000 >
            least(unix_millis(timestamp), unix_millis(now())) THEN '{LOST[2]}' END""")
    parsed = records.select("timestamp", array).selectExpr("*", "get(array, 0) AS click")
    counts = (F.count_if(F.col("lost") == why).alias(why) for why in LOST)
    judged = parsed.withColumn("lost", lost).observe("lost", *counts)
    time = "IF(lost IS NULL, timestamp_millis(click.timestamp), NULL) AS time"
    return judged.selectExpr(time).where("time IS NOT NULL")


def per_second(views: DataFrame, lateness: str) -> DataFrame:
    """Count the views of each second; a second is complete once the watermark has passed it."""
    windows = views.withWatermark("time", lateness).groupBy(F.window("time", "1 second")).count()
    return windows.select(
        F.unix_timestamp("window.start").cast("string").alias("key"),
        F.col("count").cast("string").alias("value"),
    )


class Losses(StreamingQueryListener):
    """Print what each micro-batch has lost."""

    onQueryStarted = onQueryTerminated = lambda self, event: None  # noqa: N815

    def onQueryProgress(self, event):
        counts = [row.asDict().items() for row in event.progress.observedMetrics.values()]
        late = sum(each.numRowsDroppedByWatermark for each in event.progress.stateOperators)
        counts.append([("seconds whose page views were too late", late)])
        if lost := [f"{n} {why}" for each in counts for why, n in each if n]:
            print(f"micro-batch {event.progress.batchId}, lost:", ", ".join(lost), file=sys.stderr)


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


def start(spark: SparkSession, options: argparse.Namespace) -> StreamingQuery:
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    kafka = for_spark(options.kafka)
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
    return (
        per_second(page_views(records), options.lateness)
        .writeStream.format("kafka")
        .options(**kafka)
        .option("topic", options.out)
        .option("kafka.acks", "all")  # delivered means: on every in-sync replica
        .option("checkpointLocation", options.checkpoint)
        .outputMode("append")  # a second is written once, when it's complete
        .start()
    )


def topic_id(admin: AdminClient, topic: str) -> str:
    """Return the topic's id; a recreated topic has another."""
    asked = admin.describe_topics(TopicCollection([topic]))
    return str(asked[topic].result().topic_id).replace("/", "_")


def refuse_smaller_numbers(spark, admin, topics, options) -> None:
    """End the program if it would count again what retention has cut, over right metrics."""
    try:
        spark.read.text(f"{options.checkpoint}/offsets")
    except AnalysisException:  # the checkpoint is new
        first, end = OffsetSpec.earliest(), OffsetSpec.latest()
        for name, spec in (options.topic, first), (options.out, end):
            places = [TopicPartition(name, number) for number in topics[name].partitions]
            asked = admin.list_offsets(dict.fromkeys(places, spec)).values()
            if not any(each.result().offset for each in asked):
                return  # nothing is cut, or there are no metrics
        sys.exit(
            f"The beginning of {options.topic} is deleted, and the checkpoint is new: name an "
            "empty --out, or smaller numbers would overwrite right ones."
        )


def main() -> None:
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--lateness", default="5 seconds", help="default: 5 seconds")
    command.add_argument("--config", help="Kafka's client settings, as its tools take them")
    options = command.parse_args()
    options.kafka, topics = connect(options)
    asks = {**options.kafka, "log_level": 0}
    admin = AdminClient(asks)
    for name in {options.topic, options.out} - set(topics):
        create = f"kafka-topics --bootstrap-server {options.servers} --create --topic {name}"
        sys.exit(f"{options.servers} has no topic {name}. Correct the name, or create it: {create}")

    spark = SparkSession.builder.appName("views per second").getOrCreate()
    spark.sparkContext.setLogLevel("FATAL")  # what ends the query is said below
    spark.streams.addListener(Losses())
    first = topic_id(admin, options.topic)
    options.checkpoint += f"/{first}"
    refuse_smaller_numbers(spark, admin, topics, options)
    query = start(spark, options)
    print("The query runs; Ctrl-C ends it.", file=sys.stderr)
    try:
        while not query.awaitTermination(5):
            with suppress(KafkaException):  # a broker that doesn't answer now
                # By a client of its own: after a broker's restart, an old one may be refused.
                if topic_id(AdminClient(asks), options.topic) != first:
                    sys.exit(f"{options.topic} was deleted and created again: start again.")
    except StreamingQueryException as error:
        why = str(error).splitlines()[0] + SLOW * ("Expiring" in str(error))
        if "overflow" in why:  # Spark can't read a record's own timestamp, whatever it is told
            why += f" Delete the records of {options.topic} up to it, and use a new --checkpoint."
        sys.exit(f"The query has ended: {why}")
    except KeyboardInterrupt:
        sys.exit("Ended.")


if __name__ == "__main__":
    main()

"""Count actions by ad, day and type on Spark into PostgreSQL, each exactly once.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0,\
org.apache.spark:spark-avro_2.13:4.2.0 counts_into_postgres.py \
        --servers localhost:9092 --topic ad_actions --registry http://localhost:8081 \
        --database postgresql://user@localhost/ads --checkpoint state/counts

It needs Spark 4.0 or newer (name your version in --packages) and `pip install confluent-kafka
psycopg`.

In: Avro with the schema registry's five bytes before it, with the fields ad, type, owner and time
(ms). Out: the table `action_counts`, which the program creates. Actions of an ad's owner aren't
counted.

What it promises: each action is counted once, also after kill -9. A micro-batch's counts and its
number, the *fence*, are committed in one transaction. If Spark repeats a micro-batch, the fence
shows that it's already counted. A record with the same bytes that arrives within --horizon of the
first one is a duplicate, and isn't counted.

A checkpoint belongs to its topic and tables, and to one running copy.

What it loses:
- A record that can't be read, or isn't dated within five minutes of its arrival. The program says
  how many there were in each micro-batch.
- A record that arrived more than --horizon before the newest one that was read. That happens in a
  backlog, if one partition is read far ahead of another.
- A lost checkpoint: a new one is refused, since it would count everything again. Drop both tables.
"""

import argparse
import json
import sys
import urllib.request

import psycopg
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro

TABLES = """
CREATE TABLE IF NOT EXISTS action_counts (
    ad text, day date, type text, count bigint NOT NULL, PRIMARY KEY (ad, day, type));
CREATE TABLE IF NOT EXISTS fence (query text PRIMARY KEY, batch bigint NOT NULL)
"""
ADD = """
INSERT INTO action_counts AS old VALUES (%s, %s, %s, %s)
ON CONFLICT (ad, day, type) DO UPDATE SET count = old.count + excluded.count
"""
FIELDS = ("ad", "type", "owner", "time")


def schemas(registry, subject):
    """Ask the registry for all versions of the subject: their schemas by id."""

    def ask(path):
        with urllib.request.urlopen(
            f"{registry}/subjects/{subject}/versions{path}", timeout=10
        ) as it:
            return json.load(it)

    return {found["id"]: found["schema"] for found in (ask(f"/{n}") for n in ask(""))}


def actions(records, known):
    """Decode each record by the schema whose id it carries; an unreadable one has no time."""
    # Five bytes come first: a zero, and the schema's id.
    id_ = F.expr("IF(hex(value) LIKE '00%', INT(conv(hex(substring(value, 2, 4)), 16, 10)), NULL)")
    body, lenient = F.expr("substring(value, 6)"), {"mode": "PERMISSIVE"}
    read = {number: from_avro(body, schema, lenient) for number, schema in known.items()}
    fields = [F.when(id_ == n, F.struct(*(row[f] for f in FIELDS))) for n, row in read.items()]
    return records.select("timestamp", F.coalesce(*fields).alias("action")).select(
        "timestamp", "action.*"
    )


def write(batch, number, spark, options, known):
    """Add a micro-batch's counts, unless the fence says that it was added before."""
    [query] = spark.streams.active  # the batch's own session is a copy that knows no query
    arrival = F.unix_millis("timestamp")
    credible = F.coalesce(F.col("time").between(0, arrival + 300_000), F.lit(False))
    day = F.when(credible & F.col("ad").isNotNull(), F.to_date(F.timestamp_millis("time")))
    mine = batch.withColumn("day", day).where("owner IS NOT TRUE")
    rows = mine.groupBy("ad", "day", "type").count().collect()  # not a row per action
    good = [tuple(row) for row in rows if row.day]
    if bad := sum(row["count"] for row in rows if not row.day):
        print(f"micro-batch {number}: {bad} records can't be counted", file=sys.stderr)
        if schemas(options.registry, f"{options.topic}-value").keys() - known.keys():
            raise RuntimeError("The registry has a new schema. Start again to read it.")
    with psycopg.connect(options.database) as db:  # one transaction
        db.execute("INSERT INTO fence VALUES (%s, -1) ON CONFLICT DO NOTHING", [query.id])
        if db.execute("SELECT count(*) FROM fence").fetchone() != (1,):
            raise RuntimeError("Another checkpoint has counted into these tables. Use that one.")
        fence = "UPDATE fence SET batch = %s WHERE batch < %s"
        if db.execute(fence, [number, number]).rowcount:
            db.cursor().executemany(ADD, good)


def main():
    """Run until the process is ended."""
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--registry", "--database", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--horizon", default="1 hour", help="how long duplicates are recognised")
    options = command.parse_args()
    try:
        found = AdminClient({"bootstrap.servers": options.servers}).list_topics(timeout=10).topics
        known = schemas(options.registry, f"{options.topic}-value")
        with psycopg.connect(options.database, connect_timeout=10) as db:
            db.execute(TABLES)
    except KafkaException:
        sys.exit(f"No broker answers at {options.servers} within 10 s. Is it running?")
    except OSError as error:
        sys.exit(f"No schemas of {options.topic}-value at {options.registry}: {error}")
    except psycopg.Error as error:
        sys.exit(f"PostgreSQL refuses, see --database: {str(error).splitlines()[0]}")
    if options.topic not in found:
        sys.exit(f"{options.servers} has no topic {options.topic}. Create it, or correct the name.")

    spark = SparkSession.builder.appName("counts into PostgreSQL").getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.conf.set("spark.sql.session.timeZone", "Europe/Oslo")  # where a day begins
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    try:
        records = (
            spark.readStream.format("kafka")
            .option("kafka.bootstrap.servers", options.servers)
            .option("subscribe", options.topic)
            .option("startingOffsets", "earliest")  # at the first start only: then the checkpoint
            .option("maxOffsetsPerTrigger", 1_000_000)
            .load()
        )
    except AnalysisException:
        sys.exit("Spark has no Kafka source: start it as this file's first lines say.")
    once = records.withWatermark("timestamp", options.horizon).withColumn("hash", F.md5("value"))
    query = (
        actions(once.dropDuplicatesWithinWatermark(["hash"]), known)
        .writeStream.option("checkpointLocation", options.checkpoint)
        .foreachBatch(lambda batch, number: write(batch, number, spark, options, known))
        .start()
    )
    print("The query runs; Ctrl-C ends it.", file=sys.stderr)
    query.awaitTermination()


if __name__ == "__main__":
    main()

"""Count actions by ad, day and type on Spark into PostgreSQL, each exactly once.

    spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0,\
org.apache.spark:spark-avro_2.13:4.2.0 counts_into_postgres.py \
        --servers localhost:9092 --topic ad_actions --registry http://localhost:8081 \
        --database postgresql://user@localhost/ads --checkpoint state/counts

All users of a machine see its command lines. So give PostgreSQL's password in DATABASE_URL or
PGPASSFILE, and the registry's in SCHEMA_REGISTRY_URL (https://user:password@host).
SCHEMA_REGISTRY_CA_LOCATION names the file of the registry's CA. The program needs Spark 4.0 or
newer (name your version in --packages) and `pip install confluent-kafka psycopg`.

In: Avro after the schema registry's five bytes. All records are read by the newest schema. It has
the fields ad, type, owner and time (ms, or an Avro timestamp). Out: the table `action_counts`,
which the program creates. Actions of an ad's owner aren't counted.

What it promises: each action is counted once, also after kill -9. One transaction commits the
counts of a micro-batch, its number and its offsets, the *fence*. If Spark repeats a micro-batch,
the fence shows that it's already counted. A record that arrives within --horizon of one with the
same bytes is a duplicate, and isn't counted.

A checkpoint belongs to its topic and tables, and to one running copy. If it is lost or rolled back,
the program ends, because it would count actions again or never. Then drop both tables, and name a
new checkpoint.

What it loses, and says after each micro-batch:
- A record that can't be read: not Avro, of an unknown schema, or without an ad, a type or a time.
- An action dated before 1970, or more than five minutes after now or its record's timestamp (the
  producer's, unless the topic has message.timestamp.type=LogAppendTime).
- What PostgreSQL refuses, such as an ad with a NUL.
- In a backlog of several partitions, a record more than --horizon older than the newest one read.
"""

import argparse
import json
import os
import re
import ssl
import sys
import urllib.request
from base64 import b64encode
from http.client import HTTPException
from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
from py4j.protocol import Py4JError
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro
from pyspark.sql.streaming import StreamingQueryListener

TABLES = """
CREATE TABLE IF NOT EXISTS action_counts (
    ad text, day date, type text, count bigint NOT NULL, PRIMARY KEY (ad, day, type));
CREATE TABLE IF NOT EXISTS fence (query text PRIMARY KEY, batch bigint NOT NULL, offsets text);
ALTER TABLE fence ADD COLUMN IF NOT EXISTS offsets text
"""
ADD = """
INSERT INTO action_counts AS old VALUES (%s, %s, %s, %s)
ON CONFLICT (ad, day, type) DO UPDATE SET count = old.count + excluded.count
"""
REFUSED = psycopg.DataError, psycopg.IntegrityError, psycopg.errors.ProgramLimitExceeded
NONSENSE = OSError, HTTPException, ValueError, LookupError, TypeError  # of a registry
FIELDS = {"ad": "string", "type": "string", "owner": "boolean", "time": "bigint"}
LIMITED = ("bytes", "string", "collectionItems")  # else 14 bytes that announce 2 GB end Java
LIMITS = {f"org.apache.avro.limits.{it}.maxLength": "10000000" for it in LIMITED}
UNKNOWN = "with an unknown schema"
ANEW = "drop both tables, and name a new --checkpoint."
LOST: dict = {}  # by micro-batch: what `write` has found
LINE = r"(?m)^[ \t]*(?!\S*\.type)([a-z.]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$"  # of --config
BEYOND = "Spark can't read a record's own timestamp. Delete the record, " + ANEW


def schemas(registry, subject):
    """Ask the registry for all versions of the subject: by id, all texts that a schema needs."""
    url = urlsplit(registry)
    user, _, host = url.netloc.rpartition("@")
    login = {"Authorization": f"Basic {b64encode(unquote(user).encode()).decode()}"} if user else {}
    trusted = ssl.create_default_context(cafile=os.environ.get("SCHEMA_REGISTRY_CA_LOCATION"))

    def ask(subject, version=""):
        path = f"{url.scheme}://{host}{url.path}/subjects/{subject}/versions/{version}".rstrip("/")
        request = urllib.request.Request(path, headers=login)
        with urllib.request.urlopen(request, timeout=10, context=trusted) as answer:
            return json.load(answer)

    def texts(found):
        needed = (ask(it["subject"], it["version"]) for it in found.get("references") or ())
        return [*(text for each in needed for text in texts(each)), found["schema"]]

    return {found["id"]: texts(found) for found in (ask(subject, n) for n in ask(subject))}


def parsed(spark, texts):
    """Return a schema as one text, or None if it isn't Avro."""
    parser = spark._jvm.org.apache.avro.Schema.Parser()
    try:  # a text may name types of the texts before it
        return [parser.parse(text).toString() for text in dict.fromkeys(texts)][-1]
    except Py4JError:
        return None


def plain(field, kind, to):
    """Cast a field to the program's own type; what can't be cast is null."""
    if kind.typeName() == "struct" and kind.names[0] == "member0":  # a union
        return F.coalesce(*(plain(field[it.name], it.dataType, to) for it in kind))
    time = to == "bigint" and kind.typeName().startswith("timestamp")
    return F.unix_millis(field.cast("timestamp")) if time else field.try_cast(to)


def actions(records, known, read):
    """Decode each record by the schema whose id it carries; `lost` says why it can't be counted."""

    def has(numbers):
        heads = (F.lit(b"\0" + number.to_bytes(4, "big")) for number in numbers)
        return F.substring("value", 1, 5).isin(*heads)

    options = {"mode": "PERMISSIVE", "avroSchema": [*read.values()][-1]}
    body = F.expr("substring(value, 6)")
    found = [F.when(has([n]), from_avro(body, text, options)) for n, text in read.items()]
    arrival = F.least("timestamp", F.current_timestamp()).alias("arrival")
    rows = records.select("*", arrival, F.coalesce(*found).alias("action"))
    kinds = rows.schema["action"].dataType
    if missing := FIELDS.keys() - {*getattr(kinds, "names", ())}:
        sys.exit(f"The newest schema has no field {', '.join(missing)}.")
    fields = [plain(F.col("action")[n], kinds[n].dataType, to).alias(n) for n, to in FIELDS.items()]
    in_header = F.expr("exists(headers, it -> it.key = '__value_schema_id')")
    lost = (
        F.when(~has(known) & in_header, "that have their schema's id in a header")
        .when(F.expr("nvl(hex(substring(value, 1, 1)) != '00', true)"), "that aren't Avro")
        .when(~has(known), UNKNOWN)
        .when(~has(read), "with a schema that isn't Avro")
        .when(F.expr("isnull(ad || type || time)"), "that don't fit, or lack ad, type or time")
        .when(F.expr("NOT is_valid_utf8(ad || type)"), "that aren't UTF-8")
        .when(F.expr("time NOT BETWEEN 0 AND unix_millis(arrival) + 300000"), "dated wrong")
    )
    good = "lost IS NULL AND owner IS NOT TRUE"
    return rows.select("*", *fields, lost.alias("lost")).selectExpr(
        *("arrival", "lost", f"IF({good}, ad, NULL) AS ad", f"IF({good}, type, NULL) AS type"),
        f"to_date(timestamp_millis(IF({good}, time, NULL))) AS day",
        "IF(lost IS NULL, md5(value), partition || '/' || offset) AS hash",  # none is repeated
    )


def add(db, rows):
    """Add the counts, and return the rows that PostgreSQL refuses."""
    try:
        with db.transaction():  # or a savepoint
            db.cursor().executemany(ADD, rows)
    except REFUSED:
        half = len(rows) // 2
        return add(db, rows[:half]) + add(db, rows[half:]) if half else rows
    return []


class Losses(StreamingQueryListener):
    """Print what each micro-batch has lost: what `write` has found, and what was too late."""

    def onQueryProgress(self, event):
        lost = LOST.pop(event.progress.batchId, {})
        late = sum(it.numRowsDroppedByWatermark for it in event.progress.stateOperators)
        if said := [f"{n} {why}" for why, n in {**lost, "too late": late}.items() if n]:
            print(f"micro-batch {event.progress.batchId}, lost:", ", ".join(said), file=sys.stderr)

    onQueryStarted = onQueryTerminated = lambda self, event: None  # noqa: N815


def write(batch, number, options, known):
    """Add a micro-batch's counts, unless the fence says that it was added before."""
    spark = batch.sparkSession
    rows = batch.groupBy("ad", "day", "type", "lost").count().collect()  # not a row per action
    lost = LOST[number] = {row.lost: row["count"] for row in rows if row.lost}
    if (
        UNKNOWN in lost
        and schemas(options.registry, f"{options.topic}-value").keys() - known.keys()
    ):
        raise RuntimeError("The registry has a new schema. Start again to read it.")
    log = spark.read.text(f"{options.checkpoint}/offsets/{number}", wholetext=True).first()[0]
    offsets = log.splitlines()[-1]  # where the micro-batch ends
    query = spark.read.json(f"{options.checkpoint}/metadata").first()["id"]
    with psycopg.connect(options.database) as db:  # one transaction
        db.execute("INSERT INTO fence VALUES (%s, -1) ON CONFLICT DO NOTHING", [query])
        fences = db.execute("SELECT batch, offsets FROM fence FOR UPDATE").fetchall()
        if len(fences) > 1:
            raise RuntimeError(f"These tables have counts of another checkpoint. Use it, or {ANEW}")
        if fences == [(number, offsets)]:
            return  # it's counted
        if fences[0][0] != number - 1:
            raise RuntimeError(f"The checkpoint or the tables were rolled back: {ANEW}")
        refused = add(db, [row[:3] + row[4:] for row in rows if row.ad is not None])
        lost["that PostgreSQL refuses"] = sum(row[3] for row in refused)
        db.execute("UPDATE fence SET batch = %s, offsets = %s", [number, offsets])


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


def start(spark, options, known):
    for name, limit in LIMITS.items():
        spark._jvm.java.lang.System.setProperty(name, limit)
    spark.conf.set("spark.sql.session.timeZone", "Europe/Oslo")  # where a day begins
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    source = {**for_spark(options.kafka), "subscribe": options.topic}
    # At the first start only: then the checkpoint says where to begin.
    source |= {"startingOffsets": "earliest", "maxOffsetsPerTrigger": 1_000_000}
    records = spark.readStream.format("kafka").options(**source, includeHeaders=True)
    read = {number: text for number, all_ in known.items() if (text := parsed(spark, all_))}
    if [*known][-1:] != [*read][-1:]:
        sys.exit(f"The newest schema of {options.topic}-value isn't Avro.")
    return (
        actions(records.load(), known, read)
        .withWatermark("arrival", options.horizon)
        .dropDuplicatesWithinWatermark(["hash"])
        .writeStream.option("checkpointLocation", options.checkpoint)
        .foreachBatch(lambda batch, number: write(batch, number, options, known))
        .start()
    )


def main():
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--checkpoint"):
        command.add_argument(name, required=True)
    for name, variable in ("--registry", "SCHEMA_REGISTRY_URL"), ("--database", "DATABASE_URL"):
        command.add_argument(name, default=os.environ.get(variable, ""), help=f"or {variable}")
    command.add_argument("--horizon", default="1 hour", help="how long duplicates are recognised")
    command.add_argument("--config", help="Kafka's client settings, as its tools take them")
    options = command.parse_args()
    options.kafka, found = connect(options)
    try:
        known = schemas(options.registry, f"{options.topic}-value")
        with psycopg.connect(options.database, connect_timeout=10) as db:
            db.execute(TABLES)
    except psycopg.Error as error:
        why = re.sub(".*@", "…@", str(error).splitlines()[0])  # before it may be a password
        sys.exit(f"PostgreSQL refuses, see --database: {why}")
    except NONSENSE as error:
        at = re.sub("//.*@", "//", options.registry)
        sys.exit(f"No schemas of {options.topic}-value at {at}: {error!r}")
    for name in {options.topic} - set(found):
        create = f"kafka-topics --bootstrap-server {options.servers} --create --topic {name}"
        sys.exit(f"{options.servers} has no topic {name}. Correct the name, or create it: {create}")
    executors = " ".join(f"-D{name}={limit}" for name, limit in LIMITS.items())
    builder = SparkSession.builder.appName("counts into PostgreSQL")
    spark = builder.config("spark.executor.extraJavaOptions", executors).getOrCreate()
    spark.sparkContext.setLogLevel("WARN")
    spark.streams.addListener(Losses())
    try:
        query = start(spark, options, known)
        print("The query runs; Ctrl-C ends it.", file=sys.stderr)
        query.awaitTermination()
    except (AnalysisException, StreamingQueryException) as error:
        why = re.search(r"^(?:RuntimeError|psycopg\S*): (.+)", str(error), re.MULTILINE)
        ended = why[1] if why else str(error).splitlines()[0]
        sys.exit(BEYOND if "long overflow" in str(error) else ended)


if __name__ == "__main__":
    main()

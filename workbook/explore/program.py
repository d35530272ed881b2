"""Writes a PySpark program for a topic that was explored; it needs nothing of this package."""

import json
import re
from textwrap import fill

from workbook.errors import WorkbookError, plain
from workbook.explore.figures import recommended
from workbook.explore.report import Report, share, span
from workbook.explore.sample import AVRO, JSON
from workbook.explore.sql import AS_JSON, read_by, text_of, time_of
from workbook.stack.jars import locked

HEAD = '''"""Count the records of {topic} by {of}in windows of {span}, on Spark.

    spark-submit --packages {packages} \\
        {file} --servers localhost:9092 --topic {topic} --out counts \\
        --dead-letters {topic}.dead-letters --checkpoint state/counts

It needs Spark 4.0 or newer: name your version in --packages. Create both topics it writes to
first. With --once it reads what is there, and ends.

{promise}

{fields}
"""

import argparse
import json
import sys
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
{imports}
DELAY, WINDOW = "{delay}", "{window}"
YEARS = (-62_135_596_800_000, 253_402_300_799_999)  # 1 to 9999: Spark has no time for each number
'''

BODY = '''

def decoded(records: DataFrame) -> DataFrame:
    """Add `time`, `key` and `reason`: why a record can't be counted, null for a good one."""
{decode}
    time = F.expr({time!r})
    # One record dated 2099 would move the watermark, and all others were too late for ever.
    ahead = time > F.unix_millis("timestamp") + 300_000
    reason = (
        F.when(F.col("value").isNull(), "no value")
        .when(~read, "{unreadable}")
        .when(time.isNull() | ~time.between(*YEARS), "no time that can be read")
        .when(ahead, "more than five minutes ahead of its arrival")
    )
    time = F.when(reason.isNull(), F.timestamp_millis(time))
    return found.withColumns({{"reason": reason, "key": {key}, "time": time}})


def counts(records: DataFrame) -> DataFrame:
    """Count the good records of each key and window; a window is complete once it's closed."""
    good = decoded(records).where("reason IS NULL").withWatermark("time", DELAY)
    counted = good.groupBy(F.window("time", WINDOW), "key").count()
    value = F.to_json(F.struct(F.col("window.start").alias("from"), "key", "count"))
    key = F.concat_ws("/", F.unix_millis("window.start"), "key")
    return counted.select(key.alias("key"), value.alias("value"))


def dead_letters(records: DataFrame) -> DataFrame:
    """Return what can't be counted as it came, with its reason and its place as headers."""
    headers = [
        F.expr(f"struct('{{name}}' AS key, encode(string({{name}}), 'utf-8') AS value)")
        for name in ("reason", "topic", "partition", "offset")
    ]
    raw = records.select("*", F.col("key").alias("raw_key"))
    found = decoded(raw).where("reason IS NOT NULL")
    return found.select(F.col("raw_key").alias("key"), "value", F.array(*headers).alias("headers"))


def start(spark: SparkSession, options: argparse.Namespace, name: str, rows, out: str):
    kafka = {{f"kafka.{{key}}": value for key, value in options.config.items()}}
    kafka["kafka.bootstrap.servers"] = options.servers
    records = (
        spark.readStream.format("kafka")
        .options(**kafka)
        .option("subscribe", options.topic)
        .option("startingOffsets", "earliest")  # at the first start only: then the checkpoint
        .option("maxOffsetsPerTrigger", 1_000_000)  # a backlog is read in parts
        .option("kafka.isolation.level", "read_committed")
        .load()
    )
    writer = (
        rows(records)
        .writeStream.format("kafka")
        .options(**kafka)
        .option("topic", out)
        .option("includeHeaders", "true")
        .option("checkpointLocation", f"{{options.checkpoint}}/{{name}}")
        .outputMode("append")
    )
    return (writer.trigger(availableNow=True) if options.once else writer).start()


def main() -> None:
    command = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--servers", "--topic", "--out", "--dead-letters", "--checkpoint"):
        command.add_argument(name, required=True)
    command.add_argument("--config", type=Path, help="Kafka's settings of Java, as JSON")
    command.add_argument("--once", action="store_true", help="read what is there, and end")
    options = command.parse_args()
    options.config = json.loads(options.config.read_text()) if options.config else {{}}
    spark = SparkSession.builder.appName("counts of {topic}").getOrCreate()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.variant.allowDuplicateKeys", True)  # the last one counts
    spark.conf.set("spark.sql.shuffle.partitions", 4)  # the checkpoint keeps this number
    queries = [
        start(spark, options, "counts", counts, options.out),
        start(spark, options, "dead-letters", dead_letters, options.dead_letters),
    ]
    try:
        while any(query.isActive for query in queries):
            spark.streams.awaitAnyTermination()
            spark.streams.resetTerminated()  # raises what made one fail
    except KeyboardInterrupt:
        sys.exit("Ended.")


if __name__ == "__main__":
    main()
'''

OF_JSON = """    found = records.withColumn("json", F.expr({json!r}))
    read = F.col("json").isNotNull()"""
OF_AVRO = """    number = F.conv(F.hex(F.substring("value", 2, 4)), 16, 10).cast("bigint")
    body, found = F.expr("substring(value, 6)"), records
    for known, schema in SCHEMAS.items():
        avro = from_avro(F.when(number == known, body), schema, {"mode": "PERMISSIVE"})
        found = found.withColumn(f"avro{known}", avro)
    read = F.expr({read!r})"""
OF_TEXT = """    found, read = records, F.lit(True)"""


def program(report: Report, file: str = "my_pipeline.py") -> str:
    """Return a program that counts the topic's records per key and window, with what it promises.

    Its delay is the report's, its dead letters are the records that the report couldn't decode.
    """
    sample, choice = report.sample, report.choice
    told = report.figures.watermarks
    if not told:
        raise WorkbookError(f"No program was written. {report.advice}")
    best = recommended(told, report.loss) or told[-1]
    connectors, imports, decode, unreadable = "sql-kafka", "", OF_TEXT, "-"
    if sample.format == JSON:
        decode, unreadable = OF_JSON.replace("{json!r}", repr(AS_JSON)), "no JSON"
    elif sample.format == AVRO:
        connectors += "|spark-avro"
        known = " OR ".join(read_by(*each) for each in sample.schemas.items())
        decode = OF_AVRO.replace("{read!r}", repr(known))
        unreadable = "no Avro of a schema that is known"
        texts = {number: json.loads(text) for number, text in sample.schemas.items()}
        known = "\n".join(f"    {number}: {json.dumps(text)!r}," for number, text in texts.items())
        imports = f"from pyspark.sql.avro.functions import from_avro\n\nSCHEMAS = {{\n{known}\n}}\n"
    window = f"{report.window_ms} milliseconds"
    of = _told(f"{choice.key.name} and ") if choice.key else "key and "
    jars = (jar.coordinate for jar in locked("spark"))
    packages = ",".join(name for name in jars if re.search(connectors, name))
    head = HEAD.format(
        topic=report.plan.topic, of=of, window=window, span=span(report.window_ms),
        packages=packages, file=file,
        promise=_promise(report, best), fields=_fields(report), imports=imports,
        delay=f"{best['delay_s']} seconds",
    )  # fmt: skip
    at = time_of(sample, choice.time) if choice.time else "unix_millis(timestamp)"
    key = (
        f"F.expr({text_of(sample, choice.key)!r})" if choice.key else 'F.col("key").cast("string")'
    )
    return head + BODY.format(
        topic=report.plan.topic, decode=decode, time=at, key=key, unreadable=unreadable
    )


def _promise(report: Report, best: dict[str, float]) -> str:
    records = report.figures.reasons["records"]
    return "\n".join(
        fill(text, 98)
        for text in (
            "What it promises: every record is counted in one window or is a dead letter with its "
            "reason, but for those that are too late; also after kill -9. A count or a dead letter "
            "may be written twice, so readers keep the last value of each key. Repeated records "
            f"count, too; there were {report.figures.repeats.get('again', 0):,} of them.",
            f"What it loses: records of windows that are closed. Of the {records:,} records that "
            f"were explored, a delay of {span(1000 * best['delay_s'])} loses "
            f"{share(best['live'])} as they arrived, and {share(best['backlog'])} of a backlog "
            "that is read in a hundred micro-batches; in a single one it loses none. The last "
            "windows before the stream becomes quiet are written "
            "once newer records arrive.",
        )
    )


def _fields(report: Report) -> str:
    sample = report.sample
    told = [f"{f.name}: {' or '.join(f.types)}" for f in sample.fields.values()] or ["no fields"]
    return fill(_told(f"In: {sample.format}. Fields, by a sample: {', '.join(told)}."), 98)


def _told(text: str) -> str:
    """Return a text that neither ends a docstring nor is read as an escape."""
    return plain(text).replace("\\", "/").replace('"', "'")

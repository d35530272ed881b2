"""Measures how fast a count is followed to its messages in an archive, and how fast it fills.

    .venv/bin/python benchmarks/diagnosis.py [--actions 5000000] [--runs 5]

A long-lived topic of 8 partitions is archived by `run archive`, in micro-batches of 500,000. Then
the three queries of docs/ad-statistics.md are asked of Spark SQL, for the ad with the most
messages: the first time in a session that has read nothing yet, and --runs times afterwards. No
figure is printed before the archive, and the count that follows from the queries, are right.
"""

import argparse
import os
import re
import secrets
import shutil
import statistics
import time
from pathlib import Path

from harness import ROOT, machine
from pyspark.sql import Row, SparkSession
from rounds import started
from systems.ad_statistics import Expected, filled

from workbook.spark import session
from workbook.stack.addresses import kafka, registry
from workbook.stack.client import scratch_dir
from workbook.streams.events.ad_actions import Fate
from workbook.streams.generators.ad_actions import AdActionStream, prepare

PAGE = ROOT / "docs" / "ad-statistics.md"
SUBJECT = "bench.archive"
COUNT = ["ad-00001", "2026-01-01", "message"]
"""The count that the page's queries are about."""


def archived(actions: int, folder: Path) -> Expected:
    """Archive generated actions; print the rate once the folder has them all, as is returned."""
    broker = kafka("bench")
    stream = AdActionStream(ids=prepare(SUBJECT, registry("bench"))["ids"])
    topic, right = filled(broker, stream, actions)
    words = f"archive --in {topic.name} --subject {SUBJECT}-value --folder {folder} "
    spark = session.spark_session("archive", quiet=True)
    began = time.monotonic()
    with started(spark, broker, f"{words} --every 0.1 --max-per-batch 500000") as (archive, *_):
        archive.running.process_all()
        took = time.monotonic() - began
    rows = spark.read.parquet(str(folder))
    found = rows.select("partition", "offset").distinct().count(), rows.count()
    rejected = rows.where("reason IS NOT NULL").count()
    assert (*found, rejected) == (actions, actions, right.fates[Fate.REJECTED]), (found, rejected)
    print(f"archived: {actions / took:,.0f} messages/s in a fresh session, all are there once")
    session.stop_spark(spark)
    return right


def asked(spark: SparkSession, query: str) -> tuple[float, list[Row]]:
    """Return the seconds until Python has all rows, and these."""
    began = time.monotonic()
    rows = spark.sql(query).collect()
    return time.monotonic() - began, rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--actions", type=int, default=5_000_000)
    parser.add_argument("--runs", type=int, default=5)
    options, load = parser.parse_args(), os.getloadavg()[0]
    folder = scratch_dir() / f"archive-{secrets.token_hex(3)}"
    right = archived(options.actions, folder)
    spark = session.spark_session("queries", quiet=True)
    began = time.monotonic()
    spark.read.parquet(str(folder)).createOrReplaceTempView("messages")
    print(f"the folder is opened in {time.monotonic() - began:.2f} s")
    queries = re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)
    firsts = [asked(spark, query) for query in queries]
    messages, repeats = firsts[0][1], firsts[1][1]
    counted = len(messages) - sum(len(row.offsets) - len(row.counted_at) for row in repeats)
    right_count = sum(n for (*key, _), n in right.counts.items() if [*map(str, key)] == COUNT)
    assert counted == right_count
    for number, (first, rows) in enumerate(firsts, 1):
        p50 = statistics.median(asked(spark, queries[number - 1])[0] for _ in range(options.runs))
        print(f"query {number}: {len(rows):,} rows, first {first:.2f} s, warm p50 {p50:.2f} s")
    session.stop_spark(spark)
    shutil.rmtree(folder)
    print(machine(load))


if __name__ == "__main__":
    main()

"""Chapter 05's exercises: what their declarations don't prove."""

import os

from pyspark.sql import functions as F  # noqa: N812

from workbook.lessons.many_partitions.slowest_clock import completed, pages

STUCK = (1, 99_000), (0, 100_100), (0, 160_000)
CAUGHT_UP = (1, 100_200), (1, 100_300), (1, 160_100)


def test_the_loop_counts_what_a_slow_partition_brings():
    assert list(completed(pages(*STUCK), 2)) == []
    views = dict(completed(pages(*STUCK, *CAUGHT_UP), 2))
    assert views == {99: 1, 100: 3}


def test_spark_drops_what_a_slow_partition_brings(spark, tmp_path):
    files = tmp_path / "clicks"
    files.mkdir()
    for batch, arrivals in enumerate([STUCK, [(0, 160_500)], CAUGHT_UP, [(0, 175_000)]]):
        file = files / f"{batch}.json"
        file.write_text("\n".join(f'{{"timestamp": {at}}}' for _, at in arrivals))
        os.utime(file, (batch, batch))  # Spark reads the oldest file first
    stream = spark.readStream.schema("timestamp BIGINT").option("maxFilesPerTrigger", 1)
    clicks = stream.json(str(files)).select(F.timestamp_millis("timestamp").alias("time"))
    windows = clicks.withWatermark("time", "10 seconds").groupBy(F.window("time", "1 second"))
    counted = windows.count().select(F.unix_seconds("window.start").alias("second"), "count")
    shown = []

    def keep(frame, batch):
        shown.extend(tuple(row) for row in frame.collect())

    query = counted.writeStream.trigger(availableNow=True).foreachBatch(keep)
    running = query.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    assert running.awaitTermination(60)
    assert sorted(shown) == [(99, 1), (100, 1), (160, 3)]

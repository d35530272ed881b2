"""Chapter 02's exercises: what isn't proven by its answers in ``proofs/views_per_second``."""

from __future__ import annotations

import os

from pyspark.sql import functions as F  # noqa: N812

from workbook.exercises.chapters.views_per_second.by_rule import _pages, completed
from workbook.exercises.chapters.views_per_second.per_second_on_spark import views_per_second


def test_the_reference_gives_bigints(spark):
    clicks = spark.createDataFrame([(1, "Page", 10_999, None)], chapter_schema())
    assert dict(views_per_second(clicks).dtypes) == {"second": "bigint", "views": "bigint"}


def chapter_schema():
    return "event_id BIGINT, click_type STRING, timestamp BIGINT, reason STRING"


def test_the_quiet_minute_is_as_predicted():
    before = _pages(10_100, 10_200, 10_300)
    assert completed(before) == []
    assert completed([*before, *_pages(70_300)]) == [(10, 3)]


def test_the_two_modes_are_as_predicted(spark, tmp_path):
    update, append = (first_shown(spark, tmp_path, mode) for mode in ("update", "append"))
    assert update == [(0, 2), (1, 3)]  # at once, and corrected
    assert append == [(3, 3)]  # once, when the watermark has passed


def first_shown(spark, folder, mode):
    """In which micro-batches second 10 is shown, and with how many views."""
    shown = []
    files = folder / mode
    files.mkdir()
    for batch, times in enumerate([(10_100, 10_200), (10_900, 12_000), (21_500,), (23_000,)]):
        rows = "\n".join(f'{{"timestamp": {at}}}' for at in times)
        file = files / f"{batch}.json"
        file.write_text(rows)
        os.utime(file, (batch, batch))  # Spark reads the oldest file first
    stream = (
        spark.readStream.schema("timestamp BIGINT")
        .option("maxFilesPerTrigger", 1)
        .json(str(files))
        .withColumn("time", F.timestamp_millis("timestamp"))
        .withWatermark("time", "10 seconds")
    )
    counted = stream.groupBy(F.window("time", "1 second")).count()

    def keep(frame, batch):
        at_10 = frame.where(F.unix_seconds("window.start") == 10).collect()
        shown.extend((batch, row["count"]) for row in at_10)

    query = counted.writeStream.outputMode(mode).trigger(availableNow=True).foreachBatch(keep)
    running = query.option("checkpointLocation", str(folder / f"{mode}-checkpoint")).start()
    assert running.awaitTermination(60)
    return shown

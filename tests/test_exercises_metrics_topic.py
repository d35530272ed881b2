"""Chapter 03's exercises: what isn't proven by its answers in ``proofs/metrics_topic``."""

from __future__ import annotations

from proofs.metrics_topic.metrics_by_hand import seconds

from workbook.exercises.chapters.metrics_topic.metrics_by_hand import _pages, metrics
from workbook.exercises.chapters.metrics_topic.metrics_on_spark import as_metrics


def test_the_reference_gives_text(spark):
    counts = spark.createDataFrame([(10, 2)], "second BIGINT, views BIGINT")
    assert as_metrics(counts).dtypes == [("key", "string"), ("value", "string")]


def test_both_references_give_the_same_metrics(spark):
    clicks = _pages(100, 200, 1_000, 4_000)
    counts = spark.createDataFrame(seconds(clicks)[:-1], "second BIGINT, views BIGINT")
    rows = as_metrics(counts).collect()
    by_hand = list(metrics(clicks))
    assert [(row.key.encode(), row.value.encode()) for row in rows] == by_hand

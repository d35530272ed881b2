"""Chapter 02's exercises: what isn't proven by its answers in ``proofs/views_per_second``."""

from __future__ import annotations

from workbook.lessons.views_per_second.by_rule import _pages, completed
from workbook.lessons.views_per_second.per_second_on_spark import (
    per_second_on_spark,
    views_per_second,
)


def test_the_reference_gives_bigints(spark):
    clicks = spark.createDataFrame([("Page", 10_999)], "click_type STRING, timestamp BIGINT")
    assert dict(views_per_second(clicks).dtypes) == {"second": "bigint", "views": "bigint"}


def test_a_silence_completes_nothing():
    before = _pages(10_100, 10_200, 10_300)
    assert list(completed(before)) == []
    assert list(completed([*before, *_pages(70_300)])) == [(10, 3)]


def test_the_solution_imports_what_it_needs():
    assert "import functions as F" in str(per_second_on_spark.solution())

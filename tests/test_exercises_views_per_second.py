"""Chapter 02's exercises: what their declarations don't prove."""

from workbook.lessons.views_per_second.per_second_on_spark import (
    per_second_on_spark,
    views_per_second,
)


def test_the_reference_gives_bigints(spark):
    clicks = spark.createDataFrame([("Page", 10_999)], "click_type STRING, timestamp BIGINT")
    assert dict(views_per_second(clicks).dtypes) == {"second": "bigint", "views": "bigint"}


def test_the_solution_imports_what_it_needs():
    assert "import functions as F" in str(per_second_on_spark.solution())

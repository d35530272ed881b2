"""Chapter 02's exercises: what their declarations don't prove."""

from collections import Counter

import pytest

from workbook.lessons.views_per_second import problems
from workbook.lessons.views_per_second.by_rule import is_page, rule, second_of
from workbook.lessons.views_per_second.per_second_on_spark import (
    per_second_on_spark,
    views_per_second,
)


def counts_all(clicks):
    pages = (c["timestamp"] // 1000 for c in clicks if c["click_type"] == "Page")
    return list(Counter(pages).items())


def without_a_guard(clicks):
    counts = {}
    for click in filter(is_page, clicks):
        second = second_of(click)
        if counts and second not in counts:
            yield counts.popitem()
        counts[second] = counts.get(second, 0) + 1
    yield counts.popitem()


@pytest.mark.parametrize("answer", [rule(last=True), counts_all, without_a_guard])
@pytest.mark.parametrize("form", [lambda pairs: pairs, list])
def test_an_answer_that_emits_the_last_second_hears_so(answer, form):
    cause = problems[0].check(lambda clicks: form(answer(clicks))).part("Likely cause")
    assert cause.startswith("It emits the last second, too")


def test_the_reference_gives_bigints(spark):
    clicks = spark.createDataFrame([("Page", 10_999)], "click_type STRING, timestamp BIGINT")
    assert dict(views_per_second(clicks).dtypes) == {"second": "bigint", "views": "bigint"}


def test_the_solution_imports_what_it_needs():
    assert "import functions as F" in str(per_second_on_spark.solution())

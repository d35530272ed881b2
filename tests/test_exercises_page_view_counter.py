"""Chapter 01's exercises: what isn't proven by its answers in ``proofs/page_view_counter``."""

from __future__ import annotations

from proofs.page_view_counter.on_spark import count_by, only_pages

from workbook.lessons import page_view_counter as chapter


def test_spark_difference_is_shown_as_a_table(spark):
    card = chapter.on_spark.check(lambda c: count_by(c, "name"), spark=spark)
    assert "only in yours | /shoes" in repr(card)
    assert "<td>only in yours</td><td>/shoes</td>" in card._repr_html_()


def test_spark_check_without_a_session_says_how():
    assert "spark=spark" in repr(chapter.on_spark.check(only_pages))

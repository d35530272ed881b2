"""Chapter 01's exercise on Spark: what its card shows, and what it says without a session."""

from workbook.lessons.page_view_counter.on_spark import counted, on_spark


def test_spark_difference_is_shown_as_a_table(spark):
    card = on_spark.check(counted("true"), spark=spark)
    assert "only in yours | /shoes" in repr(card)
    assert "<td>only in yours</td><td>/shoes</td>" in card._repr_html_()


def test_spark_check_without_a_session_says_how():
    assert "spark=spark" in repr(on_spark.check(counted()))

"""Counts the views of each page; ``completed`` and ``metrics`` count those of each second."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from workbook.streams.events.clicks import ClickType

VERSION = 2
"""Of what its checkpoints hold and count; tests/test_versions.py says when to raise it."""


def page_views(parsed: DataFrame) -> DataFrame:
    """Count views per page name so far: ``name`` (string), ``views`` (bigint).

    A running aggregate over everything that arrived: it needs no watermark, because it is never
    finished, and an event dated in the far future has been rejected before it gets here.
    """
    seen = parsed.where(F.col("reason").isNull() & (F.col("click_type") == ClickType.PAGE.value))
    return seen.groupBy("name").agg(F.count("*").alias("views"))

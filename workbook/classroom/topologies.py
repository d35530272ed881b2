"""Draws the topology of a notebook's query from Spark's plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbook.views.picture import Picture
from workbook.views.topology import topology_picture

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming import StreamingQuery


def drawn(query: StreamingQuery | DataFrame) -> Picture:
    """Draw a streaming query, or a streaming DataFrame before it's started; raise NoTopology."""
    from workbook.spark.topology import topology

    return topology_picture(topology(query))

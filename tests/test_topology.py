"""A query's topology from what Spark prints of its plan: what rows pass, and what is remembered."""

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.errors import NoTopology
from workbook.spark.topology import topology
from workbook.views import pipeline


def test_each_source_has_a_path_to_the_join_with_its_shuffles_and_state(spark, tmp_path) -> None:
    one, other = (
        spark.readStream.format("rate").option("rowsPerSecond", 50).load() for _ in range(2)
    )
    left = one.withWatermark("timestamp", "4 seconds")
    right = other.selectExpr("value AS id", "timestamp AS then").dropDuplicates(["id"])
    writer = left.join(right, F.expr("value = id")).writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    try:
        while not query.lastProgress or not query.lastProgress["numInputRows"]:
            query.processAllAvailable()
        first, second = topology(query)
    finally:
        query.stop()
    assert [part.name for part in first] == [
        "RateStreamV2", "watermark", "shuffle", "join", "noop",
    ]  # fmt: skip
    assert first[1].detail == "timestamp - 4 seconds"
    assert first[2].detail == "by value, into 2 partitions"
    assert [part.name for part in second[1:4]] == ["shuffle", "dropDuplicates", second[3].name]
    assert second[-1] is first[3]
    assert " rows, " in first[3].state
    drawn = pipeline.topology([first, second])
    assert drawn.words.startswith("RateStreamV2 → watermark → shuffle → join → noop; RateStreamV2")
    assert [row["state"] for row in drawn.rows if row["part"] == "join"] == [first[3].state]


@pytest.mark.parametrize("thing", ["a batch", 7])
def test_what_is_no_query_is_refused_with_what_to_pass(spark: SparkSession, thing: object) -> None:
    thing = spark.range(3) if thing == "a batch" else thing
    with pytest.raises(NoTopology, match=r"Expected a streaming query, but got.*Pass what"):
        topology(thing)  # type: ignore[arg-type]

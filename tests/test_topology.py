"""A query's topology from Spark's own plan: what rows pass, what is remembered, and how much."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from workbook.classroom import topologies
from workbook.errors import NoTopology
from workbook.kafka.broker import Broker
from workbook.pipelines.share_holders import us_share_holders
from workbook.sources.kafka import clamped_stream, kafka_stream
from workbook.sources.positions import parse
from workbook.spark.graph import OPERATOR, SHUFFLE, SINK, SOURCE, STORE, Topology
from workbook.spark.runner import Batch, Sink, start_query
from workbook.spark.topology import topology
from workbook.topics import Topic


class Nowhere(Sink):
    """A sink that takes all."""

    kind = "nowhere"

    def write(self, rows: pa.Table, batch: Batch) -> None:
        """Take the rows."""


def flow(graph: Topology) -> list[str]:
    """The names of all but the stores, in the order of the rows."""
    return [node.name for node in graph.nodes if node.kind != STORE]


def into(graph: Topology, name: str) -> list[str]:
    """What leads to the node of a name directly."""
    [node] = [node for node in graph.nodes if node.name == name]
    return [before.name for before in graph.before(node)]


@pytest.fixture
def rate(spark: SparkSession) -> DataFrame:
    rows = spark.readStream.format("rate").option("rowsPerSecond", 5).load()
    return rows.withColumn("k", F.col("value") % 3)


def test_a_windowed_count_has_a_shuffle_before_its_state(rate: DataFrame) -> None:
    windows = F.window("timestamp", "10 seconds")
    counts = rate.where("value > 3").withWatermark("timestamp", "4 seconds")
    graph = topology(counts.groupBy(windows, "k").count())
    assert flow(graph) == [
        "rate", "filter and project", "watermark", "project", "partial aggregate", "shuffle",
        "aggregate",
    ]  # fmt: skip
    assert graph.nodes[0].detail == "5 rows/s"
    assert graph.nodes[1].detail == "value > 3L; k"
    assert graph.nodes[2].detail == "timestamp - 4 seconds"
    [shuffle], [store] = graph.of_kind(SHUFFLE), graph.of_kind(STORE)
    assert shuffle.keys == store.keys == ("window", "k")
    assert shuffle.partitions == store.partitions == 2
    assert into(graph, "state 0") == ["aggregate"]
    assert (graph.checkpoint, store.rows, store.size) == (None, None, None)


def test_duplicates_are_known_by_a_state_of_their_keys(rate: DataFrame) -> None:
    graph = topology(rate.dropDuplicates(["k"]))
    assert flow(graph)[-2:] == ["shuffle", "dropDuplicates"]
    late = rate.withWatermark("timestamp", "1 second").dropDuplicatesWithinWatermark(["k"])
    assert flow(topology(late))[-1] == "dropDuplicatesWithinWatermark"


def test_both_sides_of_a_join_are_shuffled_into_one_state(rate: DataFrame) -> None:
    left = rate.withWatermark("timestamp", "1 second")
    right = left.selectExpr("k AS j", "timestamp AS then")
    graph = topology(left.join(right, F.expr("k = j AND timestamp = then")))
    assert into(graph, "join") == ["shuffle", "shuffle"]
    [join] = [node for node in graph.of_kind(OPERATOR) if node.name == "join"]
    assert join.detail.startswith("inner, k = j")
    assert [len(graph.of_kind(kind)) for kind in (SOURCE, SHUFFLE, STORE)] == [2, 2, 1]


def test_a_union_keeps_its_rows_where_they_are(rate: DataFrame) -> None:
    def double(batches: Any) -> Any:
        yield from batches

    both = rate.where("k = 0").union(rate.where("k = 1"))
    graph = topology(both.mapInArrow(double, both.schema))
    assert into(graph, "union") == ["filter and project", "filter and project"]
    assert graph.nodes[-1].detail == "double"
    assert not graph.of_kind(SHUFFLE)


def test_choosing_columns_is_no_step(rate: DataFrame) -> None:
    assert flow(topology(rate.select("value"))) == ["rate"]
    assert flow(topology(rate.select("k").where("k IS NOT NULL"))) == ["rate", "project"]


def test_a_query_of_files_has_its_sink_and_what_its_state_holds(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"a": 1}\n{"a": 2}\n{"a": 2}\n')
    rows = spark.readStream.schema("a INT").json(str(tmp_path / "in"))
    place = str(tmp_path / "checkpoint")
    writer = rows.groupBy("a").count().writeStream.outputMode("update")
    query = writer.format("noop").option("checkpointLocation", place).start()
    try:
        query.processAllAvailable()
        graph = topology(query)
    finally:
        query.stop()
    assert [(n.name, n.detail) for n in graph.of_kind(SOURCE)] == [("in", "json")]
    assert [node.name for node in graph.of_kind(SINK)] == ["noop"]
    [store] = graph.of_kind(STORE)
    assert (store.rows, store.detail, graph.checkpoint) == (2, "in memory", Path(place))
    held = (path for path in Path(place, "state", "0").rglob("*") if path.is_file())
    assert store.size == sum(path.stat().st_size for path in held)
    assert [node.rows for node in graph.of_kind(SHUFFLE)] == [2]  # counted before the shuffle


def test_a_source_without_news_stays_in_the_picture(spark: SparkSession, tmp_path: Path) -> None:
    folders = [tmp_path / "left", tmp_path / "right"]
    for folder in folders:
        folder.mkdir()
        (folder / "1.json").write_text('{"a": 1}\n')
    left, right = (spark.readStream.schema("a INT").json(str(folder)) for folder in folders)
    writer = left.union(right).writeStream.format("noop")
    query = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).start()
    try:
        query.processAllAvailable()
        (folders[0] / "2.json").write_text('{"a": 2}\n')
        query.processAllAvailable()
        assert [source.name for source in topology(query).of_kind(SOURCE)] == ["left", "right"]
    finally:
        query.stop()


def test_a_query_can_be_drawn_before_its_first_micro_batch(rate: DataFrame, tmp_path: Path) -> None:
    writer = rate.groupBy("k").count().writeStream.outputMode("complete").format("memory")
    writer = writer.queryName("drawn_early").trigger(processingTime="1 hour")
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    try:
        graph = topology(query)
    finally:
        query.stop()
    assert flow(graph) == ["rate", "project", "partial aggregate", "shuffle", "aggregate", "memory"]


def test_a_table_from_kafka_has_two_states_and_as_many_partitions_as_its_topic(
    spark: SparkSession, broker: Broker, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    positions = topic("positions", partitions=3)
    producer = Producer(broker.client_config())
    share = {"client": "Al", "ticker": "IBM", "amount": 1, "exchange": "NYSE"}
    for number in range(9):
        producer.produce(positions.name, key=f"p{number}", value=json.dumps(share).encode())
    producer.flush()
    changes = us_share_holders(parse(kafka_stream(spark, broker, positions.name)))
    with start_query(changes, [Nowhere()], tmp_path) as running:
        running.process_all()
        graph = topology(running.query)
        picture = topologies.drawn(running.query)
    [source] = graph.of_kind(SOURCE)
    assert (source.name, source.detail, source.partitions) == (positions.name, "kafka", 3)
    assert [node.detail for node in graph.of_kind(STORE)] == ["RocksDB", "RocksDB"]
    assert [node.state for node in graph.of_kind(STORE)] == [1, 0]
    assert all(node.rows and node.size for node in graph.of_kind(STORE))
    assert flow(graph)[-6:] == [
        "shuffle", "transformWithState", "shuffle", "transformWithState", "mapInArrow",
        "foreachBatch",
    ]  # fmt: skip
    assert 5 <= len(flow(graph)) <= 12
    assert f"{positions.name} → " in picture.words


def test_topics_are_named_whatever_source_reads_them(
    spark: SparkSession, broker: Broker, topic: Callable[..., Topic]
) -> None:
    one, other = topic("tracking"), topic("orders")
    both = [one.name, other.name]
    for rows in (kafka_stream(spark, broker, both, partitions=[0]),
                 clamped_stream(spark, broker, both, "5 seconds")):  # fmt: skip
        [source] = topology(rows).of_kind(SOURCE)
        assert sorted(source.name.split(", ")) == sorted(both)
    assert source.detail == "kafka-clamped"


def test_the_topic_of_a_kafka_sink_is_named(
    spark: SparkSession, broker: Broker, topic: Callable[..., Topic], tmp_path: Path
) -> None:
    source, sink = topic("clicks"), topic("copies")
    rows = kafka_stream(spark, broker, source.name).select("key", "value")
    writer = rows.writeStream.format("kafka").options(**broker.spark_options())
    query = writer.option("topic", sink.name).option("checkpointLocation", str(tmp_path)).start()
    try:
        [end] = topology(query).of_kind(SINK)
    finally:
        query.stop()
    assert (end.name, end.detail) == (sink.name, "kafka")


@pytest.mark.parametrize("thing", ["a batch", 7, None])
def test_what_is_no_stream_is_refused_with_what_to_pass(spark: SparkSession, thing: object) -> None:
    thing = spark.range(3) if thing == "a batch" else thing
    with pytest.raises(NoTopology, match=r"Expected a streaming query.*but got.*Pass what"):
        topology(thing)  # type: ignore[arg-type]
